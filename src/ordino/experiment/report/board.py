"""The boards of a store: which ranker is best on which data, by how much, and whether that is more than chance.

Trials of one data set and one profile make a board; trials of one label (and one setting, see
:mod:`~ordino.experiment.report.board_trials`) make a line of it. Two lines are compared query by query: the value of a
query is first averaged over the trials of a line, so that repeats with other seeds do not count as more queries.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isclose
from typing import Any, final

import numpy as np

from ordino.checks import check_choice
from ordino.errors import ParameterError
from ordino.experiment.compare.comparison import Comparisons, compare_values
from ordino.experiment.compare.significance import Floats, compare_all, find_test
from ordino.experiment.compare.unpaired import UnpairedComparisons, compare_samples
from ordino.experiment.report.board_trials import BoardTrials, choose_trials
from ordino.experiment.report.board_values import find_places, query_means
from ordino.experiment.report.notes import (
    ALPHA,
    BETTER,
    WORSE,
    board_notes,
    count_empty,
    count_queries,
    count_tied,
    whole_labels,
)
from ordino.experiment.store.sums import setting_of
from ordino.experiment.store.trial import Trial, TrialInfo, grouped
from ordino.experiment.store.view import Group, StoreView
from ordino.metrics import parse_metric

Remember = Callable[[Hashable, Callable[[], Any]], Any]
"""Gives what was made for a key before, or makes it."""
SHOWN = 6
"""How many metrics a table shows by default: the first ones that the trials name."""


@final
@dataclass(frozen=True)
class Cell:
    """What a line has for one metric."""

    mean: float
    deviation: float
    """Between the trials; NaN where there is only one."""
    p: float
    """Against the reference, Holm-corrected; NaN for the reference itself."""
    mark: str
    """``▲`` for significantly better than the reference, ``▼`` for worse, or nothing."""
    is_best: bool
    is_whole: bool = True
    """Whether it covers every fold that any line has the metric on; if not, it is of other queries and has no mark."""


@final
@dataclass(frozen=True, eq=False)
class Line:
    """All trials of one label."""

    label: str
    trials: Sequence[TrialInfo]
    per_query: Mapping[str, Floats]
    """By metric the value of each query of the board, averaged over the trials; NaN where there is none."""
    cells: Mapping[str, Cell]

    @property
    def train_seconds(self) -> float:
        """How long one training took on average."""
        return float(np.mean([trial.train_seconds for trial in self.trials]))

    @property
    def n_tied(self) -> float | None:
        """Number of queries in which equal scores have different labels; None if the store does not say."""
        return count_tied(self.trials)

    @property
    def n_trials(self) -> int:
        """Number of folds and seeds; a trial whose metrics come from two runs counts once."""
        return len({(trial.fold, trial.seed) for trial in self.trials})


@final
@dataclass(frozen=True, eq=False)
class Board:
    """The lines of one data set under one profile, best first by the first metric."""

    dataset: str
    profile: str
    measures: Sequence[str]
    """What tables show."""
    all_measures: Sequence[str]
    lines: Sequence[Line]
    references: Mapping[str, str]
    """By metric the label that the others were compared with."""
    query_ids: Sequence[Any]
    counts: Mapping[str, int]
    """Queries that are empty, short or left out (``n_empty`` ...), as far as the store has them."""
    test: str
    notes: Sequence[str]
    """What a reader must know to trust the numbers, a sentence each."""
    view: StoreView
    """Where histories and feature weights are read from when a figure shows them."""

    @property
    def n_comparisons(self) -> int:
        """Among how many comparisons a mark or a p of a column stands."""
        return len(self.lines) - 1

    def line(self, label: str) -> Line:
        """The line of a label."""
        lines = {line.label: line for line in self.lines}
        return lines[check_choice("label", label, lines)]


def make_boards(
    source: StoreView | Iterable[Trial],
    *,
    measures: Sequence[str] | None = None,
    baseline: str | None = None,
    test: str = "wilcoxon",
    labels: Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
    only_shown: bool = False,
    only_first: bool = False,
    remember: Remember = lambda _, make: make(),
) -> list[Board]:
    """Boards of all data sets and profiles of a store, in the order in which they appear.

    Parameters
    ----------
    source
        A view of a store, which must stay open as long as figures are drawn from the boards; or trials.
    measures
        The metrics to show; the first one sorts the lines. By default, the first :data:`SHOWN` metrics of the trials.
    baseline
        The label that the others are compared with; by default the best line of each metric.
    test
        A name in :data:`~ordino.experiment.compare.significance.TESTS`.
    labels
        The lines to show, by default all; a board without any of them is left out.
    groups
        The data sets and profiles to make boards of, by default all.
    only_shown
        Read only the metrics to show, which is faster where a store has many.
    only_first
        Read only the first of them, which is enough to know the lines and their order.
    remember
        Where the values of queries may be kept between two calls: it gets a key and the function that reads them.
    """
    find_test(test)
    view = source if isinstance(source, StoreView) else StoreView.of(source)
    groups = view.groups() if groups is None else groups
    boards = [choose_trials(view.trials(group), view.are_copies) for group in groups]
    found = {trial.label for chosen in boards for trial in chosen.trials}
    if labels is not None:
        for label in labels:
            check_choice("label", label, found)
        boards = [BoardTrials([one for one in board.trials if one.label in labels], board.notes) for board in boards]
    if baseline is not None:
        check_choice("baseline", baseline, labels or found)
    return [
        _board(view, group, chosen, measures, baseline, test, only_shown, only_first, remember)
        for group, chosen in zip(groups, boards, strict=True)
        if chosen.trials
    ]


def shared_measures(board: Board, a: str, b: str) -> list[str]:
    """The metrics by which two lines have a query in common."""
    left, right = board.line(a).per_query, board.line(b).per_query
    return [name for name in board.measures if not np.isnan(left[name] - right[name]).all()]


def compare_labels(board: Board, a: str, b: str, *, quick: bool = False) -> Comparisons | UnpairedComparisons:
    """Compare two lines of a board by the metrics that it shows and the test that it names.

    Where they have no query in common, their trials are compared by Welch's test instead.
    ``quick`` is that of :func:`~ordino.experiment.compare.comparison.compare_values`.
    """
    lines = board.line(a), board.line(b)
    shared = shared_measures(board, a, b)
    means = [{name: _trial_means(line.trials, name) for name in shared or board.measures} for line in lines]
    if not shared:
        return compare_samples(*means)
    a_values, b_values = ({name: line.per_query[name] for name in shared} for line in lines)
    samples = None if find_test(board.test).is_paired else (means[0], means[1])
    return compare_values(a_values, b_values, test=board.test, samples=samples, quick=quick)


def _board(
    view: StoreView, group: Group, chosen: BoardTrials, measures: Sequence[str] | None, baseline: str | None, test: str,
    only_shown: bool, only_first: bool, remember: Remember,
) -> Board:  # fmt: skip
    trials = chosen.trials
    stored = list(dict.fromkeys(name for trial in trials for name in trial.test))
    shown = stored[:SHOWN] if measures is None else [_stored(name, stored) for name in measures]
    by_label = grouped((trial.label, trial) for trial in trials)
    labels = tuple(by_label)
    settings = {trial.key: setting_of(trial) for trial in trials}
    index, places = remember(("places", labels), lambda: find_places(view, group, trials))
    values: dict[str, dict[str, Floats]] = {label: {} for label in by_label}
    cells: dict[str, dict[str, Cell]] = {label: {} for label in by_label}
    references = {}
    for name in shown[:1] if only_first else dict.fromkeys(shown) if only_shown else stored:
        read = partial(query_means, view, trials, settings, name, places, len(index))
        for label, column in remember(("means", labels, name), read).items():
            values[label][name] = column
        means = {label: _trial_means(of_label, name) for label, of_label in by_label.items()}
        samples = {label: values[label][name] for label in by_label} if find_test(test).is_paired else means
        references[name], made = _column(name, means, samples, baseline, test, whole_labels(by_label, name))
        for label, cell in made.items():
            cells[label][name] = cell
    best_first = sorted(by_label, key=lambda label: _goodness(shown[0], cells[label][shown[0]].mean), reverse=True)
    sizes = {trial.fold: len(places[trial.key]) for trial in reversed(trials)}
    counts = count_queries(trials, sizes, len(index)) or count_empty(group.profile, list(values.values()))
    notes = [*board_notes(by_label, baseline, test, len(index), counts, shown, stored), *chosen.notes]
    lines = [Line(label, by_label[label], values[label], cells[label]) for label in best_first]
    return Board(
        dataset=group.dataset, profile=group.profile, measures=shown, all_measures=stored, lines=lines,
        references=references, query_ids=list(index), counts=counts, test=test, notes=notes, view=view,
    )  # fmt: skip


def _stored(name: str, stored: list[str]) -> str:
    """A metric by any name that parses to it."""
    wanted = str(parse_metric(name))
    if wanted not in stored:
        raise ParameterError(f"{wanted} is not in the store; it holds: {', '.join(stored)}")
    return wanted


def _trial_means(trials: Sequence[TrialInfo], name: str) -> Floats:
    means = np.array([trial.test.get(name, np.nan) for trial in trials], np.float64)
    return means[~np.isnan(means)]


def _column(
    name: str, means: Mapping[str, Floats], samples: Mapping[str, Floats], baseline: str | None, test: str,
    whole: set[str],
) -> tuple[str, dict[str, Cell]]:  # fmt: skip
    """The reference and the cells of one metric; a label that lacks folds, not being in ``whole``, has no mark."""
    centers = {label: float(own.mean()) if len(own) else np.nan for label, own in means.items()}
    candidates = [label for label in centers if label in whole] or list(centers)
    best = max(candidates, key=lambda label: _goodness(name, centers[label]))
    reference = baseline if baseline is not None and baseline in means else best
    others = [label for label in means if label != reference]
    outcomes, corrected = compare_all([samples[label] for label in others], samples[reference], test=test)
    p = dict(zip(others, corrected.tolist(), strict=True))
    ahead = {label: outcome.leaning for label, outcome in zip(others, outcomes, strict=True)}
    column = {}
    for label, own in means.items():
        gain = _goodness(name, centers[label]) - _goodness(name, centers[reference])
        # ranks, or queries that weigh alike, may see another one ahead than the means do: then neither is marked
        is_marked = p.get(label, 1.0) < ALPHA and gain * parse_metric(name).quality(ahead[label]) > 0
        is_marked = is_marked and {label, reference} <= whole
        column[label] = Cell(
            mean=centers[label],
            deviation=float(own.std(ddof=1)) if len(own) > 1 else np.nan,
            p=p.get(label, np.nan),
            mark=(BETTER if gain > 0 else WORSE) if is_marked else "",
            is_best=isclose(centers[label], centers[best]),  # sums in another order are no difference
            is_whole=label in whole,
        )
    return reference, column


def _goodness(name: str, mean: float) -> float:
    """Larger is better; a metric without a value is the worst there is."""
    return -np.inf if np.isnan(mean) else parse_metric(name).quality(mean)
