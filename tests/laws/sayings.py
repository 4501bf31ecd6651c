"""What reports say of boards, as a record: one of which all is known, and others with holes.

``python tests/laws/sayings.py`` writes sayings.json anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from laws.test_boards import LESS, OTHER, SAYERS, board_of, said, trials
from ordino.experiment.report.board import Board, make_boards
from ordino.experiment.store import Trial

RECORD = Path(__file__).with_name("sayings.json")
LARGE = {"page.html", "page.figure_specs", "text.plain_text", "text.terminal"}
"""What the other sayers say once more."""
OF_ALTAIR = ("$schema", "config", "usermeta")
CHANGES: dict[str, Callable[[Trial], dict[str, Any]]] = {
    "A": lambda one: {"is_tuned": True, "params": {"l2": 0.25 + int(one.data)}, "history": one.history[: 2 + one.seed]},
    "B": lambda one: {"feature_weights": None, "chosen_by": "mrr", "versions": {"ordino": "1.0", "numpy": "2.0"}},
    "C": lambda one: {"params": {"hidden": [8]}, "query_counts": {**one.query_counts, "n_empty": one.seed}},
    "D": lambda one: {"ranker": "score-file", "chosen_by": "", "history": [], "started": ""},
}
"""By label what is special about its trials."""


def with_holes(trial: Trial) -> Trial:
    """The same trial with metrics at cutoffs; B leaves two queries out, C was not measured by the error, D leads."""
    values = {name: np.array(column) for name, column in trial.per_query.items()}
    values |= {"ndcg@1": np.full(20, 0.5), "ndcg@5": np.round(values[OTHER] / 2, 6)}
    if trial.label == "B":
        values[OTHER][3:5] = np.nan
    if trial.label == "C":
        del values[LESS]
    if trial.label == "D":
        values[OTHER] += 0.125
    changes = CHANGES[trial.label](trial) | ({"feature_weights": None} if trial.seed == 2 else {})
    means = {name: float(np.nanmean(column)) for name, column in values.items()}
    return replace(trial, per_query=values, test=means, **changes)


@cache
def board_with_holes(*measures: str, baseline: str | None = None) -> Board:
    """Of D there is one fold alone, and no second seed of C."""
    left_out = {("D", "1", seed) for seed in range(3)} | {("C", fold, 1) for fold in "01"}
    made = [one for one in trials((OTHER, LESS)) if (one.label, one.data, one.seed) not in left_out]
    [board] = make_boards([with_holes(one) for one in made], measures=measures, baseline=baseline)
    return board


BOARDS = {
    "whole": lambda: board_of((OTHER, LESS)),
    "with holes": lambda: board_with_holes(OTHER, LESS, "ndcg@1", baseline="B"),
    "of errors": lambda: board_with_holes(LESS, baseline="A"),
}
CASES = [f"{name} of the board {board}" for board in BOARDS for name in SAYERS if name not in LARGE]


def saying(case: str) -> str:
    """What is said in a case, in one line."""
    name, _, board = case.partition(" of the board ")
    told = said(name, BOARDS[board]())
    if isinstance(told, dict):
        told = {key: one for key, one in told.items() if key not in OF_ALTAIR}
    return json.dumps(told, ensure_ascii=False)


def record() -> None:
    """Write what is said into the file beside this one."""
    lines = [f"{json.dumps(case)}: {json.dumps(saying(case), ensure_ascii=False)}" for case in CASES]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
