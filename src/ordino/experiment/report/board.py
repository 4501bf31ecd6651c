"""The boards of a store: who ranks best on which data, by how much, and whether that is more than chance.

Trials of one data set and one profile make a board; trials of one label (and one setting, see
:mod:`~ordino.experiment.report.board_trials`) make a line of it. What pairs two lines is the query: its value is
averaged over the trials of a line first, so that repeats with other seeds do not pass for more queries than there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any, final

import numpy as np

from ordino.errors import DataError, ParameterError, unknown_name
from ordino.experiment.compare.comparison import Comparison, compare_values
from ordino.experiment.compare.significance import Floats, compare_all, find_test, leaning
from ordino.experiment.report.board_trials import Settled, settle
from ordino.experiment.report.notes import ALPHA, BETTER, WORSE, board_notes, count_empty, count_queries, count_tied
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import Trial
from ordino.metrics import parse_metric

SHOWN = 6
"""How many measures a table shows unless told; the first ones that the trials name."""


@final
@dataclass(frozen=True)
class Cell:
    """A line's figure for one measure."""

    mean: float
    """Over the trials."""
    deviation: float
    """Between the trials; NaN where there is only one."""
    p: float
    """Against the reference, Holm-corrected; NaN for the reference itself."""
    mark: str
    """``▲`` for significantly better than the reference, ``▼`` for worse, or nothing."""
    is_best: bool


@final
@dataclass(frozen=True, eq=False)
class Line:
    """All trials of one label."""

    label: str
    trials: Sequence[Trial]
    per_query: Mapping[str, Floats]
    """By measure the value of each query of the board, averaged over the trials; NaN where there is none."""
    cells: Mapping[str, Cell]

    @property
    def train_seconds(self) -> float:
        """How long one training took on average."""
        return float(np.mean([trial.train_seconds for trial in self.trials]))

    @property
    def n_tied(self) -> float | None:
        """Queries with equal scores of different labels; None where the store does not tell."""
        return count_tied(self.trials)

    @property
    def n_trials(self) -> int:
        """Folds and seeds; one whose measures were taken in two runs counts once."""
        return len({(trial.fold, trial.seed) for trial in self.trials})


@final
@dataclass(frozen=True, eq=False)
class Board:
    """The lines of one data set under one profile, best first by the first measure."""

    dataset: str
    profile: str
    measures: Sequence[str]
    """What tables show."""
    all_measures: Sequence[str]
    lines: Sequence[Line]
    references: Mapping[str, str]
    """By measure the label that the others were compared with."""
    query_ids: Sequence[Any]
    counts: Mapping[str, int]
    """Queries that are empty, short or left out (``n_empty`` ...), as far as the store tells."""
    test: str
    notes: Sequence[str]
    """What a reader must know to trust the figures, a sentence each."""

    def line(self, label: str) -> Line:
        """The line of a label."""
        found = [line for line in self.lines if line.label == label]
        if not found:
            raise unknown_name("label", label, [line.label for line in self.lines])
        return found[0]


def read_trials(store: str | Path, *, experiment: str | None = None) -> list[Trial]:
    """The trials of a store that were measured on test data: of one experiment, or of all."""
    path = Path(store)
    if not path.is_file() or path.stat().st_size == 0:  # which opening would make into a store
        raise DataError(f"{store}: there is no such store; `ordino bench` makes one")
    with Store(path, frozen=not all(os.access(one, os.W_OK) for one in (path, path.absolute().parent))) as opened:
        names = opened.experiments()
        if experiment is not None and experiment not in names:
            raise unknown_name("experiment", experiment, names)
        trials = opened.trials(experiment)
    if not trials:
        raise DataError(f"{store}: holds no trial that was measured on test data; run `ordino bench` first")
    return trials


def make_boards(
    trials: Iterable[Trial],
    *,
    measures: Sequence[str] | None = None,
    baseline: str | None = None,
    test: str = "wilcoxon",
    labels: Sequence[str] | None = None,
) -> list[Board]:
    """Boards of all data sets and profiles among the trials, in the order in which they appear.

    Parameters
    ----------
    measures
        What to show, the first of them ranks the lines; the first :data:`SHOWN` of the trials if None.
    baseline
        The label that the others are compared with; if None, the best line of each measure.
    test
        A name in :data:`~ordino.experiment.compare.significance.TESTS`.
    labels
        Which lines there are to be, all if None; without them a board is left out.
    """
    find_test(test)
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.dataset, trial.profile), []).append(trial)
    boards = [settle(group) for group in groups.values()]
    found = {trial.label for settled in boards for trial in settled.trials}
    for label in () if labels is None else labels:
        if label not in found:
            raise unknown_name("label", label, found)
    if labels is not None:
        boards = [Settled([one for one in settled.trials if one.label in labels], settled.notes) for settled in boards]
    if baseline is not None and baseline not in (labels or found):
        raise unknown_name("baseline", baseline, labels or found)
    return [_board(settled, measures, baseline, test) for settled in boards if settled.trials]


def compare_labels(board: Board, a: str, b: str) -> list[Comparison]:
    """Compare two lines of a board by the measures that it shows and the test that it names."""
    lines = board.line(a), board.line(b)
    values = tuple({name: line.per_query[name] for name in board.measures} for line in lines)
    trials = tuple({name: [trial.test[name] for trial in line.trials] for name in board.measures} for line in lines)
    is_paired = find_test(board.test).is_paired
    return compare_values(values[0], values[1], test=board.test, samples=None if is_paired else (trials[0], trials[1]))


def _board(settled: Settled, measures: Sequence[str] | None, baseline: str | None, test: str) -> Board:
    trials = settled.trials
    stored = list(dict.fromkeys(name for trial in trials for name in trial.per_query))
    shown = stored[:SHOWN] if measures is None else [_stored(name, stored) for name in measures]
    by_label: dict[str, list[Trial]] = {}
    for trial in trials:
        by_label.setdefault(trial.label, []).append(trial)
    index: dict[Any, int] = {}
    places = {
        trial.key: np.array([index.setdefault(query, len(index)) for query in trial.query_ids.tolist()], np.intp)
        for trial in trials
    }
    values = {
        label: {name: _query_means(group, name, places, len(index)) for name in stored}
        for label, group in by_label.items()
    }
    cells: dict[str, dict[str, Cell]] = {label: {} for label in by_label}
    references = {}
    for name in stored:
        means = {label: _trial_means(group, name) for label, group in by_label.items()}
        samples = {label: values[label][name] for label in by_label} if find_test(test).is_paired else means
        references[name], column = _column(name, means, samples, baseline, test)
        for label, cell in column.items():
            cells[label][name] = cell
    best_first = sorted(by_label, key=lambda label: _goodness(shown[0], cells[label][shown[0]].mean), reverse=True)
    counts = count_queries(trials, len(index))
    seen = None if counts else count_empty(trials[0].profile, list(values.values()))
    if seen is not None:
        counts = {"n_empty": seen}
    return Board(
        dataset=trials[0].dataset,
        profile=trials[0].profile,
        measures=shown,
        all_measures=stored,
        lines=[Line(label, by_label[label], values[label], cells[label]) for label in best_first],
        references=references,
        query_ids=list(index),
        counts=counts,
        test=test,
        notes=[*board_notes(by_label, baseline, test, len(index), counts, shown, stored), *settled.notes],
    )


def _stored(name: str, stored: list[str]) -> str:
    """A measure by any name that parses to it."""
    wanted = str(parse_metric(name))
    if wanted not in stored:
        raise ParameterError(f"{wanted} is not in the store; it holds: {', '.join(stored)}")
    return wanted


def _query_means(trials: list[Trial], name: str, places: Mapping[str, Any], n_queries: int) -> Floats:
    total, count = np.zeros(n_queries), np.zeros(n_queries)
    for trial in trials:
        if name in trial.per_query:
            values, place = trial.per_query[name], places[trial.key]
            there = ~np.isnan(values)
            total[place[there]] += values[there]
            count[place[there]] += 1
    means: Floats = np.divide(total, count, out=np.full(n_queries, np.nan), where=count > 0)
    return means


def _trial_means(trials: list[Trial], name: str) -> Floats:
    means = np.array([trial.test.get(name, np.nan) for trial in trials], np.float64)
    return means[~np.isnan(means)]


def _column(
    name: str, means: Mapping[str, Floats], samples: Mapping[str, Floats], baseline: str | None, test: str
) -> tuple[str, dict[str, Cell]]:
    """The reference and the cells of one measure."""
    centers = {label: float(own.mean()) if len(own) else np.nan for label, own in means.items()}
    best = max(centers, key=lambda label: _goodness(name, centers[label]))
    reference = baseline if baseline is not None and baseline in means else best
    others = [label for label in means if label != reference]
    _, corrected = compare_all([samples[label] for label in others], samples[reference], test=test)
    p = dict(zip(others, corrected.tolist(), strict=True))
    column = {}
    for label, own in means.items():
        gain = _goodness(name, centers[label]) - _goodness(name, centers[reference])
        # ranks, or queries that weigh alike, may see another one ahead than the means do: then neither is marked
        seen = 0.0 if label == reference else _toward(name, leaning(samples[label], samples[reference], test=test))
        is_marked = p.get(label, 1.0) < ALPHA and gain * seen > 0
        column[label] = Cell(
            mean=centers[label],
            deviation=float(own.std(ddof=1)) if len(own) > 1 else np.nan,
            p=p.get(label, np.nan),
            mark=(BETTER if gain > 0 else WORSE) if is_marked else "",
            is_best=isclose(centers[label], centers[best]),  # sums in another order are no difference
        )
    return reference, column


def _goodness(name: str, mean: float) -> float:
    """Larger is better; a measure without a value is the worst there is."""
    return -np.inf if np.isnan(mean) else _toward(name, mean)


def _toward(name: str, value: float) -> float:
    """Larger is better."""
    return value if parse_metric(name).greater_is_better else -value
