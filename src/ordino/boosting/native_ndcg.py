"""Held-out data measured by LightGBM itself, where its NDCG is the metric asked for: no scores are handed out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.booster import LIMIT, Booster
from ordino.data.dataset import Dataset
from ordino.metrics import parse_metric
from ordino.metrics.engine import LARGEST_LABEL

DIGITS = 12  # what is left of a sum whose order depends on the number of threads


class NativeNDCG(NamedTuple):
    """What LightGBM needs to measure held-out data as we do, so that no scores are handed out after each round."""

    k: int
    levels: NDArray[np.int64]  # of the held-out labels
    counts: NDArray[np.int64]  # documents of each query
    shift: float

    @property
    def params(self) -> dict[str, object]:
        """LightGBM's parameters."""
        return {"metric": "ndcg", "eval_at": [self.k]}

    def mean(self, booster: Booster) -> float:
        """NDCG@k after the last round."""
        return round(booster.measured() - self.shift, DIGITS)


def native_ndcg(metric: str, profile: str, labels: NDArray[np.float64] | None, valid: Dataset) -> NativeNDCG | None:
    """How LightGBM measures ``valid``, if its NDCG is the metric asked for; ``labels`` are those of its levels.

    LightGBM counts a query without a relevant document as 1, profile ``standard`` as 0. Gains, discounts and the order
    of ties are the same, so that one mean is the other minus the share of such queries.

    Examples
    --------
    >>> valid = Dataset([[0.0]] * 4, [0, 2, 0, 0], qid=list("aabb"))
    >>> found = native_ndcg("ndcg@10", "standard", np.array([0.0, 1.0, 2.0]), valid)
    >>> found.levels.tolist(), found.shift
    ([0, 2, 0, 0], 0.5)
    >>> native_ndcg("map", "standard", np.array([0.0, 1.0]), valid) is None
    True
    """
    asked = parse_metric(metric)
    if labels is None or asked.name != "ndcg" or asked.k is None or profile not in ("standard", "lightgbm"):
        return None
    levels = np.searchsorted(labels, valid.y)
    if not len(levels) or valid.counts.max() > LIMIT or labels[0] != 0 or labels[-1] > LARGEST_LABEL:
        return None
    if levels.max() == len(labels) or (labels[levels] != valid.y).any():
        return None  # a label that training does not have
    empty = np.maximum.reduceat(levels, valid.offsets[:-1]) == 0
    return NativeNDCG(asked.k, levels, valid.counts, float(empty.mean()) if profile == "standard" else 0.0)
