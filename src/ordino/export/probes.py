"""Rows that could tell an export from the ranker: every threshold, one single-precision step around it, extremes.

They come in small groups that are ranked like queries: the rows of a group differ in one feature.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.export.family import Affine, Plain, PlainTrees, Quantiles, Tree

Singles = NDArray[np.float32]

MOST_SPLITS = 20_000
"""Splits that are probed; of more, this many evenly chosen ones."""
EXTREMES = (0.0, -0.0, 1e-30, -1.0, 1e6, -1e6, 1e30, -1e30)
RANDOM_GROUPS, GROUP = 20, 10


class Probes(NamedTuple):
    """Rows in groups; group ``g`` owns ``X[offsets[g]:offsets[g + 1]]``."""

    X: Singles
    offsets: NDArray[np.int64]
    n_splits: int
    """How many splits there are, and how many of them are probed."""
    n_probed: int


def make_probes(form: Plain, *, with_missing: bool) -> Probes:
    """Rows for a form; missing values only where both the ranker and the engine know them."""
    groups: list[Singles] = []
    n_splits = n_probed = 0
    n_features = len(form.names)
    if isinstance(form, PlainTrees):
        n_splits = sum(len(tree.feature) for tree in form.trees)
        step = max(n_splits / MOST_SPLITS, 1.0)
        wanted = set(np.floor(np.arange(0, n_splits, step)).astype(int).tolist())
        n_probed, number = len(wanted), 0
        for tree in form.trees:
            for node, row in _ways(tree, n_features, with_missing):
                if number + node in wanted:
                    groups.append(_around(row, int(tree.feature[node]), tree.threshold[node], with_missing))
            number += len(tree.feature)
    center, spread = _middle(form)
    rng = np.random.default_rng(0)  # the same rows for everyone
    drawn = center + spread * rng.normal(size=(RANDOM_GROUPS, GROUP, n_features))
    groups += [*drawn.astype(np.float32)]
    for j in range(n_features):
        rows = np.tile(center.astype(np.float32), (len(EXTREMES), 1))
        rows[:, j] = EXTREMES
        groups.append(rows)
        if with_missing:
            groups[-1] = np.vstack((rows, rows[:1]))
            groups[-1][-1, j] = np.nan
    offsets = np.concatenate(([0], np.cumsum([len(rows) for rows in groups])))
    return Probes(np.concatenate(groups), offsets.astype(np.int64), n_splits, n_probed)


def _ways(tree: Tree, n_features: int, with_missing: bool) -> Iterator[tuple[int, Singles]]:
    """Every split that can be reached, and a row that reaches it."""
    rows = {0: np.zeros(n_features, np.float32)} if len(tree.feature) else {}
    limits: dict[int, dict[int, tuple[float, float]]] = {0: {}}
    lowest, highest = float(-np.finfo(np.float32).max), float(np.finfo(np.float32).max)
    for node in range(len(tree.feature)):
        if node not in rows:
            continue
        row, known = rows.pop(node), limits.pop(node)
        yield node, row
        j, t = int(tree.feature[node]), float(tree.threshold[node])
        low, high = known.get(j, (lowest, highest))  # numbers above low and up to high get here
        sides = ((tree.left[node], low, min(t, high), True), (tree.right[node], max(t, low), high, False))
        for child, a, b, is_left in sides:
            reached = row.copy()
            if a < b:
                reached[j] = b if is_left else np.nextafter(np.float32(a), np.float32(highest))
            elif with_missing and j not in known and bool(tree.missing_left[node]) == is_left:
                reached[j] = np.nan  # no number gets there
            else:
                continue
            if child >= 0:
                rows[int(child)], limits[int(child)] = reached, {**known, j: (a, b)}


@np.errstate(over="ignore")  # there may be no number above the threshold
def _around(row: Singles, feature: int, threshold: np.float32, with_missing: bool) -> Singles:
    up, down = (np.nextafter(threshold, np.float32(side)) for side in (np.inf, -np.inf))
    values = [value for value in (down, threshold, up, np.float32(threshold + 1)) if np.isfinite(value)]
    rows = np.tile(row, (len(values) + with_missing, 1))
    rows[: len(values), feature] = values
    if with_missing:
        rows[-1, feature] = np.nan
    return rows


def _middle(form: Plain) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the features of training were, as far as the form tells, and how far they spread."""
    center, spread = np.zeros(len(form.names)), np.ones(len(form.names))
    if isinstance(form, PlainTrees):
        for j in range(len(form.names)):
            asked = [tree.threshold[tree.feature == j] for tree in form.trees]
            values = np.concatenate([np.zeros(0, np.float32), *asked]).astype(np.float64)
            values = values[np.abs(values) < 1e30]
            if len(values):
                center[j], spread[j] = np.median(values), np.std(values) or 1.0
        return center, spread
    for step in form.preparation.steps[:1]:
        if isinstance(step, Affine):
            factor, offset = step.factor_and_offset()
            center, spread = -offset / factor, 1 / np.abs(factor)
        elif isinstance(step, Quantiles):
            low, middle, high = (np.nan_to_num(np.quantile(step.quantiles, q, axis=1)) for q in (0.1, 0.5, 0.9))
            center, spread = middle, np.where(high > low, (high - low) / 2, 1.0)
    return center, spread
