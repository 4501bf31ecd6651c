"""A trial: one ranker, one setting, one fold, one seed, and all results."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino import versions

Values = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")

PACKAGES = (
    "ordino", "numpy", "scipy", "scikit-learn", "numba", "torch", "lightgbm", "xgboost", "xgboost-cpu", "catboost",
)  # fmt: skip
"""The packages whose versions a trial records, where they are installed."""

QUERY_COUNTS = ("n_empty", "n_tied", "n_short", "n_left_out")
"""What :func:`~ordino.metrics.evaluate` counts: queries with nothing relevant, with equal scores of different labels,
with fewer documents than the largest k, and left out of a mean."""

TUNED = ", tuned"
"""How the label of a ranker ends whose settings are chosen on validation data, unless it has a label of its own."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TrialInfo:
    """A trial without its per-query values and history."""

    key: str
    """What makes the trial this one and no other; see :func:`trial_key`."""
    dataset: str
    fold: str
    ranker: str
    """The ranker's name on the command line."""
    label: str
    """What reports call it, such as "RankNet" or "RankNet, tuned"."""
    params: Mapping[str, Any]
    """The parameters that were set, and ``preset`` if there was one; all others had their defaults."""
    seed: int
    profile: str
    is_tuned: bool = False
    """Whether the setting was chosen on validation data, for this fold among others."""
    is_random: bool = True
    """Whether another seed might have given another ranker; True in a store that was written before it was kept."""
    data: str = ""
    """A hash of the fold; empty in a store that was written before it was kept."""
    chosen_by: str = ""
    """The metric that chose rounds, epochs and settings on validation data; empty in an older store."""
    experiment: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    """When training began, in UTC."""
    train_seconds: float = 0.0
    """Seconds of learning; imports and compiling came before."""
    score_seconds: float = 0.0
    valid: Mapping[str, float] = field(default_factory=dict)
    """The mean of each metric on validation data, if there were any."""
    test: Mapping[str, float] = field(default_factory=dict)
    """The mean of each metric on test data; empty in a trial that only served to choose a setting."""
    query_counts: Mapping[str, int] = field(default_factory=dict)
    """How many test queries a choice of the profile concerns; empty in a store that was written before it was kept."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Trial(TrialInfo):
    """One complete trial, as :meth:`Store.add` writes it."""

    per_query: Mapping[str, Values] = field(default_factory=dict)
    """The value of each test query by metric, in the order of ``query_ids``; NaN where a query is left out."""
    query_ids: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))
    parts: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    """The values of queries of other parts ("train", "valid") by metric, where the plan asks for them."""
    history: Sequence[Mapping[str, Any]] = ()
    """What happened in each epoch, round or generation, as far as the ranker records it."""
    feature_weights: Mapping[str, float] | None = None
    """The weight of each feature, for rankers that have weights."""


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The items of each key, keys in the order in which they first come.

    Examples
    --------
    >>> grouped([("b", 1), ("a", 2), ("b", 3)])
    {'b': [1, 3], 'a': [2]}
    """
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


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
    return versions.installed_versions(PACKAGES)
