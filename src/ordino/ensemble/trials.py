"""A trial: one kind of member, trained on all folds but one and asked about that one, fold after fold.

Everything about a trial can be written as a row of the plan, and the row makes the same trial again, to the last bit:
its seeds come from what it is, and what the clock cut short is in the row as a number of steps.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.trees import TreeRanker
from ordino.data.dataset import Dataset
from ordino.ensemble.clock import Clock
from ordino.ensemble.paths import EVERY, Part, Watch, follow, smoothed
from ordino.ensemble.views import Views
from ordino.judge import Judge
from ordino.networks.scoring import ScoringNetwork
from ordino.ranker import Ranker
from ordino.streams import spawn_seed, stream

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

WINDOW = 5  # steps that are averaged before the best is chosen
PATIENCE = 8  # epochs without a better one, after which networks end
MOST_CELLS = 60_000_000  # features times documents that a member learns from at a time; of more, queries are drawn
WEIGHED_DOCS = 50_000  # documents that weights are learned from at most: it takes a thousand measurements
FEWEST_QUERIES = 50  # that a member learns from, however little time there is
LATE = 1.2  # times what a fold had, from which on it was too slow
TOGETHER = 25_000_000  # cells of a fold, up to which networks learn all folds side by side


class Kind(NamedTuple):
    """What a member is: a ranker by name, its parameters, and the features that it sees."""

    ranker: str
    params: Mapping[str, Any]
    features: str

    @property
    def text(self) -> str:
        """The same for the same kind, whatever the order of its parameters."""
        return json.dumps([self.ranker, dict(sorted(self.params.items())), self.features])


@final
class Bench:
    """What all trials share: the documents, the folds, the measure, the seed, and how a kind becomes a ranker."""

    def __init__(
        self,
        data: Dataset,
        *,
        judge: Judge,
        n_folds: int,
        seed: int,
        make: Callable[[Kind], Ranker],
        n_jobs: int | None = None,
    ) -> None:
        self.data, self.views, self.judge, self.seed, self.make = data, Views(data), judge, seed, make
        self.n_folds, self.n_jobs = n_folds, n_jobs
        drawn = stream(seed, "folds").permutation(data.n_queries)
        self.fold = np.empty(data.n_queries, np.intp)
        self.fold[drawn] = np.arange(data.n_queries) % n_folds
        """The fold of each query."""

    @cached_property
    def sample(self) -> tuple[Dataset, NDArray[np.intp]]:
        """Queries that weights are learned from, and their numbers: all, or as many as have 50,000 documents."""
        data = self.data
        if data.n_docs <= WEIGHED_DOCS:
            return data, np.arange(data.n_queries)
        drawn = stream(self.seed, "weighed").permutation(data.n_queries)
        n_drawn = int(np.searchsorted(np.cumsum(data.counts[drawn]), WEIGHED_DOCS)) + 1
        queries = np.sort(drawn[:n_drawn])
        return data.select_queries(queries), queries

    def docs(self, fold: int) -> Mask:
        """Which documents belong to a fold."""
        return np.repeat(self.fold == fold, self.data.counts)

    def measure(self, scores: Floats) -> Floats:
        """The measure of each query; NaN where it does not count."""
        return self.judge.per_query(self.data, scores)


@final
@dataclass
class Trial:
    """A kind of member on a bench: its scores of documents that it has not seen, and its rankers, fold by fold."""

    bench: Bench
    kind: Kind
    share: float = 1.0
    """Of the queries of the other folds that a ranker learns from."""
    shares: list[float] = field(default_factory=list)
    """The same by fold, where it differs: a fold that took too long leaves less to the next ones."""
    most_steps: int | None = None
    """Steps to take where a plan says so; else as many as are good, or as the time allows."""
    is_cut: bool = False
    """Whether the clock ended it before it would have ended by itself."""
    seconds: float = 0.0
    scores: list[NDArray[np.float32]] = field(default_factory=list)
    """By fold, (n_steps, n_docs of the fold)."""
    at: list[Callable[[int], Ranker]] = field(default_factory=list)
    """By fold, the ranker at a step."""
    milliseconds: float | None = None
    """What scoring 1,000 documents by the rankers of all folds takes, if that was measured."""
    _curve: Floats | None = None

    @property
    def n_steps(self) -> int:
        """How many steps all folds have."""
        return min((len(one) for one in self.scores), default=0)

    @property
    def is_whole(self) -> bool:
        """Whether the clock had no say in it, so that anybody with this bench gets the same."""
        return not self.is_cut and self.most_steps is None and {self.share, *self.shares} == {1.0}

    @property
    def row(self) -> dict[str, Any]:
        """The trial as a row of the plan."""
        params = {name: list(value) if isinstance(value, tuple) else value for name, value in self.kind.params.items()}
        known = {"ranker": self.kind.ranker, "params": params, "features": self.kind.features, "share": self.share}
        differing = {"shares": self.shares} if any(share != self.share for share in self.shares) else {}
        cost = {} if self.milliseconds is None else {"milliseconds": self.milliseconds}
        return known | differing | {"steps": self.n_steps, "seconds": round(self.seconds, 3)} | cost

    def run(self, n_folds: int, clock: Clock) -> None:
        """Train on the folds that are missing, until there are this many."""
        begun, done = clock.used, len(self.scores)
        numbers = range(done, n_folds)
        pattern = self.bench.make(self.kind)
        cells = self.share * self.bench.data.n_docs * self.bench.views.width(self.kind.features)
        groups = [numbers] if cells <= TOGETHER else [range(i, i + 1) for i in numbers]
        for i, group in enumerate(groups):
            own = clock.slice(1 / (len(groups) - i))
            watch = None if self.most_steps is not None else Watch(self._mean_of(group), PATIENCE, WINDOW)
            paths = follow(self._limited(pattern), [self._part(fold) for fold in group], own, watch, self.bench.n_jobs)
            for path in paths:
                self.scores.append(path.scores)
                self.at.append(path.at)
                self.is_cut |= path.is_cut
            self._hurry(own)
        self._curve = None
        self.seconds += clock.used - begun

    def _hurry(self, clock: Clock) -> None:
        """After a fold that took longer than it had, the next ones learn from fewer queries; a plan has its shares."""
        done, now = len(self.scores), self._share(len(self.scores) - 1)
        self.shares += [now] * (done - len(self.shares))
        if clock.seconds is not None and clock.used > LATE * clock.seconds and done < self.bench.n_folds:
            fewest = min(1.0, FEWEST_QUERIES / self.bench.data.n_queries)
            self.shares.append(max(now * clock.seconds / clock.used, min(fewest, now)))

    def _share(self, fold: int) -> float:
        """Of the queries of the other folds, that the ranker of this fold learns from."""
        return self.shares[min(fold, len(self.shares) - 1)] if self.shares else self.share

    def _limited(self, pattern: Ranker) -> Ranker:
        """The ranker with as many epochs or rounds as the plan says."""
        if self.most_steps is None:
            return pattern
        if isinstance(pattern, TreeRanker):
            return pattern.set_params(rounds=min(pattern.rounds, EVERY * self.most_steps))
        return pattern.set_params(epochs=self.most_steps) if isinstance(pattern, ScoringNetwork) else pattern

    def _part(self, fold: int) -> Part:
        bench = self.bench
        others = np.flatnonzero(bench.fold != fold)
        seed = spawn_seed(bench.seed, self.kind.text, fold)
        width = bench.views.width(self.kind.features)
        share = min(self._share(fold), MOST_CELLS / max(int(bench.data.counts[others].sum()) * width, 1))
        if share < 1:
            n_drawn = max(round(share * len(others)), min(len(others), 2))
            others = np.sort(stream(seed, "queries").permutation(others)[:n_drawn])
        take = bench.views.take
        return Part(
            take(self.kind.features, others), take(self.kind.features, np.flatnonzero(bench.fold == fold)), seed
        )

    def _mean_of(self, folds: Sequence[int]) -> Callable[[list[NDArray[np.float32]]], float]:
        """The measure over some folds of the scores of their documents."""
        bench = self.bench
        parts = [bench.data.select_queries(bench.fold == fold) for fold in folds]

        def mean(scores: list[NDArray[np.float32]]) -> float:
            found = [
                bench.judge.per_query(part, one.astype(np.float64)) for part, one in zip(parts, scores, strict=True)
            ]
            values = np.concatenate(found)
            return float(np.nanmean(values)) if np.isfinite(values).any() else 0.0

        return mean

    def unseen(self, step: int) -> Floats:
        """Scores of all documents, each by the ranker that has not seen it; 0 in folds that are missing."""
        scores = np.zeros(self.bench.data.n_docs)
        for fold, one in enumerate(self.scores):
            scores[self.bench.docs(fold)] = one[step]
        return scores

    def curve(self) -> Floats:
        """The measure of each query after each step, (n_steps, n_queries); NaN where it does not count."""
        if self._curve is None:
            self._curve = np.array([self.bench.measure(self.unseen(step)) for step in range(self.n_steps)])
            self._curve[:, self.bench.fold >= len(self.scores)] = np.nan
        return self._curve

    def best_step(self, which: Mask) -> int:
        """The step with the best measure, smoothed, over these queries."""
        values = self.curve()[:, which]
        counted = values[:, np.isfinite(values).all(axis=0)]
        return int(np.argmax(smoothed(counted.mean(axis=1), WINDOW))) if counted.shape[1] else self.n_steps - 1

    def rankers(self, step: int) -> list[Ranker]:
        """The fitted rankers of all folds at a step."""
        return [at(step) for at in self.at]
