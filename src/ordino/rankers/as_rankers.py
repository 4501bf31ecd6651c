"""The rankers inside a ranker: given as rankers, or by their names on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from ordino.errors import ParameterError
from ordino.forms import require
from ordino.ranker import Ranker
from ordino.rankers import ranker_class

RankerLike = Ranker | str
"""A ranker, or the name of one with its defaults."""


def as_rankers(given: RankerLike | Sequence[RankerLike]) -> list[Ranker]:
    """Fresh copies of one ranker or several.

    Examples
    --------
    >>> as_rankers("ranksvm")
    [RankSVM()]
    """
    several = [given] if isinstance(given, str | Ranker) else given
    if not isinstance(several, Sequence) or not several:
        raise ParameterError(f"ranker={given!r}; give a ranker, the name of one, or a list of these")
    return [_as_ranker(one) for one in several]


def _as_ranker(given: object) -> Ranker:
    if isinstance(given, str):
        return ranker_class(given)()
    if isinstance(given, Ranker):
        fresh: Ranker = clone(given)
        return fresh
    raise ParameterError(f"ranker={given!r} is not a ranker; give one of ours, or its name such as 'ranknet'")


def all_allow_nan(given: RankerLike | Sequence[RankerLike]) -> bool:
    """Whether every one of the rankers can use data with missing values."""
    return all(ranker.allows_nan for ranker in as_rankers(given))


def check_rankers(given: Any) -> None:
    """Refuse what names or holds no ranker."""
    as_rankers(given)


def check_parts(rankers: Any, n_features: int) -> None:
    """Refuse fitted rankers inside a ranker that are not sound, or that saw other features."""
    require(isinstance(rankers, list) and rankers, "rankers_")
    for ranker in rankers:
        require(isinstance(ranker, Ranker) and getattr(ranker, "n_features_in_", None) == n_features, "rankers_")
        ranker.form().check()
