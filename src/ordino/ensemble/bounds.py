"""Members whose scoring keeps to a bound: the costs of each add up to about what asking them all takes, not to it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ordino.ensemble.choosing import Choice, Ensemble
from ordino.ensemble.scoring import cost_of
from ordino.ensemble.trials import Bench, Trial


def choice_within(
    bench: Bench, trials: Sequence[Trial], n_first: int, most_ms: float, known: Mapping[str, Any],
    time: Callable[[Ensemble], float],
) -> tuple[Choice, dict[str, float]]:  # fmt: skip
    """What chooses members under a bound, and what scoring by them takes, with the sum of costs that led to it.

    That sum is bound as well, and lowered as long as asking all members, which ``time`` does, takes longer than
    ``most_ms``. What is ``known`` of the same bound, from a plan, is not measured again.
    """
    for trial in trials:
        trial.milliseconds = trial.milliseconds or cost_of(trial)
    costs = [trial.milliseconds or 0.0 for trial in trials]
    found = dict(known) if known.get("max_ms") == most_ms else {"max_ms": most_ms, "within_ms": most_ms}
    choice = Choice(bench, trials, n_first, found["within_ms"])
    while "milliseconds" not in found:
        ensemble = choice.ensemble(np.full(bench.data.n_queries, True))
        taken = time(ensemble)
        if taken <= most_ms or found["within_ms"] < min(costs):  # the cheapest of all is the last
            found["milliseconds"] = taken
        else:
            found["within_ms"] = sum(costs[member.trial] for member in ensemble.members) * most_ms / taken
            choice = Choice(bench, trials, n_first, found["within_ms"])
    return choice, found


def warn_if_exceeded(scoring: Mapping[str, float], stacklevel: int) -> None:
    """Say it where nothing keeps to the bound."""
    taken, most = scoring["milliseconds"], scoring["max_ms"]
    if taken > most:
        text = f"scoring 1,000 documents takes {taken:.3g} ms, max_score_ms is {most:g}, and no trial is cheaper"
        warnings.warn(f"AutoRanker: {text}", UserWarning, stacklevel=stacklevel + 1)
