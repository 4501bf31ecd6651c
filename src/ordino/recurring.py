"""Parameters that recur in many rankers, each with one name, one meaning and one check."""

from typing import Any

from ordino.data.scaling import make_scaler
from ordino.metrics import find_profile, parse_metric
from ordino.parameters import Choices, param


def metric_param(default: str = "ndcg@10", text: str = "") -> Any:
    """The parameter ``metric``: a name such as ``ndcg@10``."""
    return param(
        default, text or "The metric by which the best is chosen, and which `score` gives.", check=parse_metric
    )


def profile_param() -> Any:
    """The parameter ``profile``."""
    return param(
        "standard", "The conventions by which the metric is computed, a name of `PROFILES`.", check=find_profile
    )


def scaling_param(default: str | None = None, text: str = "") -> Any:
    """The parameter ``scaling``."""
    words = text or "How features are scaled first, a name of `SCALERS`; None leaves them as they are."
    return param(default, words, check=make_scaler, space=Choices(("quantile", "zscore", "minmax")))


def seed_param(text: str = "The same seed gives the same ranker.", high: int | None = None) -> Any:
    """The parameter ``seed``."""
    return param(0, text, low=0, high=high)


def n_jobs_param() -> Any:
    """The parameter ``n_jobs``."""
    return param(None, "Threads; None takes all cores. The result does not depend on it.", low=1)


def verbose_param() -> Any:
    """The parameter ``verbose``."""
    return param(False, "Show progress on a terminal.")


def patience_param(default: int | None, text: str) -> Any:
    """The parameter ``patience``."""
    return param(default, text, low=1)


def warm_start_param(text: str = "Go on from where the last `fit` stopped.") -> Any:
    """The parameter ``warm_start``."""
    return param(False, text)
