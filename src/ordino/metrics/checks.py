"""What the kernels rely on, checked before them: lengths, offsets, scores that order, labels that have a gain."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets, query_numbers
from ordino.errors import DataError

if TYPE_CHECKING:
    from ordino.metrics.metric import Metric
    from ordino.metrics.profiles import Profile

LARGEST_LABEL = 1000  # 2^label must stay far from overflow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def as_column(name: str, values: ArrayLike) -> Floats:
    """One number for each document, as contiguous float64."""
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as numbers ({error})") from None
    if column.ndim != 1:
        raise DataError(f"{name} has shape {column.shape}; give one number for each document")
    return np.require(column, requirements=["C", "W"])  # a read-only array would have the kernels compiled once more


def as_offsets(offsets: ArrayLike, n_docs: int) -> Ints:
    """Where queries begin and end, as int64, rising from 0 to ``n_docs``; writable, as the kernels want it."""
    return np.require(check_offsets(offsets, n_docs), np.int64, ["C", "W"])


def check_scores(scores: Floats, n_docs: int) -> None:
    """Refuse scores that do not make an order of the documents."""
    if len(scores) != n_docs:
        raise DataError(f"scores has {len(scores)} entries but y has {n_docs}; give one score for each document")
    if n_docs and isnan(scores.min()):
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise DataError(f"scores has NaN in row {row}, which has no place in an order; give every document a number")


def usable_labels(y: Floats, metrics: Sequence[Metric], profile: Profile) -> Floats:
    """Labels that the metrics can use in this profile, or the reason why they cannot."""
    if not len(y):
        return y
    low, high = float(y.min()), float(y.max())
    if not (isfinite(low) and isfinite(high)):
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"y has {y[row]} in row {row}; every label must be a finite number")
    if profile.gain == "binary":
        return y
    for metric in metrics:
        if metric.measure.uses_gain and low < 0 and profile.negative == "refuse":
            raise _refused(y, low, f"{metric} in profile {profile.name!r} needs labels from 0; shift the labels")
        if metric.name == "err":
            _check_err(y, high, metric, profile)
        elif metric.measure.uses_gain and profile.gain != "linear" and high > LARGEST_LABEL:
            hint = "use smaller labels, or a profile with linear gain such as 'sklearn'"
            raise _refused(y, high, f"{metric} needs its gain, and 2^{high:g} is too large for a float; {hint}")
    return np.maximum(y, 0.0) if low < 0 and profile.negative == "zero" else y


def _check_err(y: Floats, high: float, metric: Metric, profile: Profile) -> None:
    most = 1.0 if profile.err_chance == "label" else err_max(metric, profile)
    if high > most:
        hint = "divide the labels" if profile.err_chance == "label" else f"write it as 'err(max={np.ceil(high):g})'"
        raise _refused(y, high, f"{metric} in profile {profile.name!r} takes labels up to {most:g}; {hint}")


def _refused(y: Floats, label: float, why: str) -> DataError:
    return DataError(f"y has {label:g} in row {int(np.flatnonzero(y == label)[0])}, but {why}")


def err_max(metric: Metric, profile: Profile) -> float:
    """The highest label that ERR expects: the metric's own, else the profile's."""
    return metric.value_of("max") or profile.err_max


def docno_order(doc_ids: ArrayLike, offsets: Ints) -> NDArray[np.intp]:
    """Rows of each query by ascending document id, as text; the kernel reads them backward."""
    names = np.asarray(doc_ids)
    if names.shape != (offsets[-1],):
        raise DataError(
            f"doc_ids has shape {names.shape} but y has {offsets[-1]} entries; give one id for each document"
        )
    return np.lexsort((names.astype(str), query_numbers(offsets)))
