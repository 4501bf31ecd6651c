"""NestedRanker: stage after stage, each on fewer documents (DeepNet, section 5.2; Matveeva et al., SIGIR 2006).

The first ranker learns from all documents and ranks them. Each later ranker learns only from the top of the previous
ranking and re-ranks only that; documents below keep their places. So later stages concentrate on the hard cases near
the top. The thesis scales the features once, over all documents of a query, and has eight stages.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.data.scaling import make_scaler
from ordino.errors import ParameterError
from ordino.forms import require
from ordino.judge import Judge
from ordino.parameters import learned, param, settings
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.rankers.combined import CombinedRanker, RankerLike, as_rankers, network_of_chapter_5, ranker_param
from ordino.recurring import metric_param, profile_param
from ordino.streams import spawn_seed

Places = NDArray[np.int64]


def check_sizes(given: object) -> None:
    """Refuse sizes that do not begin with None and then fall."""
    first, *rest = given if isinstance(given, Sequence) and given else (0,)
    falling = [check_int("sizes", size, low=1) for size in rest]
    if first is not None or any(b >= a for a, b in pairwise(falling)):
        raise ParameterError(f"sizes={given!r}; give None (all documents) first, then decreasing numbers")


@final
class NestedRanker(CombinedRanker):
    """A cascade of rankers, each of which re-ranks the top of the one before.

    Attributes
    ----------
    rankers_, sizes_
        The fitted stages and how many documents each re-ranks.
    history_
        For each stage that was trained, its size (none for the first, which sees all documents) and the metric on
        ``valid``, if given.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = NestedRanker("linear-regression-ranker", sizes=(None, 10, 5)).fit(easy_data())
    >>> ranker.sizes_
    [None, 10, 5]
    """

    sizes_: list[int | None] = learned()
    history_: list[dict[str, float]] = learned()

    ranker: RankerLike | Sequence[RankerLike] = ranker_param(
        "A ranker (or its name) that is trained anew in every stage, or a list with one for each stage."
    )
    sizes: Sequence[int | None] = param(
        (None, 1000, 750, 500, 200, 100, 50, 10),
        "Number of documents per query that each stage sees, in decreasing order; the first is None, for all.",
        check=check_sizes,
        positional=True,
    )
    stages: str = param(
        "best",
        "best: skip a stage that would train the same ranker on the same documents as the one before, and drop the "
        "stages after the best on `valid`. all: every stage is trained and kept, as in the thesis.",
        choices=("best", "all"),
    )
    scaling: str | None = param(
        None,
        "How features are scaled once, over all documents of a query, as in the thesis: a name in `SCALERS`, in place "
        "of the scaling of the stages. None leaves it to each stage, which scales the documents that it sees.",
        check=make_scaler,
    )
    metric: str = metric_param(text="The metric used to choose the number of stages on `valid`.")
    profile: str = profile_param()

    published = settings(
        ranker="deepnet", sizes=(None, 1000, 750, 500, 200, 100, 50, 10), stages="all", scaling="querymax", metric="map"
    )
    """Section 5.2: eight stages of DeepNet as published, each from at most 100,000 training and 50,000 validation
    pairs."""

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """The eight stages of section 5.2, of the network of chapter 5 or another ranker."""
        return super().as_published(**({} if "ranker" in changes else {"ranker": network_of_chapter_5()}) | changes)

    def with_seed(self, seed: int) -> Self:
        """An unfitted copy whose ranker has this seed, also one that was given by name; those of a list keep theirs."""
        copy = super().with_seed(seed)
        if isinstance(copy.ranker, str | Ranker):
            copy.ranker = as_rankers(copy.ranker)[0].with_seed(seed)
        return copy

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        sizes = list(self.sizes)
        stages = self._stages(len(sizes))
        judge = Judge(self.metric, self.profile)
        places = _rows_as_they_lie(data)
        held_out = None if valid is None else _rows_as_they_lie(valid)
        self.rankers_, self.sizes_, self.history_ = [], [], []
        seen = -1  # documents that the last stage learned from
        with Steps("nested ranker", len(sizes), kept="what the stages before it learned") as steps:
            for number in steps:
                stage, size = stages[number], sizes[number]
                top = _is_on_top(places, size)
                same = top.sum() == seen and isinstance(self.ranker, str | Ranker)
                if same and self.stages == "best":
                    continue
                seen = int(top.sum())
                row = {"stage": float(len(self.rankers_) + 1)} | ({} if size is None else {"size": size})
                if valid is None or held_out is None:
                    stage.fit(data.select_docs(top))
                else:
                    stage.fit(data.select_docs(top), valid=valid.select_docs(_is_on_top(held_out, size)))
                    held_out = _rerank(stage, valid, held_out, size)
                    row["valid"] = judge.mean(valid, -held_out.astype(np.float64))
                places = _rerank(stage, data, places, size)
                self.rankers_.append(stage)
                self.sizes_.append(size)
                self.history_.append(row)
        if valid is not None and self.stages == "best":
            values = [row["valid"] for row in self.history_]
            n_best = int(np.argmax(np.nan_to_num(values, nan=-np.inf))) + 1
            self.rankers_, self.sizes_ = self.rankers_[:n_best], self.sizes_[:n_best]

    def _stages(self, n_stages: int) -> list[Ranker]:
        given = as_rankers(self.ranker)
        for one in given if self.scaling is not None else ():
            if "scaling" in one.get_params(deep=False):
                one.set_params(scaling=None)  # the data has been scaled already
        if isinstance(self.ranker, str | Ranker):
            [first] = given
            seed = first.get_params().get("seed", 0)
            return [first, *(first.with_seed(spawn_seed(seed, "stage", stage)) for stage in range(1, n_stages))]
        if len(given) != n_stages:
            raise ParameterError(f"there are {len(given)} rankers for {n_stages} sizes; give one ranker for each size")
        return given

    def _check_learned(self) -> None:
        super()._check_learned()
        require(len(self.rankers_) == len(self.sizes_), "sizes_")

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        places = _rows_as_they_lie(data)
        for ranker, size in zip(self.rankers_, self.sizes_, strict=True):
            places = _rerank(ranker, data, places, size)
        return -places.astype(np.float64)


def _rows_as_they_lie(data: Dataset) -> Places:
    """The place of each row in its query, from 0."""
    return np.arange(data.n_docs) - data.offsets[data.query_number]


def _is_on_top(places: Places, size: int | None) -> NDArray[np.bool_]:
    return np.full(len(places), True) if size is None else places < size


def _rerank(ranker: Ranker, data: Dataset, places: Places, size: int | None) -> Places:
    """New places of the documents on top; equal scores keep their mutual order, the rest stays where it is."""
    on_top = _is_on_top(places, size)
    top = data.select_docs(on_top)
    order = np.lexsort((places[on_top], -ranker.predict(top), top.query_number))
    reranked = places.copy()
    reranked[np.flatnonzero(on_top)[order]] = _rows_as_they_lie(top)
    return reranked
