"""Experiments in one call: ``ordino.bench`` trains and compares rankers, ``ordino.compare`` two things on one data set.

The command line has the same under the same names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.experiment.compare.comparison import Comparisons, compare_evaluations
from ordino.experiment.compare.significance import find_test
from ordino.experiment.plan import Entry, Plan
from ordino.experiment.plan.plan import Source
from ordino.experiment.report.board import Board, make_boards
from ordino.experiment.report.text import header, table_rows, terminal
from ordino.experiment.run import run
from ordino.experiment.store.kept import MEGABYTES
from ordino.html import html_table
from ordino.metrics import DEFAULT_METRICS, Evaluation, evaluate
from ordino.pipelines import last_step, score_with
from ordino.ranker import Ranker


@final
class Boards(tuple[Board, ...]):
    """The boards of an experiment, one for each data set; prints as tables."""

    __slots__ = ()

    def __str__(self) -> str:
        return terminal(self, styled=False)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(
            html_table(
                header(board),
                [[cell.text + cell.deviation + (cell.mark or "") for cell in row] for row in table_rows(board)],
                title=board.dataset,
                note=" ".join(board.notes),
            )
            for board in self
        )


def bench(
    data: Source | Sequence[Source] | Mapping[str, Source],
    rankers: Sequence[str | Mapping[str, Any] | Entry],
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    out: str | Path | None = None,
    n_jobs: int | None = None,
    verbose: bool = True,
    **settings: Any,
) -> Boards:
    """Train rankers on folds of the data and compare them: means, deviations, significance.

    Parameters
    ----------
    data, rankers, settings
        As for :class:`~ordino.experiment.plan.Plan`: data sets, files or folders of folds; names such as
        "lambda-mart"; ``profile``, ``select``, ``repeats``, ``folds``, ``seed``, ``name``.
    out
        The store to write to, which another call with the same plan continues, and which ``ordino report`` and ``ordino
        studio`` show (rankings are kept beside it); by default a new file in the folder for temporary files.
    n_jobs
        Number of worker processes; None takes the free processors.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> [board] = bench({"easy": easy_data()}, ["rank-svm", "random-ranker"], metrics=["map"], folds=3, n_jobs=1)
    >>> [line.label for line in board.lines]
    ['RankSVM', 'RandomRanker']
    """
    store = Path(mkdtemp(prefix="ordino-"), "bench.sqlite") if out is None else Path(out)
    plan = Plan(data=data, rankers=rankers, measures=metrics, **settings)
    rankings = None if out is None else MEGABYTES
    return Boards(make_boards(run(plan, store, n_jobs=n_jobs, verbose=verbose, rankings=rankings)))


def compare(
    a: Any, b: Any, data: Dataset | None = None, *, metrics: str | Sequence[str] = DEFAULT_METRICS,
    profile: str = "standard", test: str = "wilcoxon",
) -> Comparisons:  # fmt: skip
    """Compare two rankers query by query: difference, interval, p-value, effect size, wins.

    Parameters
    ----------
    a, b
        Fitted rankers or pipelines that end in one, or scores of the documents of ``data`` (one for each row); or what
        :func:`ordino.evaluate` gave, and then without ``data``.
    test
        A name in :data:`~ordino.experiment.compare.significance.TESTS`.

    Examples
    --------
    >>> from ordino import RandomRanker, RankSVM
    >>> from ordino.testing import easy_data
    >>> train, test = easy_data(), easy_data(seed=1)
    >>> found = compare(RankSVM().fit(train), RandomRanker().fit(train), test, metrics="map")
    >>> found[0].difference > 0.3, found[0].p < 0.01
    (True, True)
    """
    find_test(test)
    sides = [_measured(one, data, metrics, profile) for one in (a, b)]
    return compare_evaluations(*sides, test=test)


def _measured(given: Any, data: Dataset | None, metrics: str | Sequence[str], profile: str) -> Evaluation:
    if isinstance(given, Evaluation):
        if data is not None:
            raise ParameterError("compare() takes evaluations without data; leave data out, or give rankers or scores")
        return given
    if data is None:
        raise ParameterError("compare() needs data=..., the judged documents on which the two are compared")
    if hasattr(given, "predict"):
        data = data.as_grouped()  # without the caller's order and back
        given = score_with(given, data) if isinstance(last_step(given), Ranker) else _predicted(given, data)
    return evaluate(data, np.asarray(given), metrics=metrics, profile=profile)


def _predicted(model: Any, data: Dataset) -> ArrayLike:
    """Scores of a model of another library, in the order of the rows here."""
    try:
        scores: ArrayLike = np.asarray(model.predict(data.X))
    except Exception as error:
        raise DataError(f"{type(model).__name__} could not score the data ({error}); give its scores instead") from None
    return scores
