"""``options`` of rankers of trees: what goes to LightGBM under its own name, and what the ranker sets itself.

LightGBM says nothing of a name that it does not know, and the ranker's own settings come first: either would be an
option without effect, so it is refused.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, NoneType

import numpy as np

from ordino.boosting.library import text
from ordino.errors import ParameterError, unknown_name

VALUES = (NoneType, bool, int, float, str, Path, list, tuple, set, np.ndarray, np.generic)
"""What LightGBM can read; a mapping would be cut at its first space."""

OURS: Mapping[str, str] = MappingProxyType(
    {
        "learning_rate": "learning_rate",
        "num_leaves": "leaves",
        "min_data_in_leaf": "min_leaf",
        "lambda_l2": "l2",
        "feature_fraction": "feature_share",
        "bagging_fraction": "query_share",
        "bagging_freq": "query_share",
        "bagging_by_query": "query_share",
        "seed": "seed",
        "num_threads": "n_jobs",
        "num_iterations": "rounds",
        "early_stopping_round": "patience",
        "metric": "metric",
        "eval_at": "metric",
        "verbosity": "verbose",
        "lambdarank_truncation_level": "truncation",
        "label_gain": "gain",
    }
)
"""LightGBM's parameters that the ranker sets, and the ranker's own."""


def check_options(given: object) -> None:
    """Refuse anything but a mapping of LightGBM's parameters that the ranker does not set itself.

    Examples
    --------
    >>> check_options({"max_leaves": 7})
    Traceback (most recent call last):
    ordino.errors.ParameterError: options={'max_leaves': ...}; the ranker sets it by its own parameter leaves
    """
    if not isinstance(given, Mapping):
        raise ParameterError(f"options={given!r}; give a mapping of LightGBM's parameters, or None")
    main_names = _main_names()
    for name, value in ((str(name), value) for name, value in given.items()):
        main = main_names.get(name, name)
        if main in OURS:
            raise ParameterError(f"options={{{name!r}: ...}}; the ranker sets it by its own parameter {OURS[main]}")
        if main == "objective":
            raise ParameterError(f"options={{{name!r}: ...}}; the ranker has its own; ordino.Scorer takes any loss")
        if name not in main_names:
            raise unknown_name("LightGBM parameter in options:", name, main_names)
        if not isinstance(value, VALUES):
            raise ParameterError(f"options={{{name!r}: {value!r}}}; LightGBM takes a number, a text or a list of them")


@lru_cache(maxsize=1)
def _main_names() -> dict[str, str]:
    """LightGBM's name of each parameter, by all names that it has."""
    known: dict[str, list[str]] = json.loads(text("DumpParamAliases"))
    return {alias: name for name, aliases in known.items() for alias in (name, *aliases)}
