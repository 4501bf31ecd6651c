"""Law: a fit begins anew: nothing that an earlier one learned, saw or was told is left in the ranker.

The earlier fit has what the later one lacks: names of features and one feature more, weights, missing values,
categories, validation data, other parameters. What is there afterwards is compared attribute by attribute, private ones
too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goldens.variants import make
from laws.test_parameters import INNER, TEST, TRAIN, VALID, others
from ordino import Dataset
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class

PLAIN = TRAIN.select_queries(np.arange(5))
TIMES = {"seconds", "milliseconds"}
"""Keys of what was measured with a clock."""


def richer(data: Dataset, name: str) -> Dataset:
    """The same documents with all that a data set can have, as far as the ranker takes it."""
    cls, rng = ranker_class(name), np.random.default_rng(1)
    X = np.column_stack((data.X, rng.integers(0, 3, data.n_docs))).astype(np.float32)
    if cls().allows_nan:
        X[::5, 1] = np.nan
    kinds = {"kind": ("a", "b", "c")} if cls().takes_categories else None
    weights = rng.integers(1, 4, data.n_docs) if cls.uses_weights else None
    named = ("a", "b", "c", "d", "e", "kind")
    return Dataset(X, data.y, data.qid, feature_names=named, categories=kinds, weights=weights)


def told(value: Any) -> Any:
    """What an attribute holds, so that two of them can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items() if key not in TIMES}
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if hasattr(value, "__dict__") and type(value).__module__.startswith("ordino"):
        return type(value).__name__, told(vars(value))
    return type(value).__name__ if callable(value) or "0x" in repr(value) else repr(value)


def check_same(again: Any, fresh: Any) -> None:
    assert vars(again).keys() == vars(fresh).keys()
    for key, value in vars(fresh).items():
        assert told(vars(again)[key]) == told(value), key


@pytest.mark.parametrize("name", RANKERS)
def test_of_the_data_of_an_earlier_fit_nothing_is_left(name: str) -> None:
    changes = INNER.get(name, {}) | ({"resample": "queries"} if name == "rank-aggregation" else {})
    again, fresh = make(name, changes), make(name, changes)
    again.fit(richer(TRAIN, name), valid=richer(VALID, name))
    assert not hasattr(again, "feature_names_in_") or len(again.feature_names_in_) == 6
    check_same(again.fit(PLAIN), fresh.fit(PLAIN))
    assert again.predict(TEST).tolist() == fresh.predict(TEST).tolist()


CHOICES = [
    (name, parameter)
    for name in RANKERS
    for parameter, known in parameters_of(ranker_class(name)).items()
    if parameter not in ("warm_start", "verbose", "optimizer", "rate", "activation", "initializer", "metric", "profile")
    and name not in ("auto", "nested-ranker", "rank-aggregation", "rank-fusion")
    and (known.choices or "bool" in known.kinds or "missing" in parameter)
]
"""Parameters that say which of several things is learned."""


@pytest.mark.parametrize(("name", "parameter"), CHOICES)
def test_of_what_another_choice_learned_nothing_is_left(name: str, parameter: str) -> None:
    known = parameters_of(ranker_class(name))[parameter]
    other = "median" if parameter == "missing" else others(name, parameter, known)[-1 if parameter != "kernel" else 0]
    again, fresh = make(name, {parameter: other}).fit(PLAIN), make(name, {})
    again.set_params(**{parameter: getattr(fresh, parameter)})
    check_same(again.fit(PLAIN), fresh.fit(PLAIN))
