"""RankAggregation: many rankers vote on the order (DeepNet, section 5.3).

Each member ranks the documents on its own; the ranks that a document gets are summed up, and the smallest sum comes
first. Other rules (:data:`~ordino.order.fusion.METHODS`) take the place of the sum by name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.interrupts import PRESSES
from ordino.networks.repeats import Repeatable
from ordino.order.fusion import METHODS, fuse
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.rankers.members import RankerLike, all_allow_nan, as_rankers
from ordino.streams import spawn_seed, stream

RESAMPLES = ("queries", "documents")
MOST = 10_000  # members


@final
class RankAggregation(Ranker):
    """Many rankers whose orders are made one.

    Parameters
    ----------
    ranker
        What votes: one ranker (or its name), of which ``n`` members are trained, or a list with one member each. A
        list may hold aggregations.
    n
        How many members a single ranker gives; DeepNet has 15. They differ in the seeds that they are given.
    method
        How orders become one: rank_sum (DeepNet), rrf, median, score_mean, kemeny.
    resample
        Every member learns from its own random part of the training data: of the "queries", or of the "documents" of
        each query, which draws pairs. None gives all members all data: then only their seeds tell them apart, and
        networks train together.
    share
        How large that part is.
    n_jobs
        Threads that train members; None takes the processors there are. The result is the same for any number.
    seed
        The same seed gives the same members; those of a list keep the seeds that they have.

    Attributes
    ----------
    rankers_
        The fitted members.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = RankAggregation("ranknet", n=3).set_params(ranker="linear-regression-ranker", resample="queries")
    >>> len(ranker.fit(easy_data()).rankers_)
    3
    """

    uses_weights = True  # if its rankers do, and they say it if not

    def __init__(
        self,
        ranker: RankerLike | Sequence[RankerLike] = "ranknet",
        n: int = 15,
        *,
        method: str = "rank_sum",
        resample: str | None = None,
        share: float = 0.8,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> None:
        self.ranker = ranker
        self.n = n
        self.method = method
        self.resample = resample
        self.share = share
        self.n_jobs = n_jobs
        self.seed = seed

    @property
    def allows_nan(self) -> bool:  # type: ignore[override]
        """Whether all members can use data with missing values."""
        return all_allow_nan(self.ranker)

    @property
    def is_random(self) -> bool:
        """Whether members draw their data or are random themselves."""
        return self.resample is not None or any(ranker.is_random for ranker in as_rankers(self.ranker))

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        check_choice("method", self.method, METHODS)
        members, seeds = self._members()
        if self.resample is not None:
            check_choice("resample", self.resample, RESAMPLES)
            check_real("share", self.share, low=0, high=1, open_low=True)
        elif isinstance(members[0], Repeatable) and seeds:
            self.rankers_: list[Ranker] = [*members[0].fit_repeats(data, seeds, valid=valid)]
            return
        given = (os.cpu_count() or 1) if self.n_jobs is None else self.n_jobs
        n_jobs = min(check_int("n_jobs", given, low=1), len(members))
        if n_jobs > 1:
            for member in members:  # one thread each, so that they do not fight
                _set_if_there(member, n_jobs=1)

        def train(i: int) -> Ranker:
            return members[i].fit(self._drawn(data, i), valid=valid)

        heeded = PRESSES.heeded
        with ThreadPoolExecutor(n_jobs) as pool:
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
        check_int("seed", self.seed, low=0)
        seeds = [spawn_seed(self.seed, "member", i) for i in range(check_int("n", self.n, low=1, high=MOST))]
        if self.resample is None and not rankers[0].is_random and len(seeds) > 1:
            raise ParameterError(
                f"{type(rankers[0]).__name__} draws nothing at random, so all {self.n} members would be equal; "
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
        query = np.repeat(np.arange(data.n_queries), data.counts)
        order = np.lexsort((rng.random(data.n_docs), query))
        keep = np.empty(data.n_docs, bool)
        keep[order] = np.arange(data.n_docs) - data.offsets[query] < np.ceil(self.share * data.counts)[query]
        return data.select_docs(keep)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        rows = data.select_docs(np.full(data.n_docs, True))  # whose scores come back in the order that they have here
        return fuse(np.array([member.predict(rows) for member in self.rankers_]), data.offsets, self.method)


def _set_if_there(ranker: Ranker, **params: int) -> None:
    ranker.set_params(**{name: value for name, value in params.items() if name in ranker.get_params()})
