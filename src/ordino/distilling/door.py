"""Distillation: a ranker that engines can hold learns the order that another ranker gives.

The student sees the teacher's scores and never a label: in each query the documents are put in the teacher's order,
and the document at rank r gets the label 1 / log2(r + 1), the discount of NDCG, so that the top counts most. What is
lost is measured on queries from which nothing was learned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_real
from ordino.data.columns import Groups
from ordino.data.dataset import Dataset
from ordino.data.filling import MedianFilled
from ordino.data.source import canonical
from ordino.errors import DataError
from ordino.experiment.compare.comparison import Comparison, compare_evaluations
from ordino.layers import Layer
from ordino.metrics import evaluate
from ordino.order.fusion import query_ranks
from ordino.pipelines import last_step, score_with
from ordino.plain import count_of
from ordino.ranker import measure_of
from ordino.rankers import make_ranker
from ordino.streams import spawn_seed

BLOCK = 512  # documents of a query that are compared with all others at a time


@final
@dataclass(frozen=True)
class Distilled:
    """A student, and what it lost on queries that neither of the two learned from here."""

    student: Any
    loss: Comparison
    """Teacher (a) against student (b) by the teacher's metric, with the 95 % interval of the difference."""
    queries: int
    orders_changed: int
    """Queries in which some document stands elsewhere."""
    tops_changed: int
    """Queries in which another document comes first."""
    pairs_kept: float
    """The share of pairs that the teacher tells apart which the student puts in the same order."""

    def __str__(self) -> str:
        one = self.loss
        low, high = one.interval
        return (
            f"{one.measure}: teacher {one.mean_a:.4f}, student {one.mean_b:.4f}, lost {one.difference:+.4f} "
            f"({low:+.4f} to {high:+.4f}); {self.orders_changed:,} of {count_of(self.queries, 'order')} change, "
            f"{self.tops_changed:,} have another document on top, {self.pairs_kept:.1%} of pairs stay in order"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return {
            "loss": self.loss.to_dict(), "queries": self.queries, "orders_changed": self.orders_changed,
            "tops_changed": self.tops_changed, "pairs_kept": self.pairs_kept,
        }  # fmt: skip


def distill(
    teacher: Any, into: str, data: Dataset, *, test: Dataset | None = None, hold_out: float = 0.25, seed: int = 0,
    params: Mapping[str, Any] | None = None,
) -> Distilled:  # fmt: skip
    """Teach the order of a fitted ranker to one that engines can hold.

    Parameters
    ----------
    teacher
        A fitted ranker of any kind, such as a comparator or an ensemble, or a pipeline that ends in one.
    into
        The student: lambda-mart, ranknet or rank-svm.
    data
        Documents to learn from; their labels play no role in learning.
    test
        Labeled queries on which the loss is measured; None holds out a share of ``data``.
    hold_out
        That share of the queries.
    params
        Parameters of the student, such as ``{"rounds": 1000}``.

    Examples
    --------
    >>> from ordino import RankSVM
    >>> from ordino.testing import easy_data
    >>> found = distill(RankSVM().fit(easy_data()), "rank-svm", easy_data(n_queries=30, seed=1))
    >>> found.pairs_kept > 0.95, found.queries
    (True, 8)
    """
    make = STUDENTS[check_choice("student", into, STUDENTS)]
    data = _without_an_order(data)
    if test is None:
        check_real("hold_out", hold_out, low=0, high=0.9, open_low=True)
        data, test = data.split(1 - hold_out)
    if not data.n_queries or not test.n_queries:
        raise DataError("a part of the data is empty; give more queries, or test=")
    shown = relabeled(data, score_with(teacher, data.as_grouped()))
    student = make(shown, spawn_seed(seed, "student"), dict(params or {}))
    return measure(teacher, student, test.as_grouped())


def _without_an_order(data: Dataset) -> Dataset:
    """The same data in an order that neither its rows nor its labels had a say in: it decides what is held out."""
    groups = Groups(None, data.offsets, np.arange(data.n_queries))
    blind = canonical(
        Dataset.of_groups(data.X, np.zeros(data.n_docs), groups, doc_ids=np.arange(data.n_docs), weights=data.weights)
    )
    assert blind.doc_ids is not None
    return data.take_rows(blind.doc_ids, Groups(None, blind.offsets, data.query_ids[blind.query_ids]))


def relabeled(data: Dataset, scores: NDArray[np.float64]) -> Dataset:
    """The same documents with labels by the order of these scores, which come query after query.

    Examples
    --------
    >>> relabeled(Dataset([[0.0]] * 3, [9, 9, 9]), np.array([0.1, 0.7, 0.3])).y.round(3).tolist()
    [0.5, 1.0, 0.631]
    """
    grouped = data.as_grouped()
    return grouped.replace(y=1 / np.log2(query_ranks(scores, grouped.offsets) + 1))


def measure(teacher: Any, student: Any, test: Dataset) -> Distilled:
    """What a student lost, on labeled queries."""
    last = last_step(teacher)
    metric, profile = measure_of(last)
    scores = score_with(teacher, test), student.predict(test)
    [loss] = compare_evaluations(*(evaluate(test, one, metrics=metric, profile=profile) for one in scores))
    n_orders = n_tops = kept = told = 0
    for start, stop in zip(test.offsets[:-1], test.offsets[1:], strict=True):
        a, b = (one[start:stop] for one in scores)
        order_a, order_b = (np.argsort(-one, kind="stable") for one in (a, b))
        n_orders += not np.array_equal(order_a, order_b)
        n_tops += bool(order_a[0] != order_b[0])
        for first in range(0, len(a), BLOCK):
            some = slice(first, first + BLOCK)
            above = a[some, None] > a
            told += int(above.sum())
            kept += int((above & (b[some, None] > b)).sum())
    return Distilled(student, loss, test.n_queries, n_orders, n_tops, kept / told if told else 1.0)


def _trees(data: Dataset, seed: int, params: dict[str, Any]) -> Any:
    own = {"seed": seed, "gain": "linear", "truncation": 100, "min_leaf": 10, "leaves": 31, "rounds": 500}
    return make_ranker("lambda-mart", {"learning_rate": 0.05} | own | params).fit(data, valid=_valid(data))


def _valid(data: Dataset) -> float | None:
    """A share of the queries, by the teacher's order of which rounds and epochs are chosen."""
    return 0.2 if data.n_queries >= 10 else None


def _linear(data: Dataset, seed: int, params: dict[str, Any]) -> Any:  # noqa: ARG001
    ranker = make_ranker("rank-svm", {"C": [0.001, 0.01, 0.1, 1.0], "pair_weights": "query", **params})
    if ranker.scaling is not None:
        return _scaling_itself(ranker, data)
    scaled, filler, _, deviation = _standardized(data, ranker.missing)
    ranker.fit(scaled, valid=_valid(data))
    ranker.coef_ = ranker.coef_ / deviation
    return _filled(ranker, filler)


def _network(data: Dataset, seed: int, params: dict[str, Any]) -> Any:
    own = {"seed": seed, "activation": "tanh", "dropout": 0.0, "epochs": 100, "scaling": None}
    ranker = make_ranker("ranknet", own | params)
    if ranker.scaling is not None:
        return _scaling_itself(ranker, data)
    scaled, filler, mean, deviation = _standardized(data, ranker.missing)
    ranker.fit(scaled, valid=_valid(data))
    (W, b), *rest = ranker.layers_
    wide = W.astype(np.float64) / deviation[:, None]
    first = Layer(wide.astype(np.float32), (b - mean @ wide).astype(np.float32))
    ranker.layers_ = [first, *rest]
    return _filled(ranker, filler)


def _scaling_itself(ranker: Any, data: Dataset) -> Any:
    """A student with a scaling of its own, which learns from the features as they are."""
    if bool(np.isnan(data.X).any()):
        ranker.missing = "median"
    return ranker.fit(data, valid=_valid(data))


def _standardized(
    data: Dataset, missing: str | None
) -> tuple[Dataset, MedianFilled | None, NDArray[np.float64], NDArray[np.float64]]:
    """The data with features of mean 0 and deviation 1: a scaling that goes into the weights afterwards."""
    filler = MedianFilled().fit(data) if missing is not None or bool(np.isnan(data.X).any()) else None
    X = (data if filler is None else filler.transform(data)).X.astype(np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation < 1e-12 * (1 + np.abs(mean))] = 1.0
    scaled = ((X - mean) / deviation).astype(np.float32)
    return data.replace_features(scaled, data.feature_names), filler, mean, deviation


def _filled(ranker: Any, filler: MedianFilled | None) -> Any:
    if filler is not None:
        ranker.missing, ranker.scaler_ = "median", filler
    return ranker


STUDENTS: Mapping[str, Callable[[Dataset, int, dict[str, Any]], Any]] = MappingProxyType(
    {"lambda-mart": _trees, "ranknet": _network, "rank-svm": _linear}
)
"""Rankers that a teacher's order is taught to, by name."""
