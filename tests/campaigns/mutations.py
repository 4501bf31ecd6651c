"""Small mistakes made in the code, one at a time: do the tests notice?

Each is of a kind that happens in a refactoring: another operator, a limit off by one, a keyword that is dropped, two
arguments swapped, the wrong part of the data, a seed that does not arrive, a condition turned around. It is made in a
copy of src, and the tests of its folder run against the copy, the laws with them.

    python tests/campaigns/mutations.py [--long] [--record]
"""

import ast
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns.ledger import Outcome, main

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
N_SHORT, N_LONG = 12, 300
SECONDS = 1800  # that the tests of one mistake may take on a busy machine
PARTS = {"train": "valid", "valid": "test", "test": "valid", "data": "valid", "held_out": "data"}
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
LAWS = {
    "cli": ["options", "seeds"], "data": ["seeds"], "evolve": ["parameters", "seeds", "formulas"], "order": ["seeds"],
    "experiment": ["which_data", "seeds"], "papers": ["protocols"], "explain": ["seeds"],
    **{one: ["parameters", "formulas", "which_data"] for one in ("rankers", "networks", "boosting", "svm")},
    "losses": ["formulas"],
}  # fmt: skip
TESTS = {
    "rankers": ["rankers"], "networks": ["networks", "rankers"], "boosting": ["rankers"], "svm": ["rankers"],
    "papers": ["experiment"], "model_file": ["test_model_file.py", "test_hostile_models.py"],
    "": ["rankers/test_base.py", "rankers/test_contract.py", "test_given.py", "test_threads.py", "test_posteriors.py"],
}  # fmt: skip
"""By folder of the source (as ``folder_of`` names it) its tests, where they are not in a folder of the same name."""


@dataclass(frozen=True)
class Mistake:
    """Text that takes the place of other text in a file."""

    path: Path
    line: int
    kind: str
    start: int
    stop: int
    text: str

    def apply(self, source: str) -> str:
        """The source with the mistake in it."""
        return source[: self.start] + self.text + source[self.stop :]


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


def folder_of(path: Path) -> str:
    """The part of the source that a file belongs to."""
    parts = path.relative_to(SOURCE / "ordino").parts
    return "papers" if "papers" in parts else parts[0] if len(parts) > 1 else ""


def tests_of(folder: str) -> list[str]:
    """The tests that ought to notice a mistake in a folder."""
    own = [f"tests/{one}" for one in TESTS.get(folder, [folder])]
    laws = [f"tests/laws/test_{law}.py" for law in LAWS.get(folder, ["parameters"])]
    return [one for one in own + laws if (ROOT / one).exists()]


def choose(n: int, seed: int) -> list[Mistake]:
    """Mistakes drawn so that every kind and every folder has its turn."""
    rng = np.random.default_rng(seed)
    found: dict[tuple[str, str], list[Mistake]] = {}
    for path in sorted((SOURCE / "ordino").rglob("*.py")):
        if not path.name.endswith(
            "kernels.py"
        ):  # compiled code is compared with slow loops, and takes minutes to build
            for one in mistakes_in(path, path.read_text(encoding="utf-8")):
                found.setdefault((folder_of(path), one.kind), []).append(one)
    groups = list(found)
    drawn = [groups[i] for i in rng.permutation(len(groups))]
    return [found[drawn[i % len(drawn)]][rng.integers(len(found[drawn[i % len(drawn)]]))] for i in range(n)]


def is_noticed(mistake: Mistake, copy: Path) -> bool:
    """Whether a test fails with the mistake in the copy of the source."""
    file = copy / mistake.path.relative_to(SOURCE)
    before = file.read_text(encoding="utf-8")
    changed = mistake.apply(before)
    try:
        ast.parse(changed)
    except SyntaxError:
        return True
    file.write_text(changed, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests_of(folder_of(mistake.path))]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_text(before, encoding="utf-8")


def campaign(long: bool, n: int | None = None, seed: int = 0) -> Outcome:
    """Make the mistakes one by one and count by folder what was noticed."""
    made, noticed, problems = Counter[str](), Counter[str](), []
    with TemporaryDirectory() as home:
        copy = Path(home) / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for mistake in choose(n or (N_LONG if long else N_SHORT), seed):
            folder = folder_of(mistake.path) or "top"
            made[folder] += 1
            seen = is_noticed(mistake, copy)
            noticed[folder] += seen
            where = f"{mistake.path.relative_to(ROOT)}:{mistake.line}, {mistake.kind}: {mistake.text.strip()!r}"
            print(("noticed " if seen else "SURVIVED ") + where, flush=True)
            if not seen:
                problems.append(where)
    scores = ", ".join(f"{folder} {noticed[folder]} of {made[folder]}" for folder in sorted(made))
    return Outcome(
        "mutations",
        tried=f"{made.total()} small mistakes in the code, noticed by the tests of their folder: {scores}",
        failures={"unnoticed": len(problems)},
        problems=problems,
    )


if __name__ == "__main__":
    main(campaign)
