"""Quantile scaling as ONNX nodes: the piece of the curve by a tree for each feature, the normal quantile by AS241.

Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 1988, to 1e-16.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ordino.export.family import Floats, Quantiles, Tree

if TYPE_CHECKING:
    from ordino.export.writers.onnx import Graph

LEAST_SHARE = 1e-7  # where scikit-learn clips, and NormalQuantiles with it

NEAR = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
FAR = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip


def add_quantiles(graph: "Graph", x: str, wide: str, step: Quantiles, n_features: int) -> str:
    """The scaled values of single-precision values ``x``, which are ``wide`` as doubles."""
    from ordino.export.writers.onnx import add_forest

    trees: list[Tree] = []
    tables: list[Floats] = []
    start = 0
    for known in step.quantiles:
        limits, rows = pieces(known)
        trees.append(balanced(len(trees), limits, start))
        tables.append(rows)
        start += len(rows)
    place = graph.cast(add_forest(graph, x, trees, range(n_features), n_features), "INT64")
    columns = [graph.add("Gather", graph.constant(column), place) for column in np.concatenate(tables).T]
    x0, width, s0, rise = columns
    way = graph.add("Div", graph.add("Sub", wide, x0), width)
    share = graph.add("Add", s0, graph.add("Mul", way, rise))
    ends = graph.number(LEAST_SHARE), graph.number(1 - LEAST_SHARE)
    return graph.add("Mul", _normal_quantile(graph, graph.add("Clip", share, *ends)), graph.number(step.std))


def pieces(known: Floats) -> tuple[np.ndarray[Any, np.dtype[np.float32]], Floats]:
    """Where the pieces of a curve end, and each piece as (x0, width, share at x0, rise to x0 + width).

    A piece holds the numbers above the end before it, up to its own; the last has no end. Where several quantiles are
    equal the curve jumps: their value is a piece by itself, with the share in the middle.

    Examples
    --------
    >>> ends, rows = pieces(np.array([0.0, 1.0, 2.0]))
    >>> ends.round(3).tolist(), rows[:, 2].tolist(), rows[:, 3].tolist()
    ([0.0, 1.0, 2.0], [0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.0])
    """
    if not known[0] < known[-1]:  # constant, or unknown: its two sides and itself
        level = 0.0 if np.isnan(known[0]) else known[0]
        shares = [0.5, 0.5, 0.5] if np.isnan(known[0]) else [0.0, 0.5, 1.0]
        rows = np.array([[level, 1.0, share, 0.0] for share in shares])
        return np.array([_below(level), _at_most(level)], np.float32), rows
    references = np.linspace(0, 1, len(known))
    values, first, counts = np.unique(known, return_index=True, return_counts=True)
    last = first + counts - 1
    ends, table = [_at_most(values[0])], [[values[0], 1.0, 0.0, 0.0]]
    for i in range(1, len(values)):
        low, high = values[i - 1], values[i]
        s0, s1 = references[last[i - 1]], references[first[i]]
        is_run = counts[i] > 1 or i == len(values) - 1
        ends.append(_below(high) if is_run else _at_most(high))
        table.append([low, high - low, s0, s1 - s0])
        if is_run and i < len(values) - 1:
            ends.append(_at_most(high))
            table.append([high, 1.0, (references[first[i]] + references[last[i]]) / 2, 0.0])
    table.append([values[-1], 1.0, 1.0, 0.0])
    return np.array(ends, np.float32), np.array(table)


def _at_most(value: float) -> np.float32:
    rounded = np.float32(value)
    return rounded if rounded <= value else np.nextafter(rounded, np.float32(-np.inf))


def _below(value: float) -> np.float32:
    rounded = np.float32(value)
    return rounded if rounded < value else np.nextafter(rounded, np.float32(-np.inf))


def balanced(feature: int, limits: Any, start: int) -> Tree:
    """A tree that finds the piece of a number by halving; its leaves are ``start``, ``start + 1``, ..."""
    rows: list[list[Any]] = []

    def build(low: int, high: int) -> int:
        if low == high:
            return ~low
        middle, node = (low + high) // 2, len(rows)
        rows.append([limits[middle], 0, 0])
        rows[node][1:] = [build(low, middle), build(middle + 1, high)]
        return node

    build(0, len(limits))
    threshold, left, right = zip(*rows, strict=True)
    n = len(rows)
    return Tree(
        np.full(n, feature), np.array(threshold, np.float32), np.zeros(n, bool), np.array(left), np.array(right),
        start + np.arange(n + 1.0),
    )  # fmt: skip


def _polynomial(graph: "Graph", r: str, coefficients: tuple[float, ...]) -> str:
    total = graph.number(coefficients[0])
    for coefficient in coefficients[1:]:
        total = graph.add("Add", graph.add("Mul", total, r), graph.number(coefficient))
    return total


def _ratio(graph: "Graph", r: str, above_and_below: tuple[tuple[float, ...], tuple[float, ...]]) -> str:
    return graph.add("Div", *(_polynomial(graph, r, coefficients) for coefficients in above_and_below))


def _normal_quantile(graph: "Graph", share: str) -> str:
    q = graph.add("Sub", share, graph.number(0.5))
    near = graph.add("Mul", q, _ratio(graph, graph.add("Sub", graph.number(0.180625), graph.add("Mul", q, q)), NEAR))
    tail = graph.add("Min", share, graph.add("Sub", graph.number(1.0), share))
    r = graph.add("Sub", graph.add("Sqrt", graph.add("Neg", graph.add("Log", tail))), graph.number(1.6))
    far = graph.add("Mul", graph.add("Sign", q), _ratio(graph, r, FAR))
    return graph.add("Where", graph.add("LessOrEqual", graph.add("Abs", q), graph.number(0.425)), near, far)
