"""Which trials of a label belong together: settings are kept apart, the newest counts, and copies count once.

A store keeps everything that was ever run. Two runs that call different settings by one label, or that made the same
trial again with other data or metrics, must not be averaged as if they were repeats of one ranker. Repeats of a ranker
in which nothing is random are copies of one trial, and no sample.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ordino.experiment.store.trial import TUNED, TrialInfo, grouped
from ordino.plain import count_of

AreCopies = Callable[[str, Sequence[str]], bool]
"""Whether trials, given by their keys, have the same value of a metric for every query."""


class BoardTrials(NamedTuple):
    """Trials in which a label is one ranker, each fold and seed of it measured once; and what a reader must know."""

    trials: list[TrialInfo]
    notes: list[str]


def choose_trials(trials: Sequence[TrialInfo], are_copies: AreCopies = lambda *_: False) -> BoardTrials:
    """The trials of one data set and profile, given in the order of writing, with labels that mean one thing each.

    Of a fold whose data has changed, only trials on the last data count. Fixed settings of one label become lines of
    their own, named by what differs. Where settings are chosen for each fold, those of the last search stand. Of trials
    that differ in none of this, the last one that has a metric stands for it. If all repeats of a label are equal, one
    of each fold counts.

    Examples
    --------
    >>> def trial(key, **params):
    ...     return TrialInfo(key=key, dataset="", fold="Fold1", ranker="", label="RankNet", params=params, seed=0,
    ...                      profile="", test={"map": 0.5})
    >>> [one.label for one in choose_trials([trial("1", l2=0.1), trial("2"), trial("3", l2=0.5)]).trials]
    ['RankNet (l2=0.1)', 'RankNet', 'RankNet (l2=0.5)']
    >>> [one.key for one in choose_trials([trial("1"), trial("2")]).trials]   # by another version, say
    ['2']
    """
    last_data = {trial.fold: trial.data for trial in trials if trial.data}
    current = [trial for trial in trials if not trial.data or trial.data == last_data[trial.fold]]
    by_label = grouped(((trial.label, trial.is_tuned), trial) for trial in current)
    names: dict[str, str] = {}
    several = {label: None for label, is_tuned in by_label if is_tuned and (label, False) in by_label}
    for (label, is_tuned), group in by_label.items():
        if is_tuned:
            chosen = {trial.fold: _text(trial.params) for trial in group}
            group[:] = [trial for trial in group if _text(trial.params) == chosen[trial.fold]]
            names |= {trial.key: label + TUNED for trial in group if label in several}
        elif _is_mixed(group):
            names |= {trial.key: _named(label, trial, group) for trial in group}
            several[label] = None
    staying = {trial.key for group in by_label.values() for trial in group}
    named = [replace(one, label=names[one.key]) if one.key in names else one for one in current if one.key in staying]
    kept = _last_of_each(named)
    single, copied = _without_copies(kept, are_copies)
    notes = [f"{label} has been run with several settings: each is a line of its own." for label in several]
    notes += [f"All repeats of {label} are equal on every query, so they count as one trial." for label in copied]
    made = ("trial was made", "trials were made")
    if n_outdated := len(trials) - len(current):
        notes.append(f"{count_of(n_outdated, *made)} on other data of this name, and not counted here.")
    if n_replaced := len(current) - len(kept):
        notes.append(f"{count_of(n_replaced, *made)} again later, with other metrics or settings: the last count.")
    return BoardTrials(single, notes)


def _is_mixed(trials: Iterable[TrialInfo]) -> bool:
    """Whether a fold has several settings."""
    settings: dict[str, tuple[str, str]] = {}
    own = ((trial.fold, (trial.ranker, _text(trial.params))) for trial in trials)
    return any(settings.setdefault(fold, setting) != setting for fold, setting in own)


def _named(label: str, trial: TrialInfo, group: Sequence[TrialInfo]) -> str:
    """The label with the ranker and those parameters that are not the same in all of its trials."""
    differing = [trial.ranker] if any(other.ranker != trial.ranker for other in group) else []
    differing += [
        f"{name}={_text(value)}"
        for name, value in trial.params.items()
        if any(name not in other.params or _text(other.params[name]) != _text(value) for other in group)
    ]
    return f"{label} ({', '.join(differing)})" if differing else label


def _last_of_each(trials: Sequence[TrialInfo]) -> list[TrialInfo]:
    """Each trial with the metrics that no later one of the same label, fold and seed has; without any, it goes."""
    measured: set[tuple[str, str, int, str]] = set()
    kept = []
    for trial in reversed(trials):
        places = {name: (trial.label, trial.fold, trial.seed, name) for name in trial.test}
        fresh = [name for name, place in places.items() if place not in measured]
        measured |= set(places.values())
        if len(fresh) == len(places):
            kept.append(trial)
        elif fresh:
            kept.append(replace(trial, test={name: trial.test[name] for name in fresh}))
    return kept[::-1]


def _without_copies(trials: list[TrialInfo], are_copies: AreCopies) -> tuple[list[TrialInfo], list[str]]:
    """The trials without repeats that are copies on every fold of their label; and these labels."""
    copied = []
    dropped: set[str] = set()
    for label, own in grouped((trial.label, trial) for trial in trials).items():
        places = grouped(((trial.fold, name), trial) for trial in own for name in trial.test)
        repeated = {place: group for place, group in places.items() if len(group) > 1}
        if repeated and all(
            len({repr(trial.test[name]) for trial in group}) == 1 and are_copies(name, [trial.key for trial in group])
            for (_, name), group in repeated.items()
        ):
            copied.append(label)
            first = {group[0].key for group in places.values()}
            dropped |= {trial.key for group in places.values() for trial in group} - first
    return [trial for trial in trials if trial.key not in dropped], copied


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
