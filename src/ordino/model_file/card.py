"""The card of a model: what it is, what it learned from and by which rules, for people and for other programs."""

import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.source import fingerprint
from ordino.plain import as_json
from ordino.rankers import NAMES


def make_card(
    ranker: Any, *, data: Dataset | None, valid: Dataset | None, notes: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Gather the card of a fitted ranker or of a pipeline that ends in one."""
    last = last_step(ranker)
    params = {key: as_json(value) for key, value in last.get_params(deep=False).items()}
    names = getattr(ranker, "feature_names_in_", None)
    scaler = getattr(last, "scaler_", None)
    packages = ["ordino", "numpy", "scikit-learn", *(name for name in ("torch", "lightgbm") if name in sys.modules)]
    return {
        "ranker": type(last).__name__,
        "name": NAMES.get(type(last).__name__),
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
        key.removesuffix("_"): as_json(value)
        for key, value in vars(ranker).items()
        if key.endswith("_") and not key.startswith("_") and isinstance(value, bool | int | float | str | np.number)
        if not (isinstance(value, str) and len(value) > 2000)
    }
    history = getattr(ranker, "history_", None)
    if history:
        figures["last_history"] = as_json(history[-1])
    return figures
