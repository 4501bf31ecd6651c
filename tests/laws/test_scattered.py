"""Law 12: the order in which rows are given changes nothing: every value comes out for the same document or query.

Documents of several queries are given twice, query by query and scattered. Whatever takes a data set is in ``TAKERS``
and says what it found by the names of documents and queries, so that both must say the same. A method or a function
that is added later and takes a data set must be there too, or in ``OTHERWISE``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordino
from ordino import Dataset, LinearRegressionRanker, evaluate
from ordino.data.doctor import examine
from ordino.data.files import read_data, write_data
from ordino.data.runs import join_features
from ordino.data.source import fingerprint
from ordino.data.trec import ranks, read_run, write_run
from ordino.distilling.door import distill
from ordino.explain import permutation_importance, why
from ordino.explain.why import find_pair
from ordino.export import export_model
from ordino.model_file import read_card
from ordino.order.audit import audit
from ordino.rankers import RANKERS, make_ranker, ranker_class

N_QUERIES, N_DOCS = 6, 5
NAMES = [f"d{i}" for i in range(N_QUERIES * N_DOCS)]
NUMBER = {name: i for i, name in enumerate(NAMES)}


def given(rows: np.ndarray, **more: Any) -> Dataset:
    """Documents with these numbers, in this order; the first two of a query are alike but for their weights."""
    rng = np.random.default_rng(1)
    X = np.column_stack((rng.random((len(NAMES), 2)), rng.integers(0, 4, len(NAMES))))
    X[::N_DOCS] = X[1::N_DOCS]
    y = np.digitize(X[:, 0] + rng.normal(0, 0.2, len(X)), [0.3, 0.6])
    y[::N_DOCS] = y[1::N_DOCS]
    weights = 1.0 + np.arange(len(X)) % 7
    ids = np.array(NAMES)[rows]
    queries = np.array([f"q{i // N_DOCS}" for i in rows])
    return Dataset(X[rows], y[rows], queries, doc_ids=ids, weights=weights[rows], **more)


EVERY = np.arange(len(NAMES))
GROUPED, SCATTERED = given(EVERY), given(np.random.default_rng(5).permutation(EVERY))
OTHER = np.random.default_rng(9).permutation(EVERY)
PARAMS: dict[str, dict[str, Any]] = {
    "deepnet": {"hidden": 4, "epochs": 1, "dropout": 0.0, "scaling": "symlog", "hold_out": None},
    "rank-de": {"generations": 2, "population": 6},
    "prank": {"epochs": 2},
    "mc-rank": {"rounds": 2, "min_leaf": 3},
}


@cache
def fitted(name: str) -> Any:
    bare = Dataset(GROUPED.X, GROUPED.y, GROUPED.qid)
    return make_ranker(name, PARAMS.get(name, {})).fit(bare)


def ids_of(data: Dataset) -> list[str]:
    """The documents in the caller's order."""
    assert data.doc_ids is not None
    return list(data.restore(data.doc_ids))


def by_document(data: Dataset, values: Any) -> dict[str, Any]:
    """Values that were given in the caller's order."""
    return dict(zip(ids_of(data), np.asarray(values).tolist(), strict=True))


def by_query(found: Any) -> dict[str, Any]:
    return {name: dict(zip(found.query_ids, values.tolist(), strict=True)) for name, values in found.per_query.items()}


def lists(data: Dataset, _: Path) -> Any:
    """The documents of each query, best first; the two that are alike have one number."""
    found: dict[int, list[int]] = {}
    for row in fitted("deepnet").rank(data):
        query, number = divmod(NUMBER[ids_of(data)[row]], N_DOCS)
        found.setdefault(query, []).append(max(number, 1))
    return found


def scores(data: Dataset, n_values: int = N_DOCS) -> np.ndarray:
    """A score of each document in the caller's order; with fewer values, some of a query are equal."""
    return np.array([NUMBER[name] * 7 % N_DOCS % n_values for name in ids_of(data)], float)


def measured(data: Dataset, _: Path) -> Any:
    """Where scores are equal, the names of the documents decide."""
    tied, y, qid = scores(data, 2), data.restore(data.y), data.restore(data.qid)
    found = evaluate(data, tied, profile="trec"), evaluate(y, tied, qid=qid, doc_ids=ids_of(data), profile="trec")
    return [by_query(one) for one in found]


def run_file(data: Dataset, home: Path) -> Any:
    write_run(data, scores(data), home / "r.run")
    return read_run(home / "r.run")


def scores_by_rank(data: Dataset, _: Path) -> Any:
    """The scores at each rank of each query."""
    found = zip(data.restore(data.qid).tolist(), ranks(data, scores(data)).tolist(), scores(data).tolist(), strict=True)
    return sorted(found)


def joined(data: Dataset, _: Path) -> Any:
    import polars as pl

    more = pl.DataFrame({"doc_id": NAMES[::-1], "number": [float(NUMBER[one]) for one in NAMES[::-1]]})
    named = Dataset(data.X, data.y, data.qid, doc_ids=data.doc_ids, feature_names=("a", "b", "kind"),
                    categories={"kind": ("u", "v", "w", "x")})  # fmt: skip
    found = join_features(named if data.order is None else scattered_again(named), more)
    assert found.categories == named.categories
    return by_document(found, found.restore(found.X))


def scattered_again(data: Dataset) -> Dataset:
    rows = np.random.default_rng(2).permutation(data.n_docs)
    return Dataset(data.X[rows], data.y[rows], data.qid[rows], doc_ids=data.doc_ids[rows],
                   feature_names=data.feature_names, categories=data.categories)  # fmt: skip


def written(data: Dataset, home: Path) -> Any:
    write_data(data, home / "d.jsonl")
    read = read_data(home / "d.jsonl")
    return by_document(read, read.restore(read.X)), by_document(read, read.restore(read.weights))


def learned(data: Dataset, _: Path) -> Any:
    """What training gets, to learn from and to choose by, however it is given."""
    seen: list[Any] = []

    class Spy(LinearRegressionRanker.__base__):  # type: ignore[misc,name-defined]
        """Remembers what it gets."""

        uses_weights = True

        def _fit(self, data: Dataset, valid: Dataset) -> None:
            self.coef_ = np.zeros(data.n_features)
            seen.extend((one.X, one.y, one.doc_weights, one.offsets) for one in (data, valid))

    other = given(OTHER) if data.order is not None else GROUPED
    X, y, qid, weights = (data.restore(one) for one in (data.X, data.y, data.qid, data.weights))
    Spy().fit(data, valid=other)
    Spy().fit(data, valid=0.5)
    Spy().fit(X, y, qid=qid, sample_weight=weights, valid=tuple(map(other.restore, (other.X, other.y, other.qid))))
    return seen


def pair(data: Dataset, _: Path) -> Any:
    a, b, query = find_pair(data, "d12", "d14")
    row = ids_of(data).index("d12")
    by_row = find_pair(Dataset(data.restore(data.X), data.restore(data.y), data.restore(data.qid)), str(row), str(row))
    told = [query.X[a], query.X[b], query.query_ids.tolist(), by_row.query.X[by_row.a]]
    return told, why(fitted("rank-svm"), a, b, query=query).to_dict()


def comparator(data: Dataset, _: Path) -> Any:
    ranker, ids = fitted("deepnet"), ids_of(data)
    pairs = [(ids.index("d3"), ids.index("d1")), (ids.index("d7"), ids.index("d9"))]
    found = audit(ranker.network_, ranker.prepared(data), shuffles=1)
    return ranker.activations(data, pairs), found.cyclic_share


def taught(data: Dataset, _: Path) -> Any:
    teacher = fitted("linear-regression-ranker")
    bare = Dataset(*(data.restore(one) for one in (data.X, data.y, data.qid)))
    found = distill(teacher, "rank-svm", bare, test=bare, params={"C": 1.0})
    return found.to_dict(), by_document(data, found.student.predict(bare))


def certified(data: Dataset, _: Path) -> Any:
    return export_model(fitted("prank"), "solr", data=data).certificate.to_dict()["data"]


def card(data: Dataset, home: Path) -> Any:
    ordino.save(fitted("prank"), home / "m.ordino", data=data, valid=data)
    told = read_card(home / "m.ordino")
    return told["data"], told["valid"]


def piped(data: Dataset, _: Path) -> Any:
    bare = Dataset(GROUPED.X, GROUPED.y, GROUPED.qid)
    pipeline = make_pipeline(StandardScaler(), make_ranker("rank-svm", {}))
    pipeline.fit(bare.X, bare.y, ranksvm__qid=bare.qid)
    return [one.feature for one in permutation_importance(pipeline, data)]


def simple(name: str, method: str = "predict") -> Callable[[Dataset, Path], Any]:
    return lambda data, _: by_document(data, getattr(fitted(name), method)(data))


TAKERS: dict[str, Callable[[Dataset, Path], Any]] = {
    "predict": simple("linear-regression-ranker"),
    "predict_levels": simple("prank", "predict_levels"),
    "predict_proba": simple("mc-rank", "predict_proba"),
    "rank": lists,
    "score": lambda data, _: fitted("prank").score(data),
    "prepared": lambda data, _: by_document(data, data.restore(fitted("prank").prepared(data).X)),
    "pruning": lambda data, _: fitted("rank-de").pruning(data),
    "run_scores": lambda data, _: by_document(data, data.restore(fitted("rank-fusion").run_scores(data).T)),
    "by_run": lambda data, _: by_document(data, data.restore(fitted("rank-fusion").by_run(data).X)),
    "fit": learned,
    "activations": comparator,
    "evaluate": measured,
    "compare": lambda data, _: [
        (one.mean_a, one.mean_b) for one in ordino.compare(scores(data), fitted("prank"), data)
    ],
    "distill": taught,
    "why": pair,
    "export_model": certified,
    "save": card,
    "write_run": run_file,
    "ranks": scores_by_rank,
    "join_features": joined,
    "write_data": written,
    "permutation_importance": lambda data, _: [one.feature for one in permutation_importance(fitted("prank"), data)],
    "permutation_importance of a pipeline": piped,
    "fingerprint": lambda data, _: fingerprint(data),
    "describe": lambda data, _: data.describe().rows(),
    "examine": lambda data, _: sorted(str(one) for one in examine({"a": data}) if "scattered" not in one.what),
}
"""By name, what takes a data set (and a folder for its files): what it finds, by the names of documents and queries."""

OTHERWISE = {
    "bench": "test_contestants.py and test_kept.py have scattered rows",
    "documents": "gives the data set itself",
    "explained_parts": "test_why.py: of one query",
    "fit_pairs": "pairs are given by their rows",
    "fit_repeats": "as fit",
    "read_data": "takes a file",
    "read_letor": "takes a file",
    "synthetic": "takes no data",
    "write_letor": "test_rows.py",
    "write_shards": "test_rows.py",
}
"""What takes a data set and is shown elsewhere, or has no order."""


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-7)) if isinstance(a, np.ndarray | float | int) else bool(a == b)


@pytest.mark.parametrize("name", TAKERS)
def test_the_order_of_the_rows_changes_nothing(name: str, tmp_path: Path) -> None:
    assert SCATTERED.order is not None
    assert same(TAKERS[name](SCATTERED, tmp_path), TAKERS[name](GROUPED, tmp_path))


def test_whatever_takes_data_is_given_it_in_another_order() -> None:
    taking = [(name, getattr(ordino, name)) for name in ordino.__all__]
    for ranker in RANKERS:
        taking += inspect.getmembers(ranker_class(ranker), inspect.isfunction)
    found = {name for name, one in taking if inspect.isfunction(one) and "Dataset" in str(inspect.signature(one))}
    missing = {name for name in found if not name.startswith("_")} - {*TAKERS, *OTHERWISE}
    assert not missing, f"show in TAKERS that the order of rows changes nothing: {sorted(missing)}"
