"""Repeats are a batch: rankers that differ only in their seed train together along a leading axis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.data.source import canonical
from ordino.networks.gradient import GradientRanker
from ordino.ranker import Validation, _held_out

if TYPE_CHECKING:
    from ordino.networks.training import Trained


class Repeatable(GradientRanker):
    """A network of which several of one shape can learn at once."""

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, trained together along a leading axis: cheaper than one by one."""
        first: Self = clone(self)
        learned = first._train(*first._prepare(canonical(data), _held_out(valid)), seeds)
        of_data = {k: v for k, v in first.__dict__.items() if k.endswith("_") and not k.startswith("_")}
        rankers: list[Self] = [clone(self).set_params(seed=seed) for seed in seeds]
        for ranker, one in zip(rankers, learned, strict=True):
            ranker.__dict__.update(of_data)
            ranker._keep(one)
        return rankers

    @abstractmethod
    def _train(self, data: Dataset, valid: Dataset | None, seeds: Sequence[int]) -> list[Trained]:
        """What the networks of these seeds learned."""

    @abstractmethod
    def _keep(self, learned: Trained) -> None:
        """Become the ranker for which this was learned."""
