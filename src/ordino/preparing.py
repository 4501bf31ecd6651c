"""From what was given to what a ranker learns from: checked, with a warning if it teaches nothing, and scaled."""

import warnings
from typing import Any

import numpy as np

from ordino.data.columns import check_names, check_no_nan
from ordino.data.dataset import Dataset
from ordino.data.filling import make_preparation
from ordino.data.frames import check_no_categories
from ordino.data.on_disk import transformed
from ordino.data.scaler import Scaler
from ordino.data.scaling import make_scaler
from ordino.division import Divided
from ordino.errors import DataError, NothingToLearnWarning


def check_learnable(
    ranker: Any, data: Dataset | Divided, held_out: Dataset | Divided | None, *, by_labels: bool
) -> None:
    """Refuse data that this ranker cannot learn from, and warn of labels that it learns nothing from."""
    who, warned_at = type(ranker).__name__, 4  # whoever called the ``fit`` that called ``_prepare``
    if data.n_docs == 0:
        raise DataError("there are no documents to learn from; check how the data was selected")
    if data.n_features == 0:
        words = f"0 feature(s) (shape=({data.n_docs}, 0)) while a minimum of 1 is required"  # as scikit-learn says
        raise DataError(f"there are no features to learn from: {words}; check which columns were chosen")
    if not ranker.takes_categories:
        check_no_categories(data.categories, who)
    ranker._check_nan(data, "X")
    if data.weights is not None and not data.weights.any():
        raise DataError("all weights are zero, so nothing counts; give at least one document a weight above 0")
    if data.weights is not None and not ranker.uses_weights:
        text = f"{who} does not use document weights; every document counts the same"
        warnings.warn(text, UserWarning, stacklevel=warned_at)
    if by_labels and (why := why_nothing_is_learned(data)):
        warnings.warn(f"{who}: {why}", NothingToLearnWarning, stacklevel=warned_at)
    if held_out is not None:
        if held_out.n_docs == 0:
            raise DataError("valid has no documents; leave it out, or check how it was selected")
        ranker._check_nan(held_out, "valid")
        if held_out.n_features != data.n_features:
            raise DataError(f"X has {data.n_features} features but valid has {held_out.n_features}; give both the same")
        check_names(data.feature_names, held_out.feature_names, "valid: ")


def why_nothing_is_learned(data: Dataset | Divided) -> str:
    """What is wrong with data that teaches nothing; an empty text if some query has two different labels."""
    if data.counts.max() == 1 and data.n_docs > 1:
        return f"each of the {data.n_docs} rows is a query of its own, so there is nothing to rank; check qid"
    if isinstance(data, Divided):
        differ = bool(data.pairs.any())
    else:
        differ = bool((data.y[1:] != data.y[:-1])[data.query_number[1:] == data.query_number[:-1]].any())
    return "" if differ else "no query has two different labels, so nothing can be learned; check y and qid"


def refuse_nan(data: Dataset | Divided, name: str, who: str) -> None:
    """Refuse missing values; those of divided data are looked for by those who have it."""
    if isinstance(data, Divided):
        data.check_no_nan(name, who)
    else:
        check_no_nan(data, name, who)


def without_weights(data: Any) -> Any:
    """The data for a ranker that does not use weights, nor shall those that it starts from."""
    if data.weights is None:
        return data
    return data.unweighted() if isinstance(data, Divided) else data.with_weights(np.ones(data.n_docs))


def fit_scaler(ranker: Any, data: Dataset | Divided) -> Scaler | None:
    """What the ranker's parameters ``missing`` and ``scaling`` make of features, learned from this data."""
    scaling = getattr(ranker, "scaling", None)
    scaler = make_preparation(getattr(ranker, "missing", None), None if scaling is None else make_scaler(scaling))
    if scaler is None:
        return None
    return scaler.fit_elsewhere(data) if isinstance(data, Divided) else scaler.fit(data)


def scaled_by(scaler: Scaler | None, data: Any) -> Any:
    """The data with scaled features, where it is: here, on disk, or divided; None stays None."""
    if scaler is None or data is None:
        return data
    return data.scaled(scaler) if isinstance(data, Divided) else transformed(scaler, data)
