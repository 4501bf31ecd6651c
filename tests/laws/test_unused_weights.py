"""Law: weights change nothing that a ranker learns if it does not use them, and weights of 1 are no weights.

Not even the last bit: sums and draws go by the canonical order of the rows, in which weights have no say.
"""

from __future__ import annotations

import numpy as np
import pytest

from goldens.variants import make
from laws.test_parameters import INNER, TEST, TRAIN, VALID
from ordino import Dataset
from ordino.data.source import canonical
from ordino.rankers import RANKERS, ranker_class

WEIGHTS = np.random.default_rng(5).integers(1, 4, TRAIN.n_docs).astype(float)
SETTINGS = INNER | {"rank-aggregation": {"ranker": "prank", "n": 2, "resample": "queries"}}
USING = [name for name in RANKERS if ranker_class(name).uses_weights]
COMBINED = ("nested-ranker", "rank-aggregation")


def predicted(name: str, data: Dataset, changes: dict[str, object]) -> list[float]:
    return make(name, SETTINGS.get(name, {}) | changes).fit(data, valid=VALID).predict(TEST).tolist()


@pytest.mark.filterwarnings("ignore:.*does not use document weights")
@pytest.mark.parametrize("name", [name for name in RANKERS if name not in USING or name in COMBINED])
def test_unused_weights_change_nothing(name: str) -> None:
    changes = {"ranker": "prank"} if name in COMBINED else {}
    assert predicted(name, TRAIN.with_weights(WEIGHTS), changes) == predicted(name, TRAIN, changes)


@pytest.mark.parametrize("name", USING)
def test_weights_of_1_are_no_weights(name: str) -> None:
    changes = {"ranker": "linear-regression-ranker"} if name in COMBINED else {}
    assert predicted(name, TRAIN.with_weights(np.ones(TRAIN.n_docs)), changes) == predicted(name, TRAIN, changes)


def test_weights_decide_between_equal_rows_and_queries() -> None:
    """So that weighted data has one canonical order too, whatever order it comes in."""
    X, y, qid = np.zeros((6, 1)), np.zeros(6), np.repeat([0, 1, 2], 2)
    weights = np.array([1.0, 2.0, 4.0, 3.0, 2.0, 5.0])  # which is not the same from the end
    orders = [canonical(Dataset(X, y, qid[rows], weights=weights[rows])) for rows in (np.arange(6), np.arange(6)[::-1])]
    assert orders[0].weights.tolist() == orders[1].weights.tolist()
