"""What an order of one query is worth, and which exchange of two documents would add most to it."""

from typing import Any, NamedTuple

import numpy as np

from ordino.metrics import parse_metric
from ordino.studio.shelf import Opened


class Cost(NamedTuple):
    """Two documents in the wrong order, and what exchanging them would add."""

    ranker: str
    above: str
    above_grade: float
    above_place: int
    below: str
    below_grade: float
    below_place: int
    adds: float


def value_of(measure: str, profile: str, opened: Opened, scores: Any) -> float:
    """The measure of this query."""
    offsets = np.array([0, len(opened.labels)])
    value = parse_metric(measure).per_query(opened.labels, np.asarray(scores, np.float64), offsets, profile=profile)[0]
    return float(np.nan_to_num(value))


def costliest(opened: Opened, ranker: str, measure: str, profile: str, now: float) -> Cost | None:
    """The exchange of two documents in the wrong order that would add most to the measure.

    For each place of the first 20 and each higher grade, the lowest and the highest document of it are tried: to move
    the worse of two further down never costs.
    """
    order = opened.order(ranker)
    y = opened.labels[order]
    swaps: list[tuple[int, int]] = []
    for i in range(min(20, len(y))):
        for label in np.unique(y[i + 1 :][y[i + 1 :] > y[i]]):
            where = np.flatnonzero(y[i + 1 :] == label) + i + 1
            swaps += [(i, int(j)) for j in {where[0], where[-1]}]
    if not swaps:
        return None
    tiled = np.tile(y, (len(swaps), 1))
    for row, (i, j) in enumerate(swaps):
        tiled[row, [i, j]] = y[[j, i]]
    falling = np.tile(-np.arange(len(y), dtype=np.float64), len(swaps))
    offsets = np.arange(len(swaps) + 1) * len(y)
    metric = parse_metric(measure)
    values = metric.quality(np.nan_to_num(metric.per_query(tiled.ravel(), falling, offsets, profile=profile)))
    best = int(np.argmax(values))
    adds = float(values[best] - metric.quality(now))
    if adds <= 1e-9:
        return None
    i, j = swaps[best]
    ids = [opened.doc_ids[doc] for doc in (order[i], order[j])]
    return Cost(ranker, ids[0], float(y[i]), i + 1, ids[1], float(y[j]), j + 1, adds)
