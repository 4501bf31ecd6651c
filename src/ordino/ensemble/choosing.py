"""Which trials become members, and what the whole is worth on queries that chose nothing of it.

The first trials are members from the start. A later one comes in, or takes the place of a member of its family, if the
measure of the ensemble rises by at least one standard error of the rise. Under a bound on the cost of scoring, the
members are affordable at any time: the best affordable of the first trials to begin with, and a later one that is too
dear beside them all may take the place of any. All of this is a function of some of the queries: to say what the
ensemble is worth, it is done again without each fold, and the fold is measured by what was chosen without it.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.ensemble.combining import mean_over, mixture, standardized, t_of, weigh
from ordino.ensemble.trials import Bench, Trial

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_MEMBERS = 8
LEAST_T = 1.0  # of the rise that lets a trial in
CONFIDENT = 1.96  # standard errors to each side: 95 % of a normal law


class Member(NamedTuple):
    """A trial, by its number, at a step."""

    trial: int
    step: int


class Ensemble(NamedTuple):
    """Members and their weights, and the scores of something simple that has the rest of the weight, if any."""

    members: list[Member]
    weights: Floats
    greedy_share: float
    simple: Floats | None = None

    @property
    def simple_weight(self) -> float:
        """The weight of what is simple."""
        return 0.0 if self.simple is None else 1 - float(self.weights.sum())

    def beside(self, simple: Floats, share: float) -> "Ensemble":
        """So much of the ensemble, and for the rest something simple."""
        members = self.members if share else []
        return Ensemble(members, share * self.weights[: len(members)], self.greedy_share, simple if share < 1 else None)


@final
class Choice:
    """Chooses among trials that have all their folds."""

    def __init__(self, bench: Bench, trials: Sequence[Trial], n_first: int, most_ms: float | None = None) -> None:
        self.bench, self.trials, self.n_first = bench, trials, n_first
        self._cost = [trial.milliseconds or 0.0 for trial in trials]
        self._most_ms = None if most_ms is None else max(most_ms, min(self._cost))  # one member there must be
        self._scores: dict[Member, Floats] = {}

    def scores(self, member: Member) -> Floats:
        """What a member adds: its scores of unseen documents, as z-scores inside each query."""
        if member not in self._scores:
            unseen = self.trials[member.trial].unseen(member.step)
            self._scores[member] = standardized(unseen, self.bench.data.offsets)
        return self._scores[member]

    def measure(self, members: Sequence[Member]) -> Floats:
        """The measure of each query, with equal weights."""
        return self.bench.measure(sum((self.scores(member) for member in members), np.zeros(self.bench.data.n_docs)))

    def members(self, which: Mask) -> list[Member]:
        """The members that these queries choose."""
        best = [Member(i, trial.best_step(which)) for i, trial in enumerate(self.trials)]
        chosen = best[: self.n_first] if self._most_ms is None else self._best_affordable(best[: self.n_first], which)
        for new in best[self.n_first :]:
            chosen = self.with_new(chosen, new, which) or chosen
        return chosen

    def is_affordable(self, members: Sequence[Member]) -> bool:
        """Whether scoring by them all is within the bound, or there is nothing cheaper."""
        return self._most_ms is None or sum(self._cost[member.trial] for member in members) <= self._most_ms

    def with_room(self, chosen: list[Member], new: Member) -> list[list[Member]]:
        """The members and a new one; where that is not affordable, each way to put it in the place of another."""
        more = [*chosen, new]
        changes = [more] if self.is_affordable(more) else [_instead(chosen, old, new) for old in chosen]
        return [change for change in changes if self.is_affordable(change)]

    def with_new(self, chosen: list[Member], new: Member, which: Mask, least_t: float = LEAST_T) -> list[Member] | None:
        """The members with a new one, if that is a rise."""
        family = self.trials[new.trial].kind.ranker
        changes = self.with_room(chosen, new) if len(chosen) < MOST_MEMBERS else []
        alike = [_instead(chosen, old, new) for old in chosen if self.trials[old.trial].kind.ranker == family]
        changes += [change for change in alike if self.is_affordable(change)]
        if not changes:  # as many members as there may be and none of its family, or too dear
            return None
        if not chosen:  # nothing before it was affordable
            return changes[0]
        now = self.measure(chosen)
        rises = [(self.measure(change) - now)[which] for change in changes]
        best = int(np.argmax([float(np.nanmean(rise)) if np.isfinite(rise).any() else -np.inf for rise in rises]))
        return changes[best] if t_of(rises[best]) >= least_t else None

    def _best_affordable(self, members: list[Member], which: Mask) -> list[Member]:
        """The best affordable subset of some first members; nothing where there is none."""
        sizes = range(1, len(members) + 1)
        subsets = [[*some] for size in sizes for some in combinations(members, size) if self.is_affordable(some)]
        return max(subsets, key=lambda some: mean_over(self.measure(some), which), default=[])

    def ensemble(self, which: Mask) -> Ensemble:
        """Members and weights, by these queries."""
        members, (some, queries) = self.members(which), self.bench.sample
        rows = np.repeat(np.isin(np.arange(len(which)), queries), self.bench.data.counts)
        scores = [self.scores(member)[rows] for member in members]

        def measure(scores: Floats) -> Floats:
            return self.bench.judge.per_query(some, scores)

        weights, share = weigh(scores, measure, self.bench.fold[queries], which[queries])
        kept = np.flatnonzero(weights)  # what weighs nothing need not be scored
        return Ensemble([members[i] for i in kept], weights[kept], share)

    def honest(self) -> Floats:
        """The scores of each query's documents by an ensemble that was chosen without the query's fold."""
        found = np.zeros(self.bench.data.n_docs)
        in_the_end = self.members(np.full(self.bench.data.n_queries, True))
        for fold in range(self.bench.n_folds):
            own = self.bench.docs(fold)
            members, weights, *_ = self.ensemble(self.bench.fold != fold)
            found[own] = mixture([self.scores(member)[own] for member in members], weights)
            keep = {*in_the_end, *members}
            self._scores = {member: scores for member, scores in self._scores.items() if member in keep}
        return found

    def table(self, ensemble: Ensemble) -> list[dict[str, Any]]:
        """For each member what it is, what it is worth alone, and how much the whole loses without it.

        The last row is that of what is simple, if the ensemble has it.
        """
        scores = [self.scores(member) for member in ensemble.members]
        rows = [self.trials[member.trial].row | {"step": member.step + 1} for member in ensemble.members]
        weights = ensemble.weights
        if ensemble.simple is not None:
            scores, rows, weights = [*scores, ensemble.simple], [*rows, {}], np.append(weights, ensemble.simple_weight)
        whole, measure = self.bench.measure(mixture(scores, weights)), self.bench.judge.metric.measure
        nothing = 0.0 if measure.greater_is_better else -measure.high  # the measure where no member is left
        for i, row in enumerate(rows):
            others = np.where(np.arange(len(rows)) == i, 0.0, weights)
            losses = whole - (self.bench.measure(mixture(scores, others)) if others.any() else nothing)
            adds, error = _mean_and_error(losses)
            row |= {"weight": float(weights[i]), "alone": _mean_and_error(self.bench.measure(scores[i]))[0]}
            row |= {"adds": adds, "adds_error": error}
        return rows


def _instead(members: Sequence[Member], old: Member, new: Member) -> list[Member]:
    """The members with a new one in the place of an old one."""
    return [new if one == old else one for one in members]


def _mean_and_error(values: Floats) -> tuple[float, float]:
    counted = values[np.isfinite(values)]
    if not len(counted):
        return 0.0, 0.0
    error = counted.std(ddof=1) / np.sqrt(len(counted)) if len(counted) > 1 else 0.0
    return float(counted.mean()), float(error)


def quality_of(values: Floats) -> dict[str, float]:
    """The mean of the queries that count, and where it lies with 95 % confidence.

    Examples
    --------
    >>> quality_of(np.array([0.0, 1.0, np.nan, 0.5]))["mean"]
    0.5
    """
    mean, error = _mean_and_error(values)
    n = int(np.isfinite(values).sum())
    return {"mean": mean, "low": mean - CONFIDENT * error, "high": mean + CONFIDENT * error, "queries": n}
