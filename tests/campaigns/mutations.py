"""Small mistakes made in the code, one at a time: do the tests notice?

Each is of a kind that happens in a refactoring: another operator, a limit off by one, a keyword that is dropped, two
arguments swapped, the wrong part of the data, a seed that does not arrive, a condition turned around. Those in
mistakes.toml are written out, each with its kind; the others are drawn. Each is made in a copy of src, and the tests of
its file run against the copy, the laws with them. The default is a draw of twelve; ``--long`` makes all that are
written out and 200 drawn ones. A test that fails without the mistake too has noticed nothing.

    python tests/campaigns/mutations.py [--long] [--record] [--keep FILE] [--minutes 5] [--first KIND ...]
"""

import argparse
import ast
import os
import re
import shutil
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns.forked import first_failure, load_libraries
from campaigns.ledger import Outcome, record
from campaigns.reached import reaching

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
WRITTEN = Path(__file__).with_name("mistakes.toml")
N_SHORT, N_LONG = 12, 200
NOBODY = "nobody"  # noticed it
SECONDS = 600  # that the tests of one mistake may take on a busy machine
PARTS = {"train": "valid", "valid": "test", "test": "valid", "data": "valid", "held_out": "data"}
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
TESTS: dict[str, str] = {
    "": "test_given test_doors test_threads test_posteriors test_progress test_interrupts rankers/test_base",
    "backends": "experiment/test_run laws/test_which_data backends",
    "boosting/bins_from_disk": "rankers/test_bins_from_disk",
    "boosting/divided": "test_divided",
    "boosting/model_text": "imports export rankers/test_trees",
    "boosting": "goldens rankers/test_trees rankers/test_boosting laws/test_formulas laws/test_which_data "
    "laws/test_parameters test_doors",
    "callers.py": "test_given rankers/test_base",
    "cli": "cli laws/test_options laws/test_which_data test_surface",
    "cli/bench": "laws/test_options:bench+search+reproduce cli",
    "cli/data": "laws/test_options:synth+convert+inspect+doctor+reading cli data/test_runs",
    "cli/evaluate": "laws/test_options:rank+evaluate+explain+reading cli",
    "cli/export": "laws/test_options:export+import+distill cli export imports test_distill",
    "cli/report": "laws/test_options:compare+report cli",
    "cli/serve": "laws/test_options:serve serve/test_process cli",
    "cli/shards": "laws/test_options:shards test_sharded data/test_shards cli",
    "cli/studio": "laws/test_options:studio studio/test_pages cli",
    "cli/train": "laws/test_which_data:train laws/test_options:train cli",
    "data/filling": "rankers/test_missing test_divided data/test_scaling rankers/test_base",
    "data": "laws/test_rows data laws/test_seeds rankers/test_base rankers/test_categories test_given",
    "distilling": "test_distill",
    "division": "test_divided",
    "ensemble": "rankers/test_auto_choices rankers/test_auto_told rankers/test_auto "
    "laws/test_which_data:ensemble+step laws/test_rows",
    "evolve/divided": "test_divided",
    "evolve": "goldens evolve rankers/test_evolved laws/test_seeds laws/test_formulas laws/test_which_data "
    "laws/test_parameters",
    "experiment": "experiment laws/test_which_data laws/test_seeds cli",
    "experiment/compare": "experiment/test_significance laws/test_options:compare experiment/test_report",
    "experiment/report": "laws/test_sayings laws/test_boards experiment/test_plots experiment/test_board_trials "
    "experiment/test_report experiment/test_sums experiment/test_page experiment/test_figures studio/test_pages "
    "laws/test_addresses",
    "experiment/store": "experiment/test_trial_store experiment/test_sums experiment/test_kept experiment/test_report "
    "experiment/test_run studio/test_pages",
    "experiment/papers": "laws/test_protocols experiment cli/test_reproduce docs/test_reproductions",
    "explain": "explain laws/test_seeds studio/test_pages",
    "export": "export docs/test_export_pages",
    "forms.py": "imports test_model_file rankers",
    "imports": "imports export",
    "judge.py": "rankers/test_base networks/test_choosing laws/test_which_data laws/test_parameters",
    "layers.py": "goldens laws/test_formulas rankers/test_networks networks",
    "linear.py": "rankers/test_base rankers/test_evolved explain/test_importance",
    "losses": "losses laws/test_formulas reference",
    "metrics": "metrics reference",
    "metrics/rank_kernels": "evolve/test_fitness metrics",
    "model_file": "test_model_file test_hostile_models goldens",
    "networks/divided": "test_divided",
    "networks/torch_ranker": "networks/test_torch_ranker",
    "networks/torch_module": "networks/test_torch_ranker",
    "networks": "goldens laws/test_formulas networks laws/test_which_data laws/test_parameters rankers/test_networks "
    "rankers/test_comparators",
    "order": "order laws/test_seeds rankers/test_combined",
    "ordinal.py": "test_ordinal laws/test_seeds",
    "pages": "pages experiment/test_page experiment/test_report studio/test_pages",
    "parameters.py": "rankers/test_signatures rankers/test_base cli/test_models laws/test_options",
    "pipelines.py": "explain/test_why_pipelines test_distill test_model_file rankers/test_base",
    "preparing.py": "test_given rankers/test_base rankers/test_contract rankers/test_weights laws/test_which_data",
    "processors.py": "test_threads",
    "ranker.py": "rankers/test_base rankers/test_contract test_given rankers/test_weights laws/test_which_data",
    "rankers": "rankers laws/test_which_data laws/test_parameters",
    "rankers/auto": "rankers/test_auto_choices rankers/test_auto_told rankers/test_auto laws/test_parameters:auto",
    "rankers/fusion": "order/test_run_fusion rankers/test_combined laws/test_parameters goldens",
    "rankers/imported": "imports",
    "rankers/peers": "rankers/test_peers",
    "rankers/portfolio": "rankers/test_auto_choices rankers/test_auto",
    "reduction.py": "test_divided networks evolve",
    "recurring.py": "rankers/test_signatures test_surface laws/test_parameters",
    "serve": "serve",
    "serve/page": "pages/test_scripts serve/test_service",
    "sharded.py": "test_sharded data/test_shards cli",
    "streams.py": "laws/test_seeds rankers/test_base goldens",
    "studio": "laws/test_addresses studio/test_told studio/test_picked studio/test_found studio/test_queries "
    "studio/test_pages studio/test_drawings studio/test_states studio/test_same_names "
    "studio/test_browser",
    "svm/divided": "rankers/test_ranksvm test_divided",
    "svm": "goldens rankers/test_ranksvm laws/test_which_data laws/test_parameters",
    "threads.py": "test_threads rankers/test_contract",
    "testing.py": "rankers/test_check_ranker rankers/test_contract laws/test_seeds",
    "web": "web serve/test_service studio/test_pages",
}
"""By path in the package, the longest that fits: the tests that ought to notice, the likeliest first.

Words after a colon choose among the tests of a file, as pytest's -k does.
"""
ALWAYS = "laws/test_passed_on laws/test_arguments"
"""Laws over the text of every file."""
BY_RANKER = "goldens/test_goldens laws/test_formulas laws/test_which_data laws/test_parameters"
"""Tests whose names say which ranker they are about."""


@dataclass(frozen=True)
class Mistake:
    """Text that takes the place of other text in a file."""

    path: Path
    line: int
    kind: str
    start: int
    stop: int
    text: str
    tests: tuple[str, ...] = ()
    """To run before all others."""

    def apply(self, source: str) -> str:
        """The source with the mistake in it."""
        return source[: self.start] + self.text + source[self.stop :]

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}, {self.kind}: {' '.join(self.text.split())!r}"


def mistakes_in(path: Path, source: str) -> Iterator[Mistake]:
    """All mistakes that can be made in a file."""
    starts = np.cumsum([0, *(len(line.encode()) for line in source.splitlines(keepends=True))])
    raw = source.encode()

    def place(line: int, column: int) -> int:
        return len(raw[: starts[line - 1] + column].decode())

    def between(a: ast.expr, b: ast.expr, kind: str, text: str) -> Mistake:
        start, stop = place(a.end_lineno, a.end_col_offset), place(b.lineno, b.col_offset)
        return Mistake(path, a.lineno, kind, start, stop, f" {text} ")

    def whole(node: ast.AST, kind: str, text: str) -> Mistake:
        start, stop = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        return Mistake(path, node.lineno, kind, start, stop, text)

    def text_of(node: ast.AST) -> str:
        return source[place(node.lineno, node.col_offset) : place(node.end_lineno, node.end_col_offset)]

    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[one], comparators=[right]) if type(one) in COMPARED:
                yield between(left, right, "comparison", COMPARED[type(one)])
            case ast.BinOp(left=left, op=one, right=right) if type(one) in COMPUTED:
                yield between(left, right, "arithmetic", COMPUTED[type(one)])
            case ast.Subscript(slice=ast.Constant(value=int(n))):
                yield whole(node.slice, "off by one", str(n + 1))
            case ast.Call(args=[first, second, *_]) if not isinstance(second, ast.Starred):
                swapped = f"{text_of(second)}, {text_of(first)}"
                start, stop = place(first.lineno, first.col_offset), place(second.end_lineno, second.end_col_offset)
                yield Mistake(path, first.lineno, "swapped arguments", start, stop, swapped)
            case ast.If(test=test) | ast.IfExp(test=test):
                yield whole(test, "turned condition", f"not ({text_of(test)})")
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                before = source[: place(keyword.lineno, keyword.col_offset)].rstrip()
                if keyword.arg is not None and before.endswith(","):
                    stop = place(keyword.end_lineno, keyword.end_col_offset)
                    yield Mistake(path, keyword.lineno, "dropped keyword", len(before) - 1, stop, "")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in PARTS:
            yield whole(node, "wrong part", PARTS[node.id])
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        if is_read and "seed" in (getattr(node, "id", ""), getattr(node, "attr", "")):
            yield whole(node, "lost seed", "0")


def written(page: Path = WRITTEN) -> tuple[list[Mistake], list[str]]:
    """The mistakes that are written out, and those whose place in the code is no longer there."""
    found, stale = [], []
    for file, table in tomllib.loads(page.read_text(encoding="utf-8")).items():
        path = SOURCE / "ordino" / file
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        for kind, before, after, *tests in table["mistakes"]:
            start = source.find(before)
            if start < 0:
                stale.append(f"{file}: {before!r}")
                continue
            line, stop = source.count("\n", 0, start) + 1, start + len(before)
            found.append(Mistake(path, line, kind, start, stop, after, tuple(" ".join(tests).split())))
    return found, stale


def folder_of(path: Path) -> str:
    """The part of the source that a file belongs to."""
    parts = path.relative_to(SOURCE / "ordino").parts
    return "papers" if "papers" in parts else parts[0] if len(parts) > 1 else "top"


def tests_of(mistake: Mistake, copy: Path) -> list[str | tuple[str, ...]]:
    """The tests that ought to notice a mistake, the quickest first; its doctests are those of the copy.

    Where it was measured which tests reach its line, these take the place of those of its folder.
    """
    inside = mistake.path.relative_to(SOURCE / "ordino").as_posix()
    place = max((one for one in TESTS if re.match(rf"{re.escape(one)}($|/|\.py$)", inside) or not one), key=len)
    table = (SOURCE / "ordino" / "rankers" / "__init__.py").read_text(encoding="utf-8")
    about = (
        re.findall(rf'"([\w-]+)",\s+"\w+",\s+"{mistake.path.stem}",', table)
        if folder_of(mistake.path) == "rankers"
        else []
    )
    own = [f"{name}:{'+'.join(about)}" for name in BY_RANKER.split()] if about else []
    doctests = [str(copy / mistake.path.relative_to(SOURCE))] if mistake.path.suffix == ".py" else []
    further = map(_words, dict.fromkeys([*own, *TESTS[place].split()]))
    first = map(_words, [*mistake.tests, *ALWAYS.split()])
    likely = list(further)
    measured = _in_turn_of_files(reaching(mistake.path, mistake.line), likely)
    return list(dict.fromkeys([*first, *doctests, *(measured or likely)]))


def _in_turn_of_files(seconds: Mapping[str, float], likely: Sequence[str]) -> list[tuple[str, ...]]:
    """Tests file by file, as many as there is time for: of files that are likely to notice, then the quickest."""
    first = tuple(word.partition(" ")[0] for word in likely)
    chosen: dict[str, list[str]] = {}
    total = 0.0
    own = [name for name in seconds if not name.startswith("src/")]  # doctests are those of the copy
    for name in sorted(own, key=lambda name: (not name.startswith(first), seconds[name])):
        total += seconds[name]
        if total > SECONDS / 2:
            break
        chosen.setdefault(name.partition("::")[0], []).append(name)
    return [tuple(names) for names in chosen.values()]


def _words(name: str) -> str:
    """Words for pytest: a file or a folder, and what chooses among its tests."""
    path, _, chosen = name.partition(":")
    found = f"tests/{path}.py" if "test_" in path.rpartition("/")[2] else f"tests/{path}"
    return f"{found} -k {chosen.replace('+', ' or ')}" if chosen else found


@cache
def possible() -> dict[tuple[str, str], list[Mistake]]:
    """All mistakes that can be drawn, by folder and kind."""
    found: dict[tuple[str, str], list[Mistake]] = {}
    for path in sorted((SOURCE / "ordino").rglob("*.py")):
        if not path.name.endswith("kernels.py"):  # compiled code is compared with slow loops, and takes long to build
            for one in mistakes_in(path, path.read_text(encoding="utf-8")):
                found.setdefault((folder_of(path), one.kind), []).append(one)
    return found


def choose(n: int, seed: int) -> list[Mistake]:
    """Mistakes drawn so that every kind and every folder has its turn."""
    rng, found = np.random.default_rng(seed), possible()
    groups = list(found)
    drawn = [groups[i] for i in rng.permutation(len(groups))]
    return [found[drawn[i % len(drawn)]][rng.integers(len(found[drawn[i % len(drawn)]]))] for i in range(n)]


def in_turn(mistakes: Sequence[Mistake], seed: int, first: Sequence[str] = ()) -> list[Mistake]:
    """Some kinds first, and within them one of each folder after another, so that a part is a fair sample."""
    drawn = [mistakes[i] for i in np.random.default_rng(seed).permutation(len(mistakes))]
    turns: dict[tuple[bool, str], Iterator[int]] = {}
    groups = [(one.kind not in first, folder_of(one.path)) for one in drawn]
    keys = [(later, next(turns.setdefault((later, folder), count()))) for later, folder in groups]
    return [drawn[i] for i in sorted(range(len(drawn)), key=keys.__getitem__)]


Notice = Callable[[Sequence[str | tuple[str, ...]], Path, Path, float], str]


def noticed_by(mistake: Mistake, copy: Path, notice: Notice = first_failure, seconds: float = SECONDS) -> str:
    """The test that fails with the mistake in the copy of the source; empty if none does."""
    file = copy / mistake.path.relative_to(SOURCE)
    before, times = file.read_text(encoding="utf-8"), file.stat()
    changed = mistake.apply(before)
    try:
        if file.suffix == ".py":
            ast.parse(changed)
    except SyntaxError:
        return "the compiler"
    file.write_text(changed, encoding="utf-8")
    try:
        return notice(tests_of(mistake, copy), ROOT, copy, seconds)
    finally:
        file.write_text(before, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled code stays valid


@cache
def fails_anyway(test: str, copy: Path) -> bool:
    """Whether a test fails in the copy without any mistake; a doctest of the copy is not asked."""
    return test.startswith("tests/") and first_failure([test], ROOT, copy, SECONDS) != ""


def campaign(mistakes: Sequence[Mistake], kept: Path | None = None, minutes: float = np.inf) -> Outcome:
    """Make the mistakes one by one, as many as there is time for, and count by folder what was noticed.

    What a file of an earlier campaign says was noticed is not tried again; what was not is, after all others.
    """
    lines = kept.read_text("utf-8").splitlines() if kept and kept.exists() else []
    told = [tuple(line.rsplit(" | ", 1)) for line in lines]
    known, at_first = dict(told), dict(reversed(told))
    made, noticed, late, problems = Counter[str](), Counter[str](), 0, []
    begun = time.monotonic()
    if minutes:
        load_libraries()
    with TemporaryDirectory() as home:
        copy = Path(home) / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("*.pyc"))  # with what numba has compiled
        for mistake in sorted(dict.fromkeys(mistakes), key=lambda one: str(one) in known):
            by = known.get(str(mistake), "")
            if by in ("", NOBODY) and time.monotonic() - begun < 60 * minutes:
                by = noticed_by(mistake, copy) or NOBODY
                if fails_anyway(by, copy):
                    print(f"not counted, {by} fails anyway: {mistake}", flush=True)
                    continue
                print(f"{mistake} | {by}", flush=True)
                if kept:
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(f"{mistake} | {by}\n")
            if by:
                folder = folder_of(mistake.path)
                made[folder] += 1
                noticed[folder] += by != NOBODY
                late += by != NOBODY and at_first.get(str(mistake)) == NOBODY
                problems += [str(mistake)] if by == NOBODY else []
    scores = ", ".join(f"{folder} {noticed[folder]} of {made[folder]}" for folder in sorted(made))
    first = f"{noticed.total() - late} when first tried, {late} after a test was written for them"
    return Outcome(
        "mutations",
        tried=f"{made.total()} small mistakes in the code; noticed by the tests of their file: {first}; {scores}",
        failures={"unnoticed": len(problems)},
        problems=problems,
    )


def main() -> None:
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="all that are written out, and 200 drawn ones")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/reliability.md")
    parser.add_argument("--keep", type=Path, help="file of what was tried; a campaign that was stopped goes on from it")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no further mistake after so long")
    parser.add_argument("--seed", type=int, default=0, help="of the mistakes that are drawn, and of their order")
    parser.add_argument("--first", nargs="+", default=[], metavar="KIND", help="kinds to begin with, as 'which data'")
    given = parser.parse_args()
    mistakes, stale = written() if given.long else ([], [])
    for one in stale:
        print(f"no longer there: {one}", flush=True)
    mistakes += choose(N_LONG if given.long else N_SHORT, given.seed)
    outcome = campaign(in_turn(mistakes, given.seed, given.first), given.keep, given.minutes)
    print(outcome.row(""))
    if given.record:
        record(outcome)
    raise SystemExit(bool(outcome.problems))


if __name__ == "__main__":
    main()
