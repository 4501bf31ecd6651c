"""Evaluate rankings: means, values of each query, and counts of empty, tied and short queries."""

import warnings
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from math import isnan
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import mean_of_counted
from ordino.checks import renamed
from ordino.data.columns import Groups, group_rows
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.html import html_table
from ordino.metrics.engine import values_of
from ordino.metrics.metric import Metric, parse_metric
from ordino.metrics.profiles import Profile, find_profile

LONG = 1000  # documents above which a list without qid is likely to be many queries
DEFAULT_METRICS = ("ndcg@10", "map", "p@10", "mrr")


@final
class ByMetric(Mapping[str, NDArray[np.float64]]):
    """Values by metric, which are found under any of a metric's names; read-only."""

    def __init__(self, values: Mapping[str, NDArray[np.float64]]) -> None:
        self._values = dict(values)

    def __getitem__(self, metric: str) -> NDArray[np.float64]:
        return self._values[_known_as(metric, self._values)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


def _known_as(metric: str, known: Mapping[str, Any]) -> str:
    """The name under which a metric is kept."""
    if metric in known:
        return metric
    try:
        return str(parse_metric(metric))
    except ParameterError:
        raise KeyError(metric) from None


@final
@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[str, float]):
    """The result of :func:`evaluate`: a mapping from the name of each metric to its mean over the queries.

    Prints as a table, with the profile and the number of queries that its choices affect.
    """

    means: Mapping[str, float]
    per_query: Mapping[str, NDArray[np.float64]]
    """The value of each query, by metric, in the order of ``query_ids``; NaN for a query that is left out."""
    query_ids: NDArray[Any]
    profile: str
    n_queries: int
    n_empty: int
    """Queries without a relevant document."""
    n_tied: int
    """Queries in which equal scores have different labels, so that their order depends on the profile."""
    n_short: int
    """Queries with fewer documents than the largest k."""
    n_left_out: int
    """Queries left out of at least one mean, by the profile or because the metric is undefined."""
    largest_k: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_query", ByMetric(self.per_query))

    def __getitem__(self, metric: str) -> float:
        """The mean of a metric, under any of its names."""
        return self.means[_known_as(metric, self.means)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.means)

    def __len__(self) -> int:
        return len(self.means)

    def __str__(self) -> str:
        width = max(len("metric"), *map(len, self.means))
        rows = [f"{'metric':<{width}}    mean", *(f"{name:<{width}}  {mean:.4f}" for name, mean in self.means.items())]
        return "\n".join([*rows, self._note()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(name, f"{mean:.4f}") for name, mean in self.means.items()]
        return html_table(["metric", "mean"], rows, note=self._note())

    def _note(self) -> str:
        counts = [f"{self.n_empty:,} with no relevant document", f"{self.n_tied:,} with ties"]
        if self.largest_k is not None:
            counts.append(f"{self.n_short:,} with fewer than {self.largest_k} documents")
        counts.append(f"{self.n_left_out:,} left out")
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries:,} queries"
        return f"profile {self.profile}; {queries}: {', '.join(counts)}"

    def to_frame(self, backend: str = "pandas") -> Any:
        """A frame with one row for each query: its id under ``qid``, and a column for each metric."""
        from ordino.data.dataframes import make_frame

        return make_frame({"qid": self.query_ids, **self.per_query}, backend, "Evaluation.to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Everything except the values of each query, ready for JSON; a mean over no query is None."""
        metrics = {name: None if isnan(mean) else mean for name, mean in self.means.items()}
        counts = {name: getattr(self, name) for name in ("n_queries", "n_empty", "n_tied", "n_short", "n_left_out")}
        return {"profile": self.profile, "metrics": metrics, **counts}


@renamed(threads="n_jobs")
def measure(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, metrics: str | Metric | Sequence[str | Metric], *,
    profile: str | Profile = "standard", query_ids: ArrayLike | None = None, doc_ids: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Evaluation:  # fmt: skip
    """Evaluate rows that are already grouped: query ``q`` owns rows ``offsets[q]:offsets[q + 1]``.

    Parameters
    ----------
    y, scores
        Label and score of each document, shape ``(n_docs,)``; the highest score ranks first. A score of ``-inf`` marks
        a document that was not retrieved: it has no rank, but counts in recall, MAP and the best order.
    metrics
        Names such as ``ndcg@10``, or :class:`Metric` values; one or several.
    profile
        A name in :data:`ordino.metrics.PROFILES`.
    query_ids
        Ids of the queries in the result; by default their numbers.
    doc_ids
        Ids of the documents; the profile ``trec`` orders equal scores by them.
    n_jobs
        Number of threads; None takes the free processors. It does not change the values.

    Examples
    --------
    >>> found = measure([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], [0, 2, 4], ["mrr", "p@1"])
    >>> dict(found), found.per_query["mrr"].tolist()
    ({'mrr': 0.75, 'p@1': 0.5}, [1.0, 0.5])
    """
    chosen = parse_metrics(metrics)
    style = find_profile(profile)
    found = values_of(y, scores, offsets, chosen, profile=style, doc_ids=doc_ids, n_jobs=n_jobs)
    n_queries = len(found.empty)
    if n_queries == 0:
        raise DataError("there are no queries to evaluate; give at least one document")
    names = np.arange(n_queries) if query_ids is None else np.asarray(query_ids)
    if len(names) != n_queries:
        raise DataError(
            f"query_ids has {len(names)} entries but offsets make {n_queries} queries; give one id for each"
        )
    per_query = {}
    for metric, values in zip(chosen, found.values, strict=True):
        values.flags.writeable = False
        per_query[str(metric)] = values
    largest_k = max((metric.k for metric in chosen if metric.k is not None), default=None)
    return Evaluation(
        means=MappingProxyType({name: mean_of_counted(values) for name, values in per_query.items()}),
        per_query=MappingProxyType(per_query),
        query_ids=names,
        profile=style.name,
        n_queries=n_queries,
        n_empty=int(found.empty.sum()),
        n_tied=int(found.tied.sum()),
        n_short=0 if largest_k is None else int((np.diff(np.asarray(offsets)) < largest_k).sum()),
        n_left_out=int(np.isnan(found.values).any(axis=0).sum()),
        largest_k=largest_k,
    )


@renamed(threads="n_jobs")
def evaluate(
    y: ArrayLike | Dataset, scores: ArrayLike, *, qid: ArrayLike | Sequence[Any] | None = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS, profile: str | Profile = "standard",
    doc_ids: ArrayLike | None = None, n_jobs: int | None = None,
) -> Evaluation:  # fmt: skip
    """Evaluate scores against labels, query by query; rows may come in any order.

    Parameters
    ----------
    y
        Label of each document, or a :class:`~ordino.Dataset` that holds labels and queries.
    scores
        Score of each document; for a data set, in the order in which its rows were given.
    qid
        The query of each document, of any hashable type; None makes all documents one query, and warns if these are
        more than 1,000.
    metrics
        Names such as ``ndcg@10``, or :class:`Metric` values; one or several.
    profile
        A name in :data:`ordino.metrics.PROFILES`.
    doc_ids
        Ids of the documents, by which the profile ``trec`` orders equal scores; a data set has its own.
    n_jobs
        Number of threads; None takes the free processors. It does not change the values.

    Examples
    --------
    Query a has its relevant document at rank 2, query b at rank 1.

    >>> print(evaluate([0, 1, 1, 0], [9.0, 8.0, 7.0, 6.0], qid=["a", "a", "b", "b"], metrics=["mrr", "p@1"]))
    metric    mean
    mrr     0.7500
    p@1     0.5000
    profile standard; 2 queries: 0 with no relevant document, 0 with ties, 0 with fewer than 1 documents, 0 left out
    """
    if isinstance(y, Dataset):
        if qid is not None or doc_ids is not None:
            raise ParameterError("evaluate: the data set has its own queries and documents; leave qid and doc_ids out")
        groups, labels, names = Groups(y.order, y.offsets, y.query_ids), y.y, y.doc_ids
        ordered = _ordered("scores", scores, groups)
    else:
        n_docs = np.shape(y)[0] if np.ndim(y) else 0
        if qid is None and n_docs > LONG:
            fix = "pass qid=..., the query of each row; if they really are one list, pass qid=[0] * len(y)"
            warnings.warn(f"evaluate: all {n_docs:,} rows are one query; {fix}", UserWarning, stacklevel=3)
        if isinstance(qid, Sized) and len(qid) != n_docs:
            raise DataError(f"qid has {len(qid)} entries but y has {n_docs}; give one query id for each document")
        groups = group_rows(qid, n_docs)
        labels, ordered = _ordered("y", y, groups), _ordered("scores", scores, groups)
        names = None if doc_ids is None else _ordered("doc_ids", doc_ids, groups)
    return measure(
        labels, ordered, groups.offsets, metrics,
        profile=profile, query_ids=groups.query_ids, doc_ids=names, n_jobs=n_jobs,
    )  # fmt: skip


def _ordered(name: str, values: ArrayLike, groups: Groups) -> NDArray[Any]:
    """One value for each document, the documents of a query together."""
    given, n_docs = np.asarray(values), int(groups.offsets[-1])
    if given.shape != (n_docs,):
        raise DataError(f"{name} has shape {given.shape} but there are {n_docs} labels; give one for each document")
    return given if groups.order is None else given[groups.order]


def parse_metrics(metrics: str | Metric | Sequence[str | Metric]) -> tuple[Metric, ...]:
    """One or several metrics, each once, in the order given.

    Examples
    --------
    >>> [str(metric) for metric in parse_metrics(["P@5", "map", "precision@5"])]
    ['p@5', 'map']
    """
    several = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not several:
        raise ParameterError("metrics is empty; give at least one, such as 'ndcg@10'")
    return tuple(dict.fromkeys(parse_metric(metric) for metric in several))
