"""How the numbers of a board came about, and what they say: settings, versions, dates, and the finding."""

import json
from collections.abc import Iterable, Sequence
from math import isnan
from typing import NamedTuple

from ordino.experiment.report.board import Board, Line
from ordino.experiment.report.notes import BETTER, WORSE
from ordino.experiment.store.trial import TrialInfo, grouped
from ordino.pages.numbers import listed, measure_title, spelled

NAMED = 4  # rankers that a sentence names one by one
UNKNOWN = "not recorded"


class Setting(NamedTuple):
    """How one ranker was trained, for a row of a table."""

    label: str
    ranker: str
    """Its name on the command line."""
    settings: str
    chosen_by: str
    folds: int
    seeds: int


def settings_of(board: Board) -> list[Setting]:
    """How each line of a board was trained."""
    return [
        Setting(
            line.label,
            _joined(trial.ranker for trial in line.trials),
            setting_text(line.trials),
            _joined(trial.chosen_by for trial in line.trials) or "–",
            len({trial.fold for trial in line.trials}),
            len({trial.seed for trial in line.trials}),
        )
        for line in board.lines
    ]


def setting_text(trials: Sequence[TrialInfo]) -> str:
    """The parameters that were set, fold by fold where they differ.

    Examples
    --------
    >>> def trial(fold, **params):
    ...     return TrialInfo(key="", dataset="", fold=fold, ranker="", label="", params=params, seed=0, profile="")
    >>> setting_text([trial("Fold1"), trial("Fold2")])
    'defaults'
    >>> setting_text([trial("Fold1", l2=0.1), trial("Fold2", l2=0.5, hidden=[8])])
    'Fold1: l2=0.1; Fold2: l2=0.5, hidden=[8]'
    """
    folds = grouped((_params_text(trial), trial.fold) for trial in trials)
    if len(folds) == 1:
        return next(iter(folds))
    return "; ".join(f"{', '.join(dict.fromkeys(named))}: {text}" for text, named in folds.items())


def versions_of(board: Board) -> str:
    """What the trials ran on; a package of which there were several versions has them all."""
    found = grouped(
        (package, number) for line in board.lines for trial in line.trials for package, number in trial.versions.items()
    )
    return ", ".join(f"{package} {_joined(numbers, ' and ')}" for package, numbers in found.items()) or UNKNOWN


def dates_of(board: Board) -> str:
    """The day on which the trials were run (UTC), or the first and the last day."""
    days = sorted({trial.started[:10] for line in board.lines for trial in line.trials if trial.started})
    return " to ".join(dict.fromkeys([*days[:1], *days[-1:]])) or UNKNOWN


def chosen_by(board: Board) -> str:
    """The metric that chose rounds, epochs and settings on validation data."""
    return _joined(trial.chosen_by for line in board.lines for trial in line.trials) or "no metric, or not recorded"


def summary(board: Board) -> str:
    """The data, and as far as the store says: when, with which version, and chosen by which metric."""
    ordino = _joined((trial.versions.get("ordino", "") for line in board.lines for trial in line.trials), " and ")
    day = "" if dates_of(board) == UNKNOWN else f" on {dates_of(board)}"
    told = [f"{board.dataset}."]
    if day or ordino:
        told.append(f"Run{day}{f' with ordino {ordino}' if ordino else ''}.")
    if any(trial.chosen_by for line in board.lines for trial in line.trials):
        told.append(f"Rounds, epochs and settings were chosen on validation data by {chosen_by(board)}.")
    return " ".join(told)


def finding(board: Board) -> str:
    """What a reader who reads nothing else should know, by the first metric; then who leads by others."""
    metric = board.measures[0]
    title = measure_title(metric)
    known = [line for line in board.lines if not isnan(line.cells[metric].mean)]
    whole = [line for line in known if line.cells[metric].is_whole]
    if known and not whole:
        return f"No ranker has {title} on all folds, so that their means are of different queries."
    first, *others = whole or board.lines
    if not others and len(known) > 1:
        return f"{first.label} reaches {first.cells[metric].mean:.4f} on {title}; no other ranker has all folds."
    if not others:
        return f"{first.label} reaches {first.cells[metric].mean:.4f} on {title}; there is nothing to compare it with."
    reference = board.references[metric]
    if not board.line(reference).cells[metric].is_whole:
        return f"{first.label} leads on {title}; {reference} lacks folds, so that no ranker is held against it."
    if reference != first.label and any(line.cells[metric].mark == BETTER for line in board.lines):
        ahead = [line for line in board.lines if line.cells[metric].mark == BETTER]
        return f"On {title}, {_listed(ahead)} ahead of {reference} by more than chance."
    if reference != first.label:
        return f"On {title}, no ranker is ahead of {reference} by more than chance."
    near = [line for line in others if line.cells[metric].mark != WORSE]
    if near:
        return f"{first.label} leads on {title}; {_listed(near)} within chance of it{_other_leaders(board, first)}."
    behind = others[0].label if len(others) == 1 else f"all {spelled(len(others))} others"
    return f"{first.label} is ahead of {behind} on {title} by more than chance{_other_leaders(board, first)}."


def _other_leaders(board: Board, first: Line) -> str:
    """Who is best by the other metrics that are shown, if it is not the best of the first."""
    leaders = grouped(
        (line.label, measure_title(name))
        for name in board.measures[1:]
        if not first.cells[name].is_best
        for line in board.lines
        if line.cells[name].is_best
    )
    told = [f"{label} leads on {listed(names)}" for label, names in list(leaders.items())[:2]]
    return f"; {listed([told[0], *(one.replace(' leads on', ' on', 1) for one in told[1:])])}" if told else ""


def _listed(lines: Sequence[Line]) -> str:
    """The rankers of a sentence, with the verb that fits them."""
    return f"{listed([line.label for line in lines], NAMED)} {'is' if len(lines) == 1 else 'are'}"


def _params_text(trial: TrialInfo) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in trial.params.items()) or "defaults"


def _joined(values: Iterable[str], between: str = ", ") -> str:
    return between.join(dict.fromkeys(filter(None, values)))
