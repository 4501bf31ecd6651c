"""Law 7: what a caller chose is passed on, everywhere in the code: seeds, the metric and its profile, validation data.

The other laws run the code, and see only what their small data makes it do. This one reads it: a draw that names no
seed, one in a loop that draws the same every time, a judge that is not told metric and profile, a training that does
not get the validation data that is there.
Places that do not for a reason are in ``MEANT``, with the reason; one that is not there any more fails too.
"""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from laws.reading import HOME, Code, last_name, package

DRAWS = {"stream", "spawn_seed", "spawned", "default_rng", "SeedSequence", "with_seed"}
SEEDED = {
    "audit", "bootstrap_interval", "distill", "easy_data", "fisher", "make_folds", "permutation_importance",
    "sort_queries", "split_numbers", "synthetic", "uniform_population", "why",
}  # fmt: skip
"""Functions of ours that take a seed and have one by default."""
JUDGES = {"Judge", "Choice", "native_ndcg", "evaluate", "evaluate_shards", "permutation_importance"}
"""Those that measure, by a metric and under a profile."""
FITS = {"fit", "fit_repeats", "fit_pairs", "_fit", "_grow", "_train"}


class Call(NamedTuple):
    """A call in the code, and the names that the function around it was given."""

    place: str
    callee: str
    node: ast.Call
    given: frozenset[str]

    def names(self, word: str) -> bool:
        """Whether the word is a part of a name in the arguments."""
        parts = [*self.node.args, *(one.value for one in self.node.keywords)]
        found = [x for part in parts for x in ast.walk(part) if isinstance(x, ast.Name | ast.Attribute)]
        return any(word in (x.id if isinstance(x, ast.Name) else x.attr).lower() for x in found)

    @property
    def passes_all(self) -> bool:
        """Whether further arguments come in a bundle."""
        return any(one.arg is None for one in self.node.keywords) or any(
            isinstance(one, ast.Starred) for one in self.node.args
        )


@cache
def calls() -> list[Call]:
    return [
        one
        for place, tree in package().files.items()
        if place != "testing.py"  # whose data is the same for every ranker
        for one in calls_in(tree, place)
    ]


def calls_in(node: ast.AST, place: str, given: frozenset[str] = frozenset()) -> Iterator[Call]:
    for child in ast.iter_child_nodes(node):
        own = given
        if isinstance(child, ast.FunctionDef):
            own = frozenset(one.arg for one in [*child.args.args, *child.args.kwonlyargs])
        if isinstance(child, ast.Call):
            callee = getattr(child.func, "id", None) or getattr(child.func, "attr", "")
            yield Call(place, callee, child, own)
        yield from calls_in(child, place, own)


def unseeded() -> Iterator[Call]:
    """Draws whose seed is a constant, and functions that draw and are given no seed."""
    for call in calls():
        seeds = [one.value for one in call.node.keywords if one.arg in ("seed", "seeds", "random_state")]
        constant = any(isinstance(one, ast.Constant) for one in seeds)
        draws = call.callee in DRAWS and not (call.node.args and _names(call.node.args[0]))
        silent = call.callee in SEEDED and not seeds and not call.passes_all and not call.names("seed")
        if constant or draws or silent:
            yield call


def _names(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Name | ast.Attribute) for one in ast.walk(node))


def unjudged() -> Iterator[Call]:
    """Judges that are not told both metric and profile."""
    for call in calls():
        metric = call.names("metric") or call.names("measure") or call.names("names") or call.names("wanted")
        if call.callee in JUDGES and not (metric and (call.names("profile") or call.names("style"))):
            yield call


def unvalidated() -> Iterator[Call]:
    """Trainings in a function that was given validation data, which do not get it."""
    for call in calls():
        has_some = call.given & {"valid", "held_out"}
        if call.callee in FITS and has_some and not (call.names("valid") or call.names("held_out")):
            yield call


def alike() -> Iterator[Call]:
    """Draws in a loop that do not name what the loop runs over: all of its parts would draw the same."""
    for place in dict.fromkeys(call.place for call in calls() if call.callee in DRAWS):
        yield from _alike_in(package().files[place], place, ())


def _alike_in(node: ast.AST, place: str, loops: tuple[set[str], ...]) -> Iterator[Call]:
    for child in ast.iter_child_nodes(node):
        inside = loops
        if isinstance(child, ast.For):
            inside = (*loops, _made_in(child))
        elif isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inside = (*loops, *(_variables(one.target) for one in child.generators))
        elif isinstance(child, ast.Call):
            call = Call(place, last_name(child.func), child, frozenset())
            told = _variables(*child.args, *(one.value for one in child.keywords))
            if call.callee in DRAWS and not all(told & own for own in loops):
                yield call
        yield from _alike_in(child, place, inside)


def _made_in(loop: ast.For) -> set[str]:
    """The variables of a loop, and those that its body makes of them."""
    found = _variables(loop.target)
    for one in ast.walk(loop):
        if isinstance(one, ast.Assign) and _variables(one.value) & found:
            found |= _variables(*one.targets)
    return found


def _variables(*nodes: ast.AST) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


MEANT: dict[str, dict[tuple[str, str], tuple[int, str]]] = {
    "alike": {
        ("experiment/papers/deepnet/symmetry.py", "spawn_seed"): (1, "the same draws for every collection"),
        ("experiment/papers/directranker/order.py", "spawn_seed"): (1, "the same first weights for every size"),
        ("experiment/papers/directranker/synthetic.py", "spawn_seed"): (1, "the same first weights for every point"),
        ("experiment/papers/letor.py", "stream"): (1, "the same pairs whatever is learned from them"),
        ("networks/torch_module.py", "spawn_seed"): (1, "the processor and a device may draw alike"),
    },
    "unseeded": {
        ("cli/data.py", "audit"): (1, "an audit is a figure of a model, the same each time"),
        ("cli/report.py", "Trial"): (1, "a file of scores has no seed"),
        ("cli/warm_up.py", "easy_data"): (3, "any data will do for compiling"),
        ("experiment/compare/comparison.py", "bootstrap_interval"): (1, "the interval of values, the same each time"),
        ("experiment/papers/beyond/models.py", "Nystroem"): (1, "part of the protocol"),
        ("experiment/papers/directranker/grid.py", "make_folds"): (1, "the same inner folds for all settings"),
        ("experiment/papers/target.py", "make_folds"): (2, "made collections have one set of folds"),
        ("experiment/papers/target.py", "default_rng"): (1, "noise of a made collection"),
        ("experiment/plan/plan.py", "make_folds"): (1, "the seed is that of rankers: repeats share their folds"),
        ("experiment/report/figures.py", "bootstrap_interval"): (1, "the interval of values, the same each time"),
        ("export/probes.py", "default_rng"): (1, "the same probes for every certificate"),
        ("given.py", "split_numbers"): (1, "which share is held out does not depend on the ranker"),
        ("layers.py", "default_rng"): (1, "rows that ask how products round"),
        ("networks/autoencoders.py", "default_rng"): (1, "the order of the batches; first weights have the seed"),
        ("networks/divided.py", "RowNet"): (1, "its weights come from the driver"),
        ("networks/training.py", "default_rng"): (1, "the order of the batches is the same in all teams"),
        ("serve/rank.py", "why"): (1, "an explanation is the same each time"),
        ("studio/views/compare.py", "default_rng"): (1, "a page is the same each time"),
        ("studio/views/features.py", "permutation_importance"): (1, "a page is the same each time"),
        ("studio/views/model.py", "audit"): (1, "a page is the same each time"),
        ("studio/views/why.py", "why"): (3, "a page is the same each time"),
    },
    "unjudged": {
        ("cli/warm_up.py", "evaluate"): (1, "only compiles"),
        ("ensemble/bounds.py", "Choice"): (2, "of trials on a bench, which has its judge"),
        ("ensemble/search.py", "Choice"): (2, "of trials on a bench, which has its judge"),
        ("rankers/auto.py", "Choice"): (1, "of trials on a bench, which has its judge"),
        ("experiment/papers/beyond/models.py", "evaluate"): (1, "a table of ours, under the standard profile"),
        ("experiment/papers/deepnet/symmetry.py", "evaluate"): (1, "a table of ours, under the standard profile"),
        ("rankers/ranknet.py", "Judge"): (1, "it counts pairs, which every profile counts alike"),
        ("studio/views/features.py", "permutation_importance"): (1, "under the ranker's own profile"),
    },
    "unvalidated": {
        ("rankers/nested.py", "fit"): (1, "where there is no validation data"),
        ("rankers/ranknet.py", "fit"): (1, "the kernel's landmarks are training documents"),
    },
}
"""By kind: file and callee, how often, and why it is right there."""
KINDS = {"alike": alike, "unseeded": unseeded, "unjudged": unjudged, "unvalidated": unvalidated}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_chosen_is_passed_on(kind):
    found = list(KINDS[kind]())
    counted = Counter((call.place, call.callee) for call in found)
    told = {f"{call.place}:{call.node.lineno}: {ast.unparse(call.node)}" for call in found}
    expected = {place: n for place, (n, _) in MEANT[kind].items()}
    assert counted == expected, f"pass it on, or say in MEANT why not: {told}"


def test_nothing_that_is_given_or_made_is_left_unused():
    """An argument, a variable or an import that nobody reads: what should use it was forgotten."""
    ruff = pytest.importorskip("ruff", reason="ruff reads the code; install it with: pip install ruff")
    words = ["check", "--no-cache", "--isolated", "--select", "F,ARG,B007", "--output-format", "concise", str(HOME)]
    found = subprocess.run([ruff.find_ruff_bin(), *words], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


SOURCE = """
def fit(self, data, valid):
    rng = {draw}
    for i in range(3):
        parts = [stream({part}) for j in range(3)]
    folds = make_folds(data{seed})
    judge = Judge(self.metric, {profile})
    return self._train(data{valid})
"""


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({}, None), ({"part": "self.seed, i"}, "alike"), ({"part": "self.seed, j"}, "alike"),
     ({"draw": 'stream(0, "a")'}, "unseeded"), ({"seed": ""}, "unseeded"),
     ({"seed": ", seed=0"}, "unseeded"), ({"profile": '"standard"'}, "unjudged"), ({"valid": ""}, "unvalidated")],
    ids=str,
)  # fmt: skip
def test_what_is_not_passed_on_is_found(monkeypatch, changes, kind):
    right = {
        "part": "self.seed, i, j",
        "draw": 'stream(self.seed, "a")',
        "seed": ", seed=seed",
        "profile": "self.profile",
        "valid": ", valid",
    }
    tree = ast.parse(SOURCE.format(**right | changes))
    made = list(calls_in(tree, "x.py"))
    monkeypatch.setattr(f"{__name__}.calls", lambda: made)
    monkeypatch.setattr(f"{__name__}.package", lambda: Code({"x.py": tree}))
    assert {name for name, find in KINDS.items() if list(find())} == ({kind} if kind else set())
