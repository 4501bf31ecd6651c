"""Whether what was loaded can score without harm: compiled loops trust sizes, so every part is asked before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordino.errors import ModelFileError
from ordino.forms import require
from ordino.model_file.card import last_step, steps_of


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together; a ranker asks its form, a combination each of its parts."""
    from ordino.ranker import Ranker

    if not isinstance(last_step(model), Ranker):
        raise ModelFileError("the file holds no ranker; get it again")
    for step in steps_of(model):
        check_part(step)


def check_part(part: Any) -> None:
    """Refuse a ranker or a scaler that is not whole."""
    from ordino.data.scaling import Scaler
    from ordino.ranker import Ranker

    n = getattr(part, "n_features_in_", None)
    require(isinstance(n, int) and not isinstance(n, bool) and n >= 0, "n_features_in_")
    names = getattr(part, "feature_names_in_", None)
    require(names is None or np.shape(names) == (n,), "feature_names_in_")
    if isinstance(part, Ranker):
        scaler = part.scaler_
        if scaler is not None:
            require(isinstance(scaler, Scaler) and scaler.n_features_in_ == n, "scaler_")
            check_part(scaler)
        part.form().check()
    elif isinstance(part, Scaler) and hasattr(part, "quantiles_"):
        q = part.quantiles_
        require(q.dtype == np.float64 and q.ndim == 2 and len(q) == n and q.shape[1] > 1, "quantiles_")
