"""Whether what was loaded can score without harm: compiled loops trust sizes, so a file's are checked before them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ordino.errors import ModelFileError
from ordino.model_file.card import last_step, steps_of


def check_sound(model: Any) -> None:
    """Refuse a model whose parts do not fit together; of a combination, every part is looked at."""
    from ordino.ranker import Ranker

    if not isinstance(last_step(model), Ranker):
        raise ModelFileError("the file holds no ranker; get it again")
    for step in steps_of(model):
        _check_part(step)


def _check_part(part: Any) -> None:
    from ordino.data.scaling import Scaler
    from ordino.evolve.formula import FUNCTIONS
    from ordino.order import PairNetwork
    from ordino.ranker import Ranker

    n = getattr(part, "n_features_in_", None)
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise _unfit(part, "n_features_in_")
    names = getattr(part, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n,):
        raise _unfit(part, "feature_names_in_")
    if isinstance(part, Ranker):
        scaler = part.scaler_
        if scaler is not None:
            if not isinstance(scaler, Scaler) or scaler.n_features_in_ != n:
                raise _unfit(part, "scaler_")
            _check_part(scaler)
    for key, value in vars(part).items():
        if key == "quantiles_" and isinstance(part, Scaler):
            fits = value.dtype == np.float64 and value.ndim == 2 and len(value) == n and value.shape[1] > 1
        elif key == "columns_":
            fits = value.dtype == np.int64 and value.ndim == 1 and all(0 <= column < n for column in value)
        elif key == "coef_":
            fits = value.dtype == np.float64 and value.ndim == 1 and (len(value) == n or hasattr(part, "quadratic"))
        elif key == "layers_":
            fits = are_layers(value) and (len(value[0].W) == n or hasattr(part, "features_"))
        elif key == "network_":
            fits = isinstance(value, PairNetwork) and value.n_features == n
        elif key == "stumps_":
            fits = all(isinstance(stump.feature, int) and 0 <= stump.feature < n for stump in value)
        elif key == "program_":
            fits = all(isinstance(word, str) and (not word.isdigit() or int(word) < n) for word in value)
            fits = fits and _is_one_tree([FUNCTIONS[word].arity if word in FUNCTIONS else 0 for word in value])
        else:
            for inner in value if isinstance(value, list | tuple) else [value]:
                if isinstance(inner, Ranker) and hasattr(inner, "n_features_in_"):
                    _check_part(inner)
            continue
        if not fits:
            raise _unfit(part, key)


def are_layers(layers: Any) -> bool:
    """Whether layers follow each other and end in one output."""
    return (
        isinstance(layers, list)
        and len(layers) > 0
        and all(W.dtype == b.dtype == np.float32 and W.ndim == 2 and b.shape == W.shape[1:] for W, b in layers)
        and all(one.W.shape[1] == two.W.shape[0] for one, two in pairwise(layers))
        and layers[-1].W.shape[1] == 1
    )


def _is_one_tree(arities: list[int]) -> bool:
    """Whether nodes in prefix order, given by how many arguments each has, are exactly one tree."""
    missing = 1
    for arity in arities:
        if missing == 0:
            return False
        missing += arity - 1
    return missing == 0


def _unfit(part: Any, key: str) -> ModelFileError:
    return ModelFileError(f"{key} of its {type(part).__name__} does not fit the rest; get the file again")
