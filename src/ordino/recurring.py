"""Parameters that recur in many rankers, each with one name, one meaning and one check."""

from typing import Any

from ordino.checks import check_n_jobs
from ordino.data.scaling import make_scaler
from ordino.metrics import find_profile, parse_metric
from ordino.parameters import Choices, param


def metric_param(default: str = "ndcg@10", text: str = "") -> Any:
    """The parameter ``metric``: a name such as ``ndcg@10``."""
    return param(
        default, text or "The metric for model selection, and the one that `score` computes.", check=parse_metric
    )


def profile_param() -> Any:
    """The parameter ``profile``."""
    return param("standard", "The metric's conventions: a name in `PROFILES`.", check=find_profile)


def scaling_param(default: str | None = None, text: str = "") -> Any:
    """The parameter ``scaling``."""
    words = text or "Feature scaling: a name in `SCALERS`, several joined by +, or None for no scaling."
    return param(default, words, check=make_scaler, space=Choices(("quantile", "zscore", "minmax")))


def missing_param() -> Any:
    """The parameter ``missing``."""
    text = "What takes the place of missing values (NaN): median, that of the training data; or None, to refuse them."
    return param(None, text, choices=("median",))


def seed_param(text: str = "Random seed; the same seed gives the same ranker.", high: int | None = None) -> Any:
    """The parameter ``seed``."""
    return param(0, text, low=0, high=high)


def n_jobs_param() -> Any:
    """The parameter ``n_jobs``."""
    text = "Number of threads; None chooses by work and free processors. The result is the same."
    return param(None, text, low=1, check=check_n_jobs)


def verbose_param() -> Any:
    """The parameter ``verbose``."""
    return param(False, "Show progress in the terminal.")


def patience_param(default: int | None, text: str) -> Any:
    """The parameter ``patience``."""
    return param(default, text, low=1)


def warm_start_param(text: str = "Continue from where the last `fit` stopped.") -> Any:
    """The parameter ``warm_start``."""
    return param(False, text)
