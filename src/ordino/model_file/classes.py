"""The classes that a model file may name: one fixed table, so that a file can never have anything else imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

from ordino.errors import ModelFileError, unknown_name
from ordino.rankers import RANKERS

ESTIMATORS: Mapping[str, str] = MappingProxyType(
    {
        **{entry.cls: entry.module for entry in RANKERS.values()},
        **dict.fromkeys(
            ("QueryMax", "MinMax", "ZScore", "NormalQuantiles", "SymmetricLog"),
            "ordino.data.scaling",
        ),
        "Pipeline": "sklearn.pipeline",
        "Nystroem": "sklearn.kernel_approximation",
        "SimpleImputer": "sklearn.impute",
        **dict.fromkeys(
            ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer"),
            "sklearn.preprocessing",
        ),
    }
)
"""Modules of what has parameters and learned attributes: rankers, scalers, and what stands before them."""

RECORDS: Mapping[str, str] = MappingProxyType(
    {
        "Layer": "ordino.layers",
        "Stump": "ordino.forms",
        "PairNetwork": "ordino.order.network",
    }
)
"""Modules of named tuples and frozen data classes: the parts of forms."""

PLAIN_RECORDS = ("Generation", "PathPoint")
"""Records of earlier versions whose fields are now the entries of a dict."""

PRIVATE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"SimpleImputer": ("_fit_dtype", "_fill_dtype"), "Nystroem": ("_n_features_out",)}
)
"""What scikit-learn learns under a private name and needs again."""

REMOVED: Mapping[str, str] = MappingProxyType({"NoScaling": "scaling=None", "LogCounts": "scaling='symlog'"})
"""Classes that older model files may name, and what to train with instead."""


def find_class(table: Mapping[str, str], name: object, own: Sequence[type] = ()) -> type[Any]:
    """The class of this name, from the user's own ones or from the table.

    Examples
    --------
    >>> find_class(RECORDS, "Layer").__name__
    'Layer'
    >>> find_class(ESTIMATORS, "os.system")
    Traceback (most recent call last):
    ordino.errors.ModelFileError: unknown class 'os.system'; a ranker of your own is loaded with rankers=[...]
    """
    for cls in own:
        if cls.__name__ == name:
            return cls
    if isinstance(name, str) and name in REMOVED:
        raise ModelFileError(f"{name} is no longer part of Ordino; train the model again with {REMOVED[name]}")
    if not isinstance(name, str) or name not in table:
        sentence, _, hint = str(unknown_name("class", name, table)).partition("; ")
        advice = hint if hint.startswith("did you mean") else "a ranker of your own is loaded with rankers=[...]"
        raise ModelFileError(f"{sentence}; {advice}")
    found: type[Any] = getattr(import_module(table[name]), name)
    return found
