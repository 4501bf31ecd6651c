"""The card of a model: what it is, what it learned from and by which rules, for people and for other programs."""

import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.source import fingerprint
from ordino.rankers import RANKERS


def make_card(
    ranker: Any, *, data: Dataset | None, valid: Dataset | None, notes: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Gather the card of a fitted ranker or of a pipeline that ends in one."""
    last = last_step(ranker)
    params = {key: _plain(value) for key, value in last.get_params(deep=False).items()}
    names = getattr(ranker, "feature_names_in_", None)
    scaler = getattr(last, "scaler_", None)
    packages = ["ordino", "numpy", "scikit-learn", *(name for name in ("torch", "lightgbm") if name in sys.modules)]
    return {
        "ranker": type(last).__name__,
        "name": next((name for name, entry in RANKERS.items() if entry.cls == type(last).__name__), None),
        "form": form_of(ranker),
        "steps": [type(step).__name__ for step in steps_of(ranker)],
        "parameters": params,
        "features": {"count": int(ranker.n_features_in_), "names": None if names is None else [*map(str, names)]},
        "scaling": None if scaler is None else type(scaler).__name__,
        "measure": {"metric": params.get("metric"), "profile": params.get("profile")},
        "seed": params.get("seed"),
        "learned": _figures(last),
        "data": None if data is None else describe(data),
        "valid": None if valid is None else describe(valid),
        "notes": dict(notes or {}),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


def steps_of(ranker: Any) -> list[Any]:
    """The steps of a pipeline; a ranker alone is its own step."""
    return [step for _, step in ranker.steps] if hasattr(ranker, "steps") else [ranker]


def last_step(ranker: Any) -> Any:
    """The ranker at the end of a pipeline, or the ranker itself."""
    return steps_of(ranker)[-1]


def form_of(ranker: Any) -> str:
    """How scores come about: linear, stumps, trees, network, pairs (which are sorted), or other."""
    return "other" if hasattr(ranker, "steps") else str(ranker.form().kind)


def describe(data: Dataset) -> dict[str, Any]:
    """What a data set was: its fingerprint, its size, its labels."""
    levels = np.unique(data.y)
    return {
        "fingerprint": fingerprint(data),
        "documents": data.n_docs,
        "queries": data.n_queries,
        "labels": {"smallest": float(levels[0]), "largest": float(levels[-1]), "levels": len(levels)},
    }


def _figures(ranker: Any) -> dict[str, Any]:
    """What training left behind that is one number or one short text, and the last row of its history."""
    figures = {
        key.removesuffix("_"): _plain(value)
        for key, value in vars(ranker).items()
        if key.endswith("_") and not key.startswith("_") and isinstance(value, bool | int | float | str | np.number)
        if not (isinstance(value, str) and len(value) > 2000)
    }
    history = getattr(ranker, "history_", None)
    if history:
        figures["last_history"] = _plain(history[-1])
    return figures


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has no word for is told by its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else repr(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return re.sub(r" at 0x\w+", "", " ".join(repr(value).split()))  # where a function lies says nothing of the model
