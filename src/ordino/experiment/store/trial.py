"""A trial: one ranker, one setting, one fold, one seed, and everything that came out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

PACKAGES = ("ordino", "numpy", "scipy", "scikit-learn", "numba", "torch", "lightgbm")
"""Whose versions a trial writes down, where they are installed."""

QUERY_COUNTS = ("n_empty", "n_tied", "n_short", "n_left_out")
"""What :func:`~ordino.metrics.evaluate` counts: queries with nothing relevant, with equal scores of different labels,
with fewer documents than the largest k, and left out of a mean."""

TUNED = ", tuned"
"""How the label of a ranker ends whose settings are chosen on validation data, unless it has a label of its own."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """One training and its measures; a row of the store.

    A trial that only served to choose a setting has been measured on validation data alone: its ``test`` and
    ``per_query`` are empty.
    """

    key: str
    """What makes the trial this one and no other; see :func:`trial_key`."""
    dataset: str
    """The name of the data."""
    fold: str
    ranker: str
    """The ranker's name on the command line."""
    label: str
    """What reports call it, such as "RankNet" or "RankNet, tuned"."""
    params: Mapping[str, Any]
    """The parameters that were set; all others had their defaults."""
    seed: int
    profile: str
    is_tuned: bool = False
    """Whether the setting was chosen on validation data, for this fold among others."""
    data: str = ""
    """A fingerprint of the fold; nothing in a trial of a store that was written before it was kept."""
    experiment: str = ""
    """The name of the plan that the trial belongs to."""
    versions: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    """When training began, in UTC."""
    train_seconds: float = 0.0
    score_seconds: float = 0.0
    valid: Mapping[str, float] = field(default_factory=dict)
    """The mean of each measure on validation data, if there were any."""
    test: Mapping[str, float] = field(default_factory=dict)
    """The mean of each measure on test data."""
    per_query: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """The value of each test query by measure, in the order of ``query_ids``; NaN where a query is left out."""
    query_ids: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))
    query_counts: Mapping[str, int] = field(default_factory=dict)
    """How many test queries a choice of the profile concerns, by the names of :data:`QUERY_COUNTS`; nothing in a trial
    of a store that was written before they were kept."""
    history: Sequence[Mapping[str, Any]] = ()
    """What happened in each epoch, round or generation, as far as the ranker tells."""
    feature_weights: Mapping[str, float] | None = None
    """What each feature weighs, for rankers that can say so."""


def trial_key(**parts: Any) -> str:
    """A name made of what a trial is; the order of the parts and of the parameters in them plays no role.

    Examples
    --------
    >>> one = trial_key(ranker="ranknet", params={"hidden": [8], "l2": 0.1}, seed=0)
    >>> one == trial_key(seed=0, ranker="ranknet", params={"l2": 0.1, "hidden": [8]})
    True
    >>> one == trial_key(seed=1, ranker="ranknet", params={"l2": 0.1, "hidden": [8]})
    False
    """
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def installed_versions() -> dict[str, str]:
    """The versions of what a trial runs on."""
    return {package: found for package in PACKAGES if (found := _version(package))}


@lru_cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
