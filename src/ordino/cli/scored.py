"""A data file and the scores that a model file gives it: where ``rank`` and ``evaluate`` begin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.data.files import read_data, read_table, table_data
from ordino.model_file.scoring import load_scorer


class Scored(NamedTuple):
    """Documents and scores, both in the caller's order."""

    data: Dataset
    scores: NDArray[np.float64]
    table: Any
    """The Arrow table that the documents came in, or None."""
    card: dict[str, Any]


def score_file(model: str, source: str, *, label: str | None, qid: str | None, labelled: bool) -> Scored:
    """Read, score; the columns of a table are those that the model names."""
    scorer, card = load_scorer(model)
    features = card["features"]
    table = read_table(source)
    if table is None:
        data = read_data(source, n_features=features["count"])
    else:
        data = table_data(table, source, features=features["names"], labelled=labelled, label=label, qid=qid)
    return Scored(data, scorer.predict(data), table, card)
