"""What a model file may name: classes of one fixed table, so that a file can never have anything else imported.

And what earlier versions wrote under other names: parameters, values, and histories of other shapes.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from ordino.errors import ModelFileError, unknown_name
from ordino.rankers import RANKERS

IMPORTED = ("ImportedLinear", "ImportedStumps", "ImportedTrees", "ImportedNetwork")

ESTIMATORS: Mapping[str, str] = MappingProxyType(
    {
        **{entry.cls: entry.module for entry in RANKERS.values()},
        **dict.fromkeys(IMPORTED, "ordino.rankers.imported"),
        **dict.fromkeys(("QueryMax", "MinMax", "ZScore", "NormalQuantiles", "SymmetricLog"), "ordino.data.scaling"),
        **dict.fromkeys(("QueryRank", "QueryLog", "Hinge", "Unscaled", "Joined"), "ordino.data.query_features"),
        "MedianFilled": "ordino.data.filling",
        "OneHot": "ordino.data.one_hot",
        "TorchRanker": "ordino.networks.torch_ranker",
        "Pipeline": "sklearn.pipeline",
        "Nystroem": "sklearn.kernel_approximation",
        "SimpleImputer": "sklearn.impute",
        **dict.fromkeys(
            (
                "StandardScaler",
                "MinMaxScaler",
                "MaxAbsScaler",
                "RobustScaler",
                "QuantileTransformer",
                "OneHotEncoder",
                "OrdinalEncoder",
                "FunctionTransformer",
            ),
            "sklearn.preprocessing",
        ),
        "ColumnTransformer": "sklearn.compose",
    }
)
"""Modules of what has parameters and learned attributes: rankers, scalers, and what stands before them."""

RECORDS: Mapping[str, str] = MappingProxyType(
    {"Layer": "ordino.layers", "Stump": "ordino.forms", "PairNetwork": "ordino.order.network"}
)
"""Modules of named tuples and frozen data classes: the parts of forms."""

PLAIN_RECORDS = ("Generation", "PathPoint")
"""Records of earlier versions whose fields are now the entries of a dict."""

PRIVATE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SimpleImputer": ("_fit_dtype", "_fill_dtype"),
        "Nystroem": ("_n_features_out",),
        "OneHotEncoder": ("_infrequent_enabled", "_drop_idx_after_grouping", "_n_features_outs"),
        "OrdinalEncoder": ("_infrequent_enabled", "_missing_indices"),
        "ColumnTransformer": ("_columns", "_transformer_to_input_indices", "_remainder"),
    }
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


def present_params(cls: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an old file under their present names and with their present values."""
    renamed, dropped = getattr(cls, "renamed", {}), getattr(cls, "dropped", ())
    kept = {name: value for name, value in params.items() if name not in dropped}
    present = {renamed[name]: value for name, value in kept.items() if name in renamed}
    present |= {name: value for name, value in kept.items() if name not in renamed}
    for name, changed in getattr(cls, "renamed_values", {}).items():
        if isinstance(present.get(name), str):
            present[name] = changed.get(present[name], present[name])
    return present


def present_learned(learned: Mapping[str, Any]) -> dict[str, Any]:
    """What a ranker learned, with its history as a list of dicts.

    Examples
    --------
    >>> present_learned({"coef_": 1, "valid_history_": [0.5, 0.75]})
    {'coef_': 1, 'history_': [{'round': 1, 'valid': 0.5}, {'round': 2, 'valid': 0.75}]}
    """
    present = {name: value for name, value in learned.items() if name not in _OLD_HISTORIES}
    rows = [dict(row) if isinstance(row, dict) else row for row in present.get("history_", [])]
    if rows and isinstance(rows[0], list):  # coordinate ascent: by restart the metric after each sweep
        rows = [
            {"restart": restart, "sweep": sweep, "train": value}
            for restart, values in enumerate(rows)
            for sweep, value in enumerate(values)
        ]
    elif rows and set(rows[0]) == {"best", "mean", "valid"}:  # generations were not numbered
        rows = [{"generation": number} | row for number, row in enumerate(rows)]
    for name, (counter, column, first) in _OLD_HISTORIES.items():
        for number, value in enumerate(learned.get(name, []), first):
            row = next((row for row in rows if row.get(counter) == number), None)
            if row is None:
                rows.append(row := {counter: number})
            row |= value if isinstance(value, dict) else {column: value}
    if rows:
        present["history_"] = [
            {("valid" if key == "reached" else key): value for key, value in row.items() if not _is_nan(value)}
            for row in rows
        ]
    return present


_OLD_HISTORIES = {
    "loss_history_": ("round", "loss", 0),
    "path_": ("step", "objective", 1),
    "mistakes_": ("epoch", "mistakes", 1),
    "stage_values_": ("stage", "valid", 1),
    "valid_history_": ("round", "valid", 1),
}
"""Lists of numbers that are now columns of ``history_``: what counts the rows, the column's name, the first number."""


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
