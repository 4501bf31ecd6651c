"""What every target of a paper does, as plain data: its plans in full, and what it shows of made-up trials.

``python tests/laws/protocols.py`` writes protocols.json anew; read the difference against the paper before you keep it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from laws.made_up import reproduced
from ordino import synthetic
from ordino.data.folds import make_folds, write_folds
from ordino.experiment.papers.beyond import models
from ordino.experiment.papers.catalogue import TARGETS
from ordino.experiment.papers.deepnet import symmetry
from ordino.experiment.papers.target import Request

RECORD = Path(__file__).with_name("protocols.json")
SHOWN = 2
"""Plans of a target that are written out; of those after them there is a hash."""
LARGE = {
    "ranknet.vectors",
    "directranker.theorem3",
    "beyond.models",
    "beyond.classes",
    *(f"directranker.fig2{panel}" for panel in "abcd"),
}
"""Targets that make much data or learn while they are shown: what is compared is their quick run, and the settings of
the whole one without its data."""


SECONDS = ("directranker.grid", "sortnet.incremental", "deepnet.table3.1.td", "deepnet.fig4.3", "deepnet.section4.2.2")
"""Targets with so many settings that even without training they take seconds."""
QUICKLY = tuple(name for name in SECONDS if name != "deepnet.table3.1.td")
"""Those whose quick runs are compared by default; of the other one there are tables like it."""


def write_collections(root: Path) -> None:
    """Five small folds with the shape of LETOR's for each collection that a target may ask for."""
    for number, (name, kind) in enumerate((("TD2003", "td"), ("TD2004", "td"), ("MQ2008", "mq2008"))):
        data = synthetic(kind, queries=15, docs=8, seed=number)
        best = np.argsort(-data.X[:, 1]) < 50
        write_folds(make_folds(data.replace(y=best.astype(float)), 5), root / name)


def request_for(name: str, root: Path, **how: Any) -> Request:
    """What is asked of a target: all collections, or one that stands in for private data."""
    data = root / "MQ2008" if TARGETS[name].needs.startswith("any") else root
    return Request(data, seed=1, **how)


def plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def of_data(data: Any) -> list[float]:
    """A part of a fold in a few numbers: queries, documents, labels, ids, features."""
    if data is None:
        return []
    ids = sum(map(float, data.query_ids)) if data.query_ids.dtype.kind in "if" else len(set(data.query_ids))
    total = float(np.abs(data.X.astype(np.float64)).sum())
    return [data.n_queries, data.n_docs, float(data.y.sum()), ids, data.n_features, float(f"{total:.4g}")]


def of_entry(entry: Any) -> dict[str, Any]:
    """A ranker of a plan: what is not its default, what is tried, how often it is repeated."""
    first = {name: values[0] for name, values in (entry.grids or [{}])[0].items()}
    ranker = entry.make({**first, **entry.params})
    default = type(ranker)().get_params()
    changed = {
        name: value
        for name, value in ranker.get_params().items()
        if name not in default or repr(value) != repr(default[name])
    }
    return {
        "ranker": entry.command, "preset": entry.preset, "repeats": entry.repeats, "trials": entry.trials,
        "settings": plain(dict(sorted(changed.items()))), "grid": plain([dict(grid) for grid in entry.grids]),
    }  # fmt: skip


def of_plan(plan: Any, *, with_data: bool = True) -> dict[str, Any]:
    """All that a plan says, and the data that it says it of."""
    data: dict[str, Any] = {}
    for name, folds in plan.collections():
        parts = ((fold.name, (fold.train, fold.valid, fold.test)) for fold in folds)
        data[name] = {fold: [of_data(part) for part in own] for fold, own in parts} if with_data else list(folds.names)
    own = {one: plain(getattr(plan, one)) for one in ("measures", "profile", "select", "parts", "repeats")}
    return own | {"data": data, "rankers": {entry.name: of_entry(entry) for entry in plan.entries()}}


def of_number(number: Any) -> list[float | int | str | None]:
    """The paper's value as a page has it, how many there are of ours, their mean, and one that knows their order."""
    ours = np.array(number.ours)
    weighed = float(ours @ np.arange(1, len(ours) + 1)) / len(ours)
    paper = number.paper if number.paper_deviation is None else f"{number.paper:g} ± {number.paper_deviation:g}"
    paper = paper if number.same_data or paper is None else f"({paper})"
    return [paper, len(ours), float(f"{ours.mean():.5g}"), float(f"{weighed:.5g}")]


def of_page(page: Any) -> dict[str, Any]:
    """What stands on a page around any numbers: columns, digits, axes of the figure, and claims but for their words."""
    claims = [{one.name: plain(getattr(claim, one.name)) for one in fields(claim)} for claim in page.claims]
    axes = None if page.axes is None else plain(page.axes._asdict())
    own = {name: plain(getattr(page, name)) for name in ("columns", "digits", "of", "spread", "of_paper")}
    given = [{name: one for name, one in claim.items() if one not in (None, False, "")} for claim in claims]
    return own | {"axes": axes, "claims": given}


def told(ranker: Any, fold: Any, before: Any) -> tuple[float, float]:
    """In place of quality and cost: what would have been trained and tested on what, as two numbers."""
    sizes = fold.train.n_features + fold.valid.n_docs / 1e3
    return len(repr(ranker)) + fold.test.n_docs / 1e3, sizes + (0 if before is None else 0.5)


def protocol(name: str, root: Path, monkeypatch: Any, *, quick: bool = False) -> dict[str, Any]:
    """What a target does and shows, or what its quick run does; synthetic sets that a target makes are small here."""
    monkeypatch.setattr(
        symmetry, "synthetic", lambda kind, *, seed, **_: synthetic(kind, queries=9, docs=60, seed=seed)
    )
    monkeypatch.setattr(models, "measured", told)
    target = TARGETS[name]
    asked = request_for(name, root, quick=quick)
    plans = [of_plan(plan, with_data=name not in LARGE) for plan in target.plans(asked)]
    plans[SHOWN:] = [sha256(json.dumps(plan).encode()).hexdigest()[:16] for plan in plans[SHOWN:]]
    how = {"quick": True} if quick or name in LARGE else {"repeats": 2}
    with threadpool_limits(1):  # threads that wait for each other take a hundred times as long as such small work
        result = reproduced(name, request_for(name, root, **how), monkeypatch, root)
    numbers = {" | ".join(one.labels): of_number(one) for one in result.numbers}
    return {"is_timed": target.is_timed, "plans": plans, "numbers": numbers, "notes": list(result.notes)}


def record() -> None:
    """Write what all targets do into the file beside this one."""
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as monkeypatch:
        write_collections(Path(root))
        found = {
            name: protocol(name, Path(root), monkeypatch) | {"page": of_page(target.page)}
            for name, target in TARGETS.items()
        }
        found |= {f"{name}, quick": protocol(name, Path(root), monkeypatch, quick=True) for name in QUICKLY}
    lines = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in found.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
