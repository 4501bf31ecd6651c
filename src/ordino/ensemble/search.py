"""What the time is spent on: first the members that are always good, then trials that must show what they add.

Further trials come in brackets and are halved: all are trained on one fold, the better half on a second, the best of
these on all (successive halving; Jamieson and Talwalkar, AISTATS 2016). What is judged is what the ensemble gains by
the trial, on queries that the trial has not seen. Two brackets in a row that bring nothing are the end.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

from ordino.ensemble.choosing import Choice, Member
from ordino.ensemble.clock import Clock
from ordino.ensemble.kept import Kept
from ordino.ensemble.scoring import cost_of
from ordino.ensemble.trials import FEWEST_QUERIES, Bench, Kind, Trial
from ordino.errors import NothingToLearnWarning, OrdinoError
from ordino.interrupts import PRESSES, all_or_nothing
from ordino.networks.scoring import ScoringNetwork

BRACKET = 6  # trials that begin together
FRUITLESS = 2  # brackets in a row that bring nothing, after which it is enough
FOR_THE_END = 0.06  # share of the time for choosing, weighing and measuring the whole
UNHURRIED = 0.2  # share of the time that all first members may take by estimate, so that nobody looks more closely
HURRIED = 1.15  # a trial may take so much longer than one like it did


@final
class Search:
    """Trials on a bench, until the time or their number is used up."""

    def __init__(
        self, bench: Bench, *, clock: Clock, most_trials: int | None, cost: Callable[[Kind], float],
        tell: Callable[[str, Trial | None], None], kept: Kept | None = None, most_ms: float | None = None,
    ) -> None:  # fmt: skip
        self.bench, self.clock, self.most_trials = bench, clock, most_trials
        self._cost, self._tell, self._kept, self._most_ms = cost, tell, kept, most_ms
        self.done: list[Trial] = []
        """Trials with all folds, in the order in which they were done."""
        self.n_first = 0
        """How many of these are members from the start."""
        self.left_out: dict[str, str] = {}
        """Kinds that could not be trained on this data, and why."""
        self.n_begun = 0
        self.interrupted = False

    def replay(self, rows: Iterable[Mapping[str, Any]], n_first: int) -> None:
        """Do exactly what a plan says; what its clock cut short is not kept for others."""
        for row in rows:
            shares = [float(share) for share in row.get("shares", ())]
            trial = Trial(self.bench, kind_of(row), float(row["share"]), shares, most_steps=int(row["steps"]))
            trial.run(self.bench.n_folds, Clock(None))
            trial.milliseconds = row.get("milliseconds")
            self.done.append(trial)
            self._tell("", trial)
        self.n_first = n_first

    def run(self, first: Sequence[Kind], draw: Callable[[int], list[Kind]]) -> None:
        """The first members, then brackets of others; Ctrl-C keeps what is done, if there is something."""
        heeded = PRESSES.heeded
        try:
            self._first(first)
            self._brackets(draw)
        except KeyboardInterrupt:
            if not self.done:
                raise
            PRESSES.heed(heeded)
            self.interrupted = True

    def _first(self, kinds: Sequence[Kind]) -> None:
        own = self.clock.slice(1 - FOR_THE_END)
        costs = [self._cost(kind) for kind in kinds]
        slowness = self._slowness(kinds[0], sum(costs))
        for i, kind in enumerate(kinds):
            if self._is_enough(own):
                return
            part = own.slice(costs[i] / sum(costs[i:]))
            few = min(1.0, FEWEST_QUERIES / self.bench.data.n_queries)
            if self.done and slowness * costs[i] * few > own.left:
                self.left_out[kind.text] = "there was no time for it"
                continue
            share = max(min(1.0, max(part.left, 0.0) / (slowness * costs[i])), few)
            trial = self._first_trial(Trial(self.bench, kind, share=share), part)
            if trial is not None:
                slowness = max(0.5 * slowness, trial.seconds / (share * costs[i]))
                self._take(trial)
                self.n_first += 1

    def _first_trial(self, trial: Trial, clock: Clock) -> Trial | None:
        """A first member, unless it cannot be trained or is too dear.

        Under a bound, it is seen by its first fold whether it is; the folds of a network learn side by side, and it
        costs the same after an epoch of few queries.
        """
        self.n_begun += 1
        if self._most_ms is not None and not self._takes_over(trial, clock):
            look = trial
            if isinstance(self.bench.make(trial.kind), ScoringNetwork):
                few = min(1.0, FEWEST_QUERIES / self.bench.data.n_queries)
                look = Trial(self.bench, trial.kind, share=few, most_steps=1)
            if not self._trains(look, 1, clock.slice(1 / self.bench.n_folds)) or self._is_too_dear(look):
                return None
        return self._run(trial, self.bench.n_folds, clock)

    def _is_too_dear(self, trial: Trial) -> bool:
        """Whether scoring by it takes longer than the bound, and it is not the cheapest so far, which is needed."""
        cost = trial.milliseconds or 0.0
        others = [one.milliseconds or 0.0 for one in self.done]
        if self._most_ms is None or cost <= self._most_ms or cost < min(others, default=np.inf):
            return False
        self.left_out[trial.kind.text] = "scoring by it alone takes longer than max_score_ms"
        return True

    def _slowness(self, kind: Kind, cost: float) -> float:
        """How much longer than thought something takes, where the time may not be enough: tried on a few queries."""
        if self.clock.seconds is None or cost < UNHURRIED * self.clock.seconds:
            return 1.0
        n_queries = self.bench.data.n_queries
        pilot = Trial(self.bench, kind, share=min(1.0, FEWEST_QUERIES / n_queries))
        self.bench.views.take(kind.features, np.arange(1))  # makes all blocks, whatever that takes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingToLearnWarning)
            pilot.run(1, self.clock)
        return max(pilot.seconds / (pilot.share * self._cost(kind) / self.bench.n_folds), 1.0)

    def _brackets(self, draw: Callable[[int], list[Kind]]) -> None:
        own, fruitless, number = self.clock.slice(1 - FOR_THE_END), 0, 0
        while fruitless < FRUITLESS and self.done:
            known = {trial.kind.text for trial in self.done}
            kinds = [kind for kind in draw(number) if kind.text not in known][:BRACKET]
            number += 1
            if not kinds or self._is_enough(own):
                return
            before = self._members()
            for trial in self._halved(kinds, own):
                self._take(trial)
            fruitless = 0 if self._members() != before else fruitless + 1

    def _halved(self, kinds: Sequence[Kind], clock: Clock) -> list[Trial]:
        """The trials of a bracket that reach all folds."""
        running: list[Trial] = []
        for n_folds in sorted({1, 2, self.bench.n_folds}):
            going: list[tuple[float, Trial]] = []
            for trial in running or [Trial(self.bench, kind) for kind in kinds]:
                if not running and self.most_trials is not None and self.n_begun >= self.most_trials:
                    break
                if self._seconds(trial, n_folds) * HURRIED > clock.left:
                    continue
                self.n_begun += not running
                kept = self._run(trial, n_folds, clock)
                if kept is not None and not self._is_too_dear(kept):
                    going.append((self._gain(kept), kept))
            going.sort(key=lambda one: -one[0])  # stable: of equals the first
            n_kept = len(going) if n_folds == self.bench.n_folds else max(len(going) // (2 if n_folds == 1 else 3), 1)
            running = [trial for _, trial in going[:n_kept]]
            if not running:
                return []
        return [trial for trial in running if len(trial.scores) == self.bench.n_folds]

    def _gain(self, trial: Trial) -> float:
        """What the ensemble gains by the trial, on the folds that the trial has; under a bound, in the best place."""
        which = self.bench.fold < len(trial.scores)
        choice = Choice(self.bench, [*self.done, trial], self.n_first, self._most_ms)
        chosen = choice.members(which) if len(trial.scores) == self.bench.n_folds else self._members()
        new = Member(len(self.done), trial.best_step(which))
        chosen = [one for one in chosen if one.trial != new.trial]
        now = choice.measure(chosen)[which]
        gains = [choice.measure(change)[which] - now for change in choice.with_room(chosen, new)]
        return max((float(np.nanmean(gain)) if np.isfinite(gain).any() else 0.0 for gain in gains), default=-np.inf)

    def _members(self) -> list[Member]:
        return Choice(self.bench, self.done, self.n_first, self._most_ms).members(
            np.full(self.bench.data.n_queries, True)
        )

    def _seconds(self, trial: Trial, n_folds: int) -> float:
        """About how long the missing folds of a trial take: as its own did, or as those of its family."""
        if self.clock.seconds is None:
            return 0.0
        missing = n_folds - len(trial.scores)
        if trial.scores:
            return trial.seconds / len(trial.scores) * missing
        alike = [one.seconds / one.share for one in self.done if one.kind.ranker == trial.kind.ranker]
        return (max(alike) if alike else self._cost(trial.kind)) / self.bench.n_folds * missing

    def _is_enough(self, clock: Clock) -> bool:
        if self.most_trials is not None and self.n_begun >= self.most_trials:
            return True
        return bool(self.done) and clock.is_over()

    def _run(self, trial: Trial, n_folds: int, clock: Clock) -> Trial | None:
        """The trial with this many folds, as it was kept or trained; None if it cannot be trained on this data."""
        done = len(trial.scores) >= n_folds or self._takes_over(trial, clock) or self._trains(trial, n_folds, clock)
        return trial if done else None

    def _takes_over(self, trial: Trial, clock: Clock) -> bool:
        """Take what was kept of a trial; if the clock cut it short, only where there is no time to do it again."""
        row = None if self._kept is None or trial.scores else self._kept.row(trial)
        if row is None or self._kept is None:
            return False
        if not row["whole"] and HURRIED * row["seconds"] <= clock.left:
            return False
        self._kept.load(trial)
        self._time(trial)
        return True

    def _time(self, trial: Trial) -> None:
        """Under a bound, what scoring by the trial costs."""
        if self._most_ms is not None:
            trial.milliseconds = cost_of(trial)

    def _trains(self, trial: Trial, n_folds: int, clock: Clock) -> bool:
        """Train the folds that are missing; whether that can be done on this data."""
        self._tell(f"{trial.kind.ranker} on {trial.kind.features}", None)
        try:
            with warnings.catch_warnings(), all_or_nothing():
                warnings.simplefilter("ignore", NothingToLearnWarning)  # the whole has said so
                trial.run(n_folds, clock)
        except OrdinoError as error:
            self.left_out[trial.kind.text] = str(error)
            return False
        self._time(trial)
        return True

    def _take(self, trial: Trial) -> None:
        self.done.append(trial)
        if self._kept is not None:
            self._kept.save(trial)
        self._tell("", trial)


def kind_of(row: Mapping[str, Any]) -> Kind:
    """The kind of a row of a plan."""
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in row["params"].items()}
    return Kind(row["ranker"], params, row["features"])
