"""RankAggregation: many rankers vote on the order (DeepNet, section 5.3).

Each member ranks the documents; the ranks of a document are summed, and the smallest sum comes first. ``method``
chooses another rule (:data:`~ordino.order.fusion.METHODS`).
"""

from collections.abc import Sequence
from concurrent.futures import as_completed
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.interrupts import PRESSES
from ordino.order.fusion import METHODS, fuse
from ordino.parameters import param, settings
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.rankers.combined import CombinedRanker, RankerLike, as_rankers, network_of_chapter_5, ranker_param
from ordino.recurring import n_jobs_param, seed_param
from ordino.streams import spawn_seed, stream
from ordino.threads import count_threads, thread_pool

RESAMPLES = ("queries", "documents")


@final
class RankAggregation(CombinedRanker):
    """Many rankers whose rankings are combined into one.

    Attributes
    ----------
    rankers_
        The fitted members.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = RankAggregation("linear-regression-ranker", n=3, resample="queries")
    >>> len(ranker.fit(easy_data()).rankers_)
    3
    """

    ranker: RankerLike | Sequence[RankerLike] = ranker_param(
        "The members: one ranker (or its name), which is trained `n` times, or a list of rankers. A list may contain "
        "aggregations."
    )
    n: int = param(
        15,
        "Number of members trained from a single ranker, each with its own seed; DeepNet uses 15.",
        low=1,
        high=10_000,
        brief=2,
        positional=True,
    )
    method: str = param(
        "rank_sum",
        "How rankings are combined: rank_sum (DeepNet), rrf, median, score_mean, raw_mean, kemeny.",
        choices=METHODS,
    )
    resample: str | None = param(
        None,
        "Train every member on its own random part of the training data: part of the `queries`, or part of the "
        "`documents` of each query, and so of the pairs. None trains all members on all data: then they differ only "
        "in their seeds, and networks train together.",
        choices=RESAMPLES,
    )
    share: float = param(0.8, "Size of that part.", above=0, high=1)
    n_jobs: int | None = n_jobs_param()
    seed: int = seed_param("Random seed; the same seed gives the same members. Rankers in a list keep their own seeds.")

    published = settings(ranker="deepnet", n=15, method="rank_sum")
    """DeepNet, section 5.3: 15 networks, each from 100,000 training and 50,000 validation pairs of its own; the sum of
    the ranks decides."""

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """The 15 members of section 5.3, of the network of chapter 5 or another ranker."""
        return super().as_published(**({} if "ranker" in changes else {"ranker": network_of_chapter_5()}) | changes)

    @property
    def is_random(self) -> bool:
        """Whether the members' data is drawn at random, or the members are random themselves."""
        return self.resample is not None or super().is_random

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        members, seeds = self._members()
        if self.resample is None and seeds and type(members[0]).fit_repeats is not Ranker.fit_repeats:
            self.rankers_ = [*members[0].fit_repeats(data, seeds, valid=valid)]
            return
        n_jobs = min(count_threads(self.n_jobs, enough=len(members) > 1), len(members))

        def train(i: int) -> Ranker:
            return members[i].fit(self._drawn(data, i), valid=valid)

        heeded = PRESSES.heeded
        with thread_pool(n_jobs) as pool:
            under_way = [pool.submit(train, i) for i in range(len(members))]
            try:
                with Steps("rank aggregation", len(members), kept="what the other members learned") as steps:
                    for _, trained in zip(steps, as_completed(under_way), strict=True):
                        trained.result()
                self.rankers_ = [one.result() for one in under_way if one.done() and one.exception() is None]
            except KeyboardInterrupt:  # before any member is done: those under way shall end as well
                PRESSES.heed(heeded)
                raise
            finally:
                pool.shutdown(cancel_futures=True)

    def _members(self) -> tuple[list[Ranker], list[int]]:
        """The rankers to train, and their seeds where these are ours to choose."""
        rankers = as_rankers(self.ranker)
        if not isinstance(self.ranker, str | Ranker):
            return rankers, []
        seeds = [spawn_seed(self.seed, "member", i) for i in range(self.n)]
        if self.resample is None and not rankers[0].is_random and len(seeds) > 1:
            raise ParameterError(
                f"{type(rankers[0]).__name__} uses no randomness, so all {self.n} members would be equal; "
                "set resample='queries'"
            )
        return [rankers[0].with_seed(seed) for seed in seeds], seeds

    def _drawn(self, data: Dataset, i: int) -> Dataset:
        """What member i learns from."""
        if self.resample is None:
            return data
        rng = stream(self.seed, "resample", i)
        if self.resample == "queries":
            n_drawn = max(round(self.share * data.n_queries), 1)
            return data.select_queries(np.sort(rng.permutation(data.n_queries)[:n_drawn]))
        query = data.query_number
        order = np.lexsort((rng.random(data.n_docs), query))
        keep = np.empty(data.n_docs, bool)
        keep[order] = np.arange(data.n_docs) - data.offsets[query] < np.ceil(self.share * data.counts)[query]
        return data.select_docs(keep)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        rows = data.as_grouped()
        return fuse(np.array([member.predict(rows) for member in self.rankers_]), data.offsets, self.method)
