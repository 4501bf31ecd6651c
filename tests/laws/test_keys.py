"""Law 10: a key names what its value is made of, so that nothing is remembered for what it was not made for.

What is remembered comes from a function that is made on the spot, so the text tells what it looks at: everything must
be in the key, or come from what is. What is kept in stores has a key of fields, and every field changes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from laws.reading import Code, arguments, last_name, package
from ordino import Dataset
from ordino.data.source import contents_hash, fingerprint
from ordino.experiment.plan import Entry
from ordino.experiment.run.task import Task

MEMORIES = {"get", "remember", "remembered", "_remembered"}
MEANT = {
    ("experiment/report/board.py", "view"): "what remembers is made for one store",
    ("experiment/report/board.py", "group"): "what remembers is made for one group of it",
    ("experiment/report/board.py", "index"): "remembered under the same labels",
    ("experiment/report/board.py", "places"): "remembered under the same labels",
    ("studio/views/compare.py", "opened"): "who remembers",
}
"""What is not in a key for a reason."""


def left_out(code: Code) -> Iterator[tuple[str, str]]:
    """What the makers of remembered values look at and their keys do not name: files and names."""
    for place, node in code.nodes:
        if isinstance(node, ast.FunctionDef):
            made_of, makers = _made_of(node), _makers(node)
            for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
                own = [one for one in call.args if isinstance(one, ast.Lambda) or last_name(one) in makers]
                if last_name(call.func) in MEMORIES and len(own) == 1 and len(call.args) > 1:
                    key = _covered({name for one in call.args if one is not own[0] for name in _told(one)}, made_of)
                    yield from ((place, name) for name in sorted(_read(own[0], makers) & set(made_of) - key))


def unheld(code: Code) -> Iterator[tuple[str, str]]:
    """What is in a key by its id and not in the value: when it is gone, another may get the id."""
    for place, node in code.nodes:
        if isinstance(node, ast.FunctionDef) and any(last_name(one.func) in MEMORIES for one in _calls(node)):
            held = {one.id for given in _given(node) for one in given.elts if isinstance(one, ast.Name)}
            for call in (one for one in _calls(node) if last_name(one.func) == "id"):
                of = _names(call.args[0])
                loops = [
                    one for one in ast.walk(node) if isinstance(one, ast.comprehension) and _names(one.target) & of
                ]
                if not held & (of | {name for one in loops for name in _names(one.iter)}):
                    yield place, *sorted(of)


def _calls(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call)]


def _given(node: ast.AST) -> list[ast.Tuple]:
    """Tuples that the functions inside a function give."""
    bodies = [one.body for one in ast.walk(node) if isinstance(one, ast.Lambda)]
    bodies += [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    return [one for one in bodies if isinstance(one, ast.Tuple)]


def _told(node: ast.AST) -> set[str]:
    """The variables that a part of a key tells; the time and size of a file do not tell which file it is."""
    if isinstance(node, ast.Call) and last_name(node.func) == "stamp":
        return set()
    inside = {node.id} if isinstance(node, ast.Name) else set()
    return inside.union(*(_told(one) for one in ast.iter_child_nodes(node)))


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _made_of(node: ast.FunctionDef) -> dict[str, set[str]]:
    """What each variable of a function comes from; an argument comes from nothing."""
    found: dict[str, set[str]] = {name: set() for name in arguments(node)}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None:
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            for name in (name for target in targets for name in _names(target)):
                found.setdefault(name, set()).update(_names(one.value))
        elif isinstance(one, ast.For):
            for name in _names(one.target):
                found.setdefault(name, set())
    return found


def _makers(node: ast.FunctionDef) -> dict[str, ast.AST]:
    """Functions that are made inside a function, by name."""
    found: dict[str, ast.AST] = {
        one.name: one for one in ast.walk(node) if isinstance(one, ast.FunctionDef) and one is not node
    }
    for one in (one for one in ast.walk(node) if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)):
        if last_name(one.value.func) == "partial":
            found[last_name(one.targets[0])] = one.value
    return found


def _read(maker: ast.expr, makers: Mapping[str, ast.AST]) -> set[str]:
    """What a maker looks at and does not make itself."""
    body = maker if isinstance(maker, ast.Lambda) else makers[last_name(maker)]
    names = [one for one in ast.walk(body) if isinstance(one, ast.Name)]
    own = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    own |= {one.arg for one in ast.walk(body) if isinstance(one, ast.arg)}
    return {one.id for one in names} - own - {"self", "studio"}


def _covered(key: set[str], made_of: Mapping[str, set[str]]) -> set[str]:
    """What a key tells: its variables, what they were made of, and what is made of these alone."""
    known, before = set(key), set[str]()
    while known != before:
        before = set(known)
        known |= {name for one in before & set(made_of) for name in made_of[one]}
        mine = {name: sources & set(made_of) for name, sources in made_of.items()}
        known |= {name for name, sources in mine.items() if sources and sources <= known | {"self", "studio"}}
    return known


def test_a_key_names_what_its_value_is_made_of() -> None:
    assert set(left_out(package())) == set(MEANT)
    assert list(unheld(package())) == []


@pytest.mark.parametrize(
    ("key", "missing"),
    [("(board, a, b)", []), ("(board, a)", ["b"]), ("(name, a, b)", ["board"]), ("told", []),
     ("(a, b, stamp(board))", ["board"])],
)  # fmt: skip
def test_a_key_that_lacks_a_part_is_found(key: str, missing: list[str]) -> None:
    lines = (
        "def view(memory, name, board, a, b):",
        " told = (board, a, b)",
        f" memory.get({key}, lambda: see(board, a, b))",
    )
    assert list(left_out(Code({"x.py": ast.parse("\n".join(lines))}))) == [("x.py", one) for one in missing]


@pytest.mark.parametrize(("value", "missing"), [("(data, see(data))", []), ("see(data)", ["data"])])
def test_what_is_known_by_its_id_is_held(value: str, missing: list[str]) -> None:
    text = f"def view(memory, data):\n memory.get(('a', id(data)), lambda: {value})"
    assert list(unheld(Code({"x.py": ast.parse(text)}))) == [("x.py", one) for one in missing]


TASK = Task(
    experiment="e", dataset="d", fold="Fold1", data="hash", files={}, entry=Entry(ranker="ranknet"),
    measures=("map",), profile="standard", select="map", seeds=(0,),
)  # fmt: skip
OTHER = {
    "experiment": "f", "dataset": "c", "fold": "Fold2", "data": "other", "entry": Entry(ranker="listnet"),
    "measures": ("mrr",), "profile": "trec", "select": "mrr", "params": {"epochs": 2}, "parts": ("train",),
}  # fmt: skip
NOT_IN_KEY = {"files", "seeds", "keeps_models", "keeps_scores", "reports"}
"""Where data lies, of which there is a hash; the seed, which is given; and what happens beside the training."""


@pytest.mark.parametrize("name", [one.name for one in fields(Task) if one.name not in NOT_IN_KEY])
def test_whatever_makes_a_trial_another_is_in_its_key(name: str) -> None:
    other = replace(TASK, **{name: OTHER[name]})
    assert other.key(0) != TASK.key(0)
    assert other.key(0, tuning=True) != TASK.key(0, tuning=True)


def test_seed_preset_and_purpose_are_in_the_key_of_a_trial() -> None:
    preset = replace(TASK, entry=Entry(ranker="ranknet", label="ranknet", preset="published"))
    plain = replace(TASK, entry=Entry(ranker="ranknet", label="ranknet"))
    assert len({TASK.key(0), TASK.key(1), TASK.key(0, tuning=True)}) == 3
    assert preset.key(0) != plain.key(0)
    kept = replace(TASK, files={"test": Path("x")}, keeps_models=True, keeps_scores=True, reports=Path("y"), seeds=(7,))
    assert kept.key(0) == TASK.key(0)


X, Y, QID = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [0, 1, 2], ["a", "a", "b"]
CHANGES = {
    "a feature": {"X": X + np.array([[0, 0], [0, 0], [0, 1]])},
    "a label": {"y": [0, 1, 1]},
    "the grouping": {"qid": ["a", "b", "b"]},
    "weights": {"weights": [1.0, 2.0, 1.0]},
    "the name of a query": {"qid": ["a", "a", "c"]},
    "names of features": {"feature_names": ("one", "three")},
    "the order": {"X": X[[1, 0, 2]], "y": [1, 0, 2]},
    "a category": {"X": X - 1, "categories": {"one": ("x", "y", "z", "u", "v")}},
}
IN_FINGERPRINT = {"a feature", "a label", "the grouping", "a category"}
NOT_IN_FINGERPRINT = {"the name of a query", "names of features", "the order"}


@pytest.mark.parametrize("change", CHANGES)
def test_data_that_differ_have_other_hashes(change: str) -> None:
    given = {"X": X, "y": Y, "qid": QID, "weights": [1.0, 1.0, 2.0], "feature_names": ("one", "two")}
    data, other = Dataset(**given), Dataset(**given | CHANGES[change])
    assert contents_hash(other) != contents_hash(data)
    assert (fingerprint(other) != fingerprint(data)) or change not in IN_FINGERPRINT
    assert (fingerprint(other) == fingerprint(data)) or change not in NOT_IN_FINGERPRINT


def test_the_grouping_alone_makes_another_hash():
    """Of documents that are all alike: their canonical order says nothing of where a query ends."""
    one, two = (Dataset(np.ones((4, 1)), [0] * 4, qid=qid) for qid in ([1, 1, 1, 1], [1, 1, 2, 2]))
    assert fingerprint(one) != fingerprint(two)
