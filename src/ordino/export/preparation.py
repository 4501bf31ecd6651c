"""Scalers as plain maps, and thresholds carried back through them.

Every scaler that is exported maps each feature by itself and never falls. So a question about the scaled value is a
question about the raw one, with the largest raw number that is still on the left as its threshold. It is found by
halving the single-precision numbers, with the scaler itself: exact, however the scaler rounds.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.filling import MedianFilled
from ordino.data.query_features import Unscaled
from ordino.data.scaling import NormalQuantiles, SymmetricLog
from ordino.errors import ExportError
from ordino.export.family import Affine, Preparation, Quantiles, Step, SymLog
from ordino.pipelines import last_step, steps_of

Singles = NDArray[np.float32]

WAYS_OUT = "serve it with `ordino serve`, or teach its order to a ranker that can be exported with `ordino distill`"
LARGEST = int(np.finfo(np.float32).max.view(np.int32))


def preparation_of(model: Any) -> Preparation:
    """What a ranker, or a pipeline that ends in one, does to the features first."""
    fill: Singles | None = None
    steps: list[Step] = []
    last = last_step(model)
    waiting = [*steps_of(model)[:-1], last.scaler_]
    while waiting:
        scaler = waiting.pop(0)
        if scaler is None or scaler == "passthrough" or isinstance(scaler, Unscaled):
            continue
        if getattr(scaler, "by_query", False):
            raise ExportError(
                f"{type(last).__name__} scales by all documents of the query ({_name(scaler)}), and an engine scores "
                f"one document at a time; train with another scaling, {WAYS_OUT}"
            )
        if isinstance(scaler, MedianFilled):
            waiting.insert(0, scaler.inner)
        filled = _fill_of(scaler)
        if filled is not None:
            if steps or fill is not None:
                raise ExportError("missing values are filled in after scaling; fill them in first, and train again")
            fill = filled
        elif type(scaler).__name__ in STEPS:
            steps.append(STEPS[type(scaler).__name__](scaler))
        else:
            known = ", ".join(sorted((*STEPS, "MedianFilled", "SimpleImputer")))
            raise ExportError(
                f"{type(scaler).__name__} before the ranker cannot be exported, only {known}; make its features where "
                f"documents are indexed, {WAYS_OUT}"
            )
    return Preparation(fill, tuple(steps))


def _name(scaler: Any) -> str:
    inner = getattr(scaler, "inner", None)
    return type(scaler if inner is None else inner).__name__


def _fill_of(scaler: Any) -> Singles | None:
    """What takes the place of a missing value, feature by feature."""
    if isinstance(scaler, MedianFilled):
        return scaler.medians_
    if type(scaler).__name__ != "SimpleImputer":
        return None
    values = np.asarray(scaler.statistics_, np.float64)
    marks_nan = isinstance(scaler.missing_values, float) and np.isnan(scaler.missing_values)
    if not marks_nan or scaler.add_indicator or np.isnan(values).any():
        raise ExportError("SimpleImputer is exported if it fills in NaN in every column and adds none; change it")
    return values.astype(np.float32)


def _numbers(values: Any, default: float, n: int) -> NDArray[np.float64]:
    return np.full(n, default) if values is None else np.asarray(values, np.float64)


def _standard(scaler: Any) -> Affine:
    n = scaler.n_features_in_
    center = _numbers(getattr(scaler, "mean_", None) if scaler.with_mean else None, 0.0, n)
    spread = _numbers(scaler.scale_ if scaler.with_std else None, 1.0, n)
    rounded = center.astype(np.float32)
    if not np.asarray(_transformed(scaler, rounded[None])).any():  # as from scikit-learn 1.8 on
        center, spread = rounded.astype(np.float64), spread.astype(np.float32).astype(np.float64)
    return Affine("standard", center, spread, (("Sub", center), ("Div", spread)))


def _minmax(scaler: Any) -> Affine:
    if scaler.clip:
        raise ExportError("MinMaxScaler(clip=True) cannot be exported, since no engine clips; train with clip=False")
    factor, offset = np.asarray(scaler.scale_, np.float64), np.asarray(scaler.min_, np.float64)
    low = -offset / factor
    return Affine("minmax", low, low + 1 / factor, (("Mul", factor), ("Add", offset)))


def _robust(scaler: Any) -> Affine:
    n = scaler.n_features_in_
    center = _numbers(scaler.center_ if scaler.with_centering else None, 0.0, n)
    spread = _numbers(scaler.scale_ if scaler.with_scaling else None, 1.0, n)
    return Affine("affine", 1 / spread, -center / spread, (("Sub", center), ("Div", spread)))


def _max_abs(scaler: Any) -> Affine:
    spread = np.asarray(scaler.scale_, np.float64)
    return Affine("affine", 1 / spread, np.zeros(scaler.n_features_in_), (("Div", spread),))


STEPS: dict[str, Callable[[Any], Step]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _minmax,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
    SymmetricLog.__name__: lambda _: SymLog(),
    NormalQuantiles.__name__: lambda scaler: Quantiles(scaler.quantiles_, float(scaler.std)),
}
"""Scalers that map each feature by itself, and the plain map of each."""


Prepare = Callable[[Singles], Singles]


def prepare_of(model: Any) -> Prepare:
    """The preparation itself, as a function of raw rows."""
    steps = [step for step in (*steps_of(model)[:-1], last_step(model).scaler_) if step not in (None, "passthrough")]
    largest = np.finfo(np.float32).max

    def prepare(rows: Singles) -> Singles:
        for step in steps:  # what is too large stays the largest number, so that the next step takes it
            rows = np.clip(_transformed(step, rows), -largest, largest).astype(np.float32)
        return rows

    return prepare


def _transformed(scaler: Any, rows: Singles) -> Any:
    """What a scaler makes of rows, whether or not it was fitted with names."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*valid feature names")
        return scaler.transform(rows)


def largest_left(
    prepare: Prepare | None, feature: NDArray[np.int64], threshold: NDArray[np.float64], n_features: int
) -> Singles:
    """For each question "is the scaled feature at most the threshold" the largest raw number that says yes.

    Infinite where every number says yes, minus infinity where none does.
    """
    if prepare is None:
        with np.errstate(over="ignore"):
            rounded = threshold.astype(np.float32)
        return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    asked = sorted(set(zip(feature.tolist(), threshold.tolist(), strict=True)))
    column = np.array([j for j, _ in asked], np.int64)
    # as a matrix with one row for each question about a feature
    row = np.arange(len(asked)) - np.searchsorted(column, column) if len(asked) else np.zeros(0, np.int64)
    shape = (int(row.max(initial=0)) + 1, n_features)
    limit, low, high = np.full(shape, -np.inf), np.full(shape, -LARGEST - 1), np.full(shape, LARGEST)
    limit[row, column] = [t for _, t in asked]
    for _ in range(33):  # low says yes (or is below all numbers), what is above high says no
        middle = (low + high + 1) >> 1
        yes = prepare(_numbers_of(middle)).astype(np.float64) <= limit
        low, high = np.where(yes, middle, low), np.where(yes, high, middle - 1)
    found = np.where(low < -LARGEST, -np.inf, np.where(low >= LARGEST, np.inf, _numbers_of(low))).astype(np.float32)
    by_question = dict(zip(asked, found[row, column], strict=True))
    keys = zip(feature.tolist(), threshold.tolist(), strict=True)
    return np.array([by_question[key] for key in keys], np.float32)


def _numbers_of(keys: NDArray[np.int64]) -> Singles:
    """Single-precision numbers by their place among all: 0 is 0, 1 the smallest above it, -1 the largest below it.

    Examples
    --------
    >>> _numbers_of(np.array([0, LARGEST, -LARGEST])).tolist() == [0.0, 3.4028234663852886e38, -3.4028234663852886e38]
    True
    """
    kept = np.clip(keys, -LARGEST, LARGEST)
    bits = np.where(kept >= 0, kept, 2**31 - kept).astype(np.uint32)
    return bits.view(np.float32)
