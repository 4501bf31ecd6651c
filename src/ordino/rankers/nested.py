"""NestedRanker: stage after stage, each on fewer documents (DeepNet, section 5.2; Matveeva et al., SIGIR 2006).

The first ranker learns from all documents and orders them. The next learns from what the one before puts on top and
re-ranks only that; whatever falls below keeps its place. So later stages see the hard cases near the top and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Judge
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.rankers.members import RankerLike, all_allow_nan, as_rankers
from ordino.streams import spawn_seed

Places = NDArray[np.int64]


@final
class NestedRanker(Ranker):
    """A cascade of rankers, each for the top of the one before.

    Parameters
    ----------
    ranker
        A ranker (or its name) that every stage trains anew, or a list with one for each stage.
    sizes
        How many documents of a query each stage sees, fewer and fewer; the first is None, which is all. A stage that
        would learn from the same documents as the one before, with the same ranker, is left out.
    metric, profile
        With ``valid``, as many stages are kept as are best there by this measure.

    Attributes
    ----------
    rankers_, sizes_
        The fitted stages and how many documents each re-ranks.
    stage_values_
        The measure on ``valid`` after each stage that was trained; empty without ``valid``.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = NestedRanker("linear-regression-ranker", sizes=(None, 10, 5)).fit(easy_data())
    >>> ranker.sizes_
    [None, 10, 5]
    """

    uses_weights = True  # if its rankers do, and they say it if not

    def __init__(
        self,
        ranker: RankerLike | Sequence[RankerLike] = "ranknet",
        sizes: Sequence[int | None] = (None, 1000, 750, 500, 200, 100, 50, 10),
        *,
        metric: str = "ndcg@10",
        profile: str = "standard",
    ) -> None:
        self.ranker = ranker
        self.sizes = sizes
        self.metric = metric
        self.profile = profile

    @property
    def allows_nan(self) -> bool:  # type: ignore[override]
        """Whether all stages can use data with missing values."""
        return all_allow_nan(self.ranker)

    @property
    def is_random(self) -> bool:
        """Whether a stage is."""
        return any(ranker.is_random for ranker in as_rankers(self.ranker))

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        sizes = self._checked_sizes()
        stages = self._stages(len(sizes))
        judge = Judge(self.metric, self.profile)
        places = _rows_as_they_lie(data)
        held_out = None if valid is None else _rows_as_they_lie(valid)
        trained: list[tuple[Ranker, int | None, float]] = []
        seen = -1  # documents that the last stage learned from
        with Steps("nested ranker", len(sizes), kept="what the stages before it learned") as steps:
            for number in steps:
                stage, size = stages[number], sizes[number]
                top = _is_on_top(places, size)
                if top.sum() == seen and isinstance(self.ranker, str | Ranker):
                    continue
                seen = int(top.sum())
                valid_top = None if valid is None or held_out is None else valid.select_docs(_is_on_top(held_out, size))
                stage.fit(data.select_docs(top), valid=valid_top)
                places = _rerank(stage, data, places, size)
                value = np.nan
                if valid is not None and held_out is not None:
                    held_out = _rerank(stage, valid, held_out, size)
                    value = judge.mean(valid, -held_out.astype(np.float64))
                trained.append((stage, size, value))
        values = [value for _, _, value in trained]
        n_best = len(trained) if valid is None else int(np.argmax(np.nan_to_num(values, nan=-np.inf))) + 1
        self.rankers_: list[Ranker] = [stage for stage, _, _ in trained[:n_best]]
        self.sizes_: list[int | None] = [size for _, size, _ in trained[:n_best]]
        self.stage_values_: list[float] = [] if valid is None else values

    def _checked_sizes(self) -> list[int | None]:
        first, *rest = self.sizes if isinstance(self.sizes, Sequence) and self.sizes else (0,)
        falling = [check_int("sizes", size, low=1) for size in rest]
        if first is not None or any(b >= a for a, b in pairwise(falling)):
            raise ParameterError(f"sizes={self.sizes!r}; give None (all documents) and then falling numbers")
        return [None, *falling]

    def _stages(self, n_stages: int) -> list[Ranker]:
        if isinstance(self.ranker, str | Ranker):
            [first] = as_rankers(self.ranker)
            seed = first.get_params().get("seed", 0)
            return [first, *(first.with_seed(spawn_seed(seed, "stage", stage)) for stage in range(1, n_stages))]
        stages = as_rankers(self.ranker)
        if len(stages) != n_stages:
            raise ParameterError(f"there are {len(stages)} rankers for {n_stages} sizes; give one ranker for each size")
        return stages

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        places = _rows_as_they_lie(data)
        for ranker, size in zip(self.rankers_, self.sizes_, strict=True):
            places = _rerank(ranker, data, places, size)
        return -places.astype(np.float64)


def _rows_as_they_lie(data: Dataset) -> Places:
    """The place of each row in its query, from 0."""
    return np.arange(data.n_docs) - np.repeat(data.offsets[:-1], data.counts)


def _is_on_top(places: Places, size: int | None) -> NDArray[np.bool_]:
    return np.full(len(places), True) if size is None else places < size


def _rerank(ranker: Ranker, data: Dataset, places: Places, size: int | None) -> Places:
    """New places of the documents on top; equal scores keep their mutual order, the rest stays where it is."""
    on_top = _is_on_top(places, size)
    top = data.select_docs(on_top)
    query = np.repeat(np.arange(top.n_queries), top.counts)
    order = np.lexsort((places[on_top], -ranker.predict(top), query))
    reranked = places.copy()
    reranked[np.flatnonzero(on_top)[order]] = _rows_as_they_lie(top)
    return reranked
