"""Why document a ranks above document b of the same query: their score difference, divided among the features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.explain.paths import (
    Floats,
    along_the_line,
    comparator_slopes,
    in_random_orders,
    one_by_one,
    scorer_slopes,
)
from ordino.forms import Form, Linear, Network, Stumps, Trees, load_trees
from ordino.html import html_table
from ordino.order.pairs import Pairs
from ordino.order.run_fusion import fuse_runs
from ordino.pipelines import at_last_step, documents_of, input_names, last_step, names_at_last_step
from ordino.ranker import Ranker

FEW_RUNS = 5
"""Runs up to which every order in which they can join is tried."""


class Reason(NamedTuple):
    """What one feature adds to the difference."""

    feature: str
    a: float
    b: float
    """Its values in the two documents, as given."""
    adds: float
    """Above 0 if it speaks for a, below 0 if it speaks for b."""


class MemberReason(NamedTuple):
    """What one member of an ensemble adds to the difference."""

    member: str
    adds: float


@final
@dataclass(frozen=True)
class Why:
    """The difference between two documents and its reasons, largest first; prints as a table."""

    difference: float
    """f(a) - f(b), or N> - N< of a comparator; above 0 where a stands above b. The sum of what the reasons add."""
    reasons: tuple[Reason, ...]
    method: str
    """linear, stumps, trees (all three exact), line (an integral along the line from b to a), orders (sampled), runs
    (what each run of a fusion adds when it joins, over all orders of joining); or several, where the scores of several
    rankers are added."""
    members: tuple[MemberReason, ...] = ()
    """What each member of an ensemble adds; together the difference."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        reasons = [reason._asdict() for reason in self.reasons]
        members = {"members": [member._asdict() for member in self.members]} if self.members else {}
        return {"difference": self.difference, "method": self.method, "reasons": reasons, **members}

    def __str__(self) -> str:
        width = max(len("feature"), *(len(reason.feature) for reason in self.reasons))
        rows = [f"{'feature':<{width}}  {'a':>10}  {'b':>10}  {'adds':>10}"]
        rows += [f"{name:<{width}}  {a:>10.4g}  {b:>10.4g}  {adds:>+10.4f}" for name, a, b, adds in self.reasons]
        rows.append(f"{'together':<{width}}  {'':>10}  {'':>10}  {self.difference:>+10.4f}")
        return "\n".join([*rows, *(f"{adds:+.4f} by {member}" for member, adds in self.members)])

    def _repr_html_(self) -> str:
        rows = [(name, f"{a:.4g}", f"{b:.4g}", f"{adds:+.4f}") for name, a, b, adds in self.reasons]
        table = html_table(["feature", "a", "b", "adds"], [*rows, ("together", "", "", f"{self.difference:+.4f}")])
        members = [(member, f"{adds:+.4f}") for member, adds in self.members]
        return table + (html_table(["member", "adds"], members) if members else "")


def why(
    ranker: Any,
    a: ArrayLike | int,
    b: ArrayLike | int,
    *,
    query: ArrayLike | Dataset | None = None,
    orders: int = 64,
    seed: int = 0,
) -> Why:
    """Explain why a fitted ranker ranks document a above or below document b.

    Linear rankers, rankers of stumps and LambdaMART's trees are explained exactly. For a network, the gradient is
    integrated along the line between the (scaled) documents; for a comparator, that of N> - N<. For any other ranker,
    the features of b are replaced by those of a one by one, averaged over random orders. Of a fusion of runs, the
    reasons are its runs. The contributions always sum to the difference.

    Of a pipeline, the ranker at its end is explained: the reasons are the features that it gets, such as
    ``city=Oslo``, with the values that were given where a feature goes through the steps under its own name.

    Parameters
    ----------
    ranker
        A fitted ranker, or a scikit-learn pipeline that ends in one.
    a, b
        The features of the two documents; or, with ``query``, their row numbers in it.
    query
        The features of all documents of their query, as an array, a frame or a data set; needed if the ranker scales
        within queries or has categorical features.
    orders, seed
        Number of random orders to average, and the random seed, if random orders are used.

    Examples
    --------
    Only the second feature counts, and less of it is better.

    >>> from ordino import SingleFeature
    >>> ranker = SingleFeature(feature=2, sign=-1).fit([[1.0, 5.0], [3.0, 4.0]], [0, 1], qid=[1] * 2)
    >>> print(why(ranker, [0.0, 2.0], [7.0, 4.5]))
    feature           a           b        adds
    f2                2         4.5     +2.5000
    f1                0           7     -0.0000
    together                            +2.5000
    """
    last = last_step(ranker)
    if not isinstance(last, Ranker):
        raise ParameterError(f"a {type(last).__name__} is not a ranker; explain the ranker inside it")
    if hasattr(last, "explained_parts"):
        if last is not ranker:
            raise ParameterError(
                f"a pipeline that ends in {type(last).__name__} cannot be explained; explain that ranker"
            )
        return _of_parts(last, a, b, query, orders, seed)
    if hasattr(last, "runs_"):
        if query is None or last is not ranker:
            raise ParameterError(
                f"a {type(last).__name__} ranks by places in each run, which no document has by itself; "
                "explain it with the documents of the query, as query=, and rows"
            )
        return _of_runs(last, a, b, query, orders, seed)
    if hasattr(last, "rankers_"):
        raise ParameterError(
            f"a {type(last).__name__} ranks by the orders of its members; explain one of its rankers_ instead"
        )
    raw, scaled = _two_documents(ranker, last, a, b, query)
    parts, method = _divided(last.form(), scaled[0], scaled[1], orders, seed)
    return _told(names_at_last_step(ranker) or last.feature_names(), raw, last.by_feature(parts), method)


def _of_parts(ranker: Any, a: Any, b: Any, query: ArrayLike | Dataset | None, orders: int, seed: int) -> Why:
    """The same for rankers whose scores are added: what each of them says of its own features is added by feature."""
    if query is None:
        raise DataError("the scores of an AutoRanker depend on the query; give its documents as query=, and rows")
    docs = query if isinstance(query, Dataset) or hasattr(query, "columns") else np.asarray(query, np.float32)
    data = ranker.documents(docs)
    rows = _row_numbers(data, a, b)
    total, methods = np.zeros(ranker.n_features_in_), set()
    members: dict[str, float] = {}
    for member, form, seen, weight, source in ranker.explained_parts(data):
        first, second = seen.X[rows].astype(np.float64)
        parts, method = _divided(form, first, second, orders, seed)
        total += weight * np.bincount(source, parts, ranker.n_features_in_)
        members[member] = members.get(member, 0.0) + weight * float(parts.sum())
        methods.add(method)
    told = tuple(MemberReason(*one) for one in sorted(members.items(), key=lambda one: -abs(one[1])))
    raw, method = data.X[rows].astype(np.float64), " and ".join(sorted(methods))
    return _told(ranker.feature_names(), raw, total, method, told)


def _of_runs(ranker: Any, a: Any, b: Any, query: ArrayLike | Dataset, orders: int, seed: int) -> Why:
    """The same for a rule that fuses runs: what each run adds to the difference, over all orders in which they join."""
    docs = query if isinstance(query, Dataset) or hasattr(query, "columns") else np.asarray(query, np.float32)
    data = ranker.documents(docs)
    rows = _row_numbers(data, a, b)
    scores = ranker.run_scores(data)

    def value(joined: Floats) -> Floats:
        gaps = []
        for some in joined > 0:
            fused = (
                fuse_runs(scores[some], data.offsets, ranker.method, k=ranker.k)
                if some.any()
                else np.zeros(data.n_docs)
            )
            gaps.append(float(fused[rows[0]] - fused[rows[1]]))
        return np.array(gaps)

    n_runs = len(scores)
    every = [np.array(order) for order in permutations(range(n_runs))] if n_runs <= FEW_RUNS else None
    ends = np.ones(n_runs), np.zeros(n_runs)
    parts = (
        in_random_orders(value, *ends, orders=orders, seed=seed)
        if every is None
        else np.mean([one_by_one(value, *ends, order) for order in every], axis=0)
    )
    return _told(ranker.runs_, scores[:, rows].T, parts, "runs")


def _told(names: Sequence[str], raw: Floats, parts: Floats, method: str, members: tuple[MemberReason, ...] = ()) -> Why:
    order = np.argsort(-np.abs(parts), kind="stable")
    reasons = tuple(Reason(names[j], float(raw[0, j]), float(raw[1, j]), float(parts[j])) for j in order)
    return Why(float(parts.sum()), reasons, method, members)


def _row_numbers(data: Dataset, a: Any, b: Any) -> list[int]:
    """The rows of a and b among the documents of their query."""
    if any(not isinstance(row, int | np.integer) for row in (a, b)):
        raise DataError("with query=, a and b are row numbers in it, from 0; leave query out to give their features")
    rows = [int(a), int(b)]
    if outside := [row for row in rows if not 0 <= row < data.n_docs]:
        raise DataError(f"there is no row {outside[0]}; the query has {data.n_docs} documents, from 0")
    return rows


def _two_documents(
    ranker: Any, last: Ranker, a: Any, b: Any, query: ArrayLike | Dataset | None
) -> tuple[Floats, Floats]:
    """The features of a and b as given and as the ranker sees them, each of shape ``(2, n_features)``."""
    if query is None:
        docs: Any = np.stack([np.asarray(a, np.float32).ravel(), np.asarray(b, np.float32).ravel()])
        a, b = 0, 1
        scaler = getattr(last, "scaler_", None)
        if scaler is not None and scaler.by_query:
            raise DataError(
                f"scaling={getattr(last, 'scaling', None)!r} needs all documents of the query; "
                "give them as query=, and a and b as rows"
            )
    else:
        docs = query if isinstance(query, Dataset) or hasattr(query, "columns") else np.asarray(query, np.float32)
    given = documents_of(ranker, docs)
    rows = _row_numbers(given, a, b)
    data = last.documents(at_last_step(ranker, given))
    raw = data.X[rows].astype(np.float64)
    if last is not ranker:  # a feature that kept its name is shown as it was given
        before, after = input_names(ranker), names_at_last_step(ranker) or ()
        kept = [j for j, name in enumerate(after) if name in before]
        raw[:, kept] = given.X[rows][:, [before.index(after[j]) for j in kept]]
    return raw, last.prepared(data).X[rows].astype(np.float64)


def _divided(form: Form, a: Floats, b: Floats, orders: int, seed: int) -> tuple[Floats, str]:
    """The difference of two scaled documents by feature, and the method that divided it."""

    def value(X: Floats) -> Floats:
        return form.score_scaled(Dataset(X, np.zeros(len(X))))

    match form:
        case Pairs():
            return along_the_line(comparator_slopes(form.network, b), a, b), "line"
        case Linear():
            return form.coef * (a - b), "linear"
        case Stumps():
            return one_by_one(value, a, b), "stumps"
        case Trees() if type(form) is Trees:
            shares = load_trees(form.model).predict(np.stack((a, b)).astype(np.float32), pred_contrib=True)
            return shares[0, :-1] - shares[1, :-1], "trees"
        case Network():
            return along_the_line(scorer_slopes(form.layers, form.activation), a, b), "line"
    return in_random_orders(value, a, b, orders=orders, seed=seed), "orders"


class Meeting(NamedTuple):
    """A query and the rows of two of its documents in it."""

    a: int
    b: int
    query: Dataset


def find_pair(data: Dataset, a: str, b: str) -> Meeting:
    """The query that has both documents, called by id, or by row of the data, from 0, in the caller's order.

    Examples
    --------
    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=[1, 2, 2], doc_ids=["x", "x", "y"])
    >>> find_pair(data, "y", "x")
    Meeting(a=1, b=0, query=Dataset(2 documents, 1 query, 1 feature))
    """
    rows_a, rows_b = _rows_of(data, a), _rows_of(data, b)
    queries_a, queries_b = (np.searchsorted(data.offsets, rows, side="right") - 1 for rows in (rows_a, rows_b))
    common = np.intersect1d(queries_a, queries_b)
    if len(common) == 0:
        raise DataError(f"{a} and {b} belong to different queries; give two documents of the same query")
    if len(common) > 1:
        raise DataError(f"{a} and {b} are both in {len(common)} queries; give their row numbers in the data, from 0")
    start = data.offsets[common[0]]
    first, second = rows_a[queries_a == common[0]][0], rows_b[queries_b == common[0]][0]
    return Meeting(int(first - start), int(second - start), data.select_queries(common))


def _rows_of(data: Dataset, name: str) -> NDArray[np.intp]:
    """The rows here of the documents that are called so."""
    if data.doc_ids is not None:
        found = np.flatnonzero(np.array([str(one) for one in data.doc_ids.tolist()]) == name)
        if len(found):
            return found
    if not name.isdecimal() or int(name) >= data.n_docs:
        raise DataError(f"there is no document {name!r}; give an id, or a row number from 0 to {data.n_docs - 1}")
    return data.restore(np.arange(data.n_docs))[[int(name)]]
