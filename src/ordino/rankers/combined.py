"""Rankers made of other rankers, given as objects or by name."""

from collections.abc import Sequence
from typing import Any

from ordino.errors import ParameterError
from ordino.estimators import clone
from ordino.forms import require
from ordino.parameters import learned, param
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
    for one in several:
        if not isinstance(one, str | Ranker):
            raise ParameterError(f"ranker={one!r} is not a ranker; give a ranker, or a name such as 'ranknet'")
    return [ranker_class(one)() if isinstance(one, str) else clone(one) for one in several]


def network_of_chapter_5() -> Ranker:
    """DeepNet as published, with the pairs of the thesis's chapter 5: what its nested stages and members are."""
    return ranker_class("deepnet").as_published(n_pairs=100_000, n_valid_pairs=50_000)


def ranker_param(text: str) -> Any:
    """The parameter ``ranker``."""
    return param("ranknet", text, check=as_rankers, positional=True)


class CombinedRanker(Ranker):
    """A ranker made of those in ``ranker``; it accepts the data that all of them accept."""

    uses_weights = True  # if its rankers do; those that do not warn

    rankers_: list[Ranker] = learned()

    ranker: RankerLike | Sequence[RankerLike] = ranker_param("A ranker or its name, or a list of these.")

    @property
    def allows_nan(self) -> bool:  # type: ignore[override]
        """Whether all rankers can use data with missing values, or fill them in."""
        return all(one.allows_nan or one.get_params(deep=False).get("missing") for one in as_rankers(self.ranker))

    @property
    def takes_categories(self) -> bool:  # type: ignore[override]
        """Whether all rankers can use categorical features."""
        return all(ranker.takes_categories for ranker in as_rankers(self.ranker))

    @property
    def is_random(self) -> bool:
        """Whether its ranker is; rankers in a list keep their own seeds, so that another seed changes nothing."""
        return isinstance(self.ranker, str | Ranker) and as_rankers(self.ranker)[0].is_random

    def _scores_nan(self) -> bool:
        return all(ranker._scores_nan() for ranker in self.rankers_)

    def _check_learned(self) -> None:
        """Every ranker is sound and sees the same features."""
        require(isinstance(self.rankers_, list) and self.rankers_, "rankers_")
        for ranker in self.rankers_:
            n_features = getattr(ranker, "n_features_in_", None)
            require(isinstance(ranker, Ranker) and n_features == self.n_features_in_, "rankers_")
            ranker.form().check()
