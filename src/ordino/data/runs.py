"""Runs of several retrievers as one data set: what each says of a document becomes its features.

A run ``bm25`` gives four features: ``bm25_score``; ``bm25_rank``, the best has 1 and equal scores share their mean
rank; ``bm25_rr``, the reciprocal rank :math:`1 / (60 + r)` of reciprocal rank fusion; and ``bm25_missing``, 1 where the
run did not retrieve the document. Scores are compared in single precision, as trec_eval does. The documents of a query
are those that at least one run retrieved.

What a document gets from a run that did not retrieve it: the lowest score of that query's list, the rank below its
last, reciprocal rank 0, and missing 1. Where a run has no list for the query: score 0, and the rank below all.

Files are read line by line into compact arrays (8 bytes a line), so runs of millions of lines fit into memory.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice
from ordino.data.columns import Groups, offsets_of
from ordino.data.dataset import Dataset
from ordino.data.files import read_file
from ordino.data.frames import as_table, encode
from ordino.data.trec import read_qrels, run_lines
from ordino.errors import DataError

RunLike = str | Path | Mapping[str, Mapping[str, float]]
QrelsLike = str | Path | Mapping[str, Mapping[str, int]]

RRF_K = 60.0
PARTS = ("score", "rank", "rr", "missing")
"""What a run says of a document; the features are called ``NAME_score`` and so on."""

UNJUDGED: Mapping[str, str] = MappingProxyType(
    {"zero": "documents without a judgment have label 0", "drop": "documents without a judgment are left out"}
)
"""What becomes of documents that nobody judged, by name."""


class _List(NamedTuple):
    """What a run retrieved for a query: numbers of documents, and their scores."""

    docs: NDArray[np.int32]
    scores: NDArray[np.float32]


def from_runs(
    runs: Mapping[str, RunLike],
    qrels: QrelsLike | None = None,
    *,
    unjudged: str = "zero",
    features: Any = None,
    qid: str = "qid",
    doc_id: str = "doc_id",
) -> Dataset:
    """A data set from the runs of several retrievers; the module's text says what the features are.

    Parameters
    ----------
    runs
        By the name of each retriever its run: a TREC file, or ``{qid: {docno: score}}``.
    qrels
        Judgments: a TREC file, or ``{qid: {docno: label}}``. Queries without any are left out. Without qrels all
        queries are kept, with label 0, to be ranked.
    unjudged
        What becomes of documents without a judgment: "zero" keeps them with label 0 (as trec_eval counts them), "drop"
        leaves them out. In the data set, ``judged`` tells them apart.
    features
        More features: a frame or a file (or several of them) with a column of document ids, of query ids, or both,
        which are the key. A document that it does not list gets NaN.
    qid, doc_id
        What these key columns are called.

    Examples
    --------
    >>> bm25, dense = {"q": {"a": 7.5, "b": 3.0}}, {"q": {"b": 0.9, "c": 0.4}}
    >>> data = from_runs({"bm25": bm25, "dense": dense}, {"q": {"a": 1, "b": 0}})
    >>> data.feature_names[:4], data.X[:, :4].astype(float).round(4).tolist()[1:]
    (('bm25_score', 'bm25_rank', 'bm25_rr', 'bm25_missing'), [[3.0, 2.0, 0.0161, 0.0], [3.0, 3.0, 0.0, 1.0]])
    >>> data.doc_ids.tolist(), data.y.tolist(), data.judged.tolist()
    (['a', 'b', 'c'], [1.0, 0.0, 0.0], [True, True, False])
    """
    check_choice("unjudged", unjudged, UNJUDGED)
    names = _check_names(runs)
    numbers: dict[str, int] = {}  # of documents, the same in all runs
    lists = [_read_run(name, run, numbers) for name, run in runs.items()]
    judgments = read_qrels(qrels) if isinstance(qrels, str | Path) else _by_text(qrels)
    queries = list(dict.fromkeys(query for of_run in lists for query in of_run))
    if judgments is not None:
        queries = [query for query in queries if query in judgments]
        if not queries:
            raise DataError("the runs have none of the judged queries; compare the query ids of runs and qrels")
    pools = [_pool([of_run[query].docs for of_run in lists if query in of_run]) for query in queries]
    X = np.empty((sum(map(len, pools)), len(PARTS) * len(lists)), np.float32)
    offsets = offsets_of(np.array([len(pool) for pool in pools], np.int64))
    for q, (query, pool) in enumerate(zip(queries, pools, strict=True)):
        for m, of_run in enumerate(lists):
            columns = slice(len(PARTS) * m, len(PARTS) * (m + 1))
            X[offsets[q] : offsets[q + 1], columns] = _describe(pool, of_run.get(query))
    doc_ids = np.array(list(numbers))[np.concatenate(pools)]
    groups = Groups(None, offsets, np.array(queries))
    if judgments is None:
        data = Dataset.of_groups(X, np.zeros(len(X)), groups, doc_ids=doc_ids, feature_names=names)
    else:
        y, judged = _labels(groups, doc_ids, judgments)
        data = Dataset.of_groups(X, y, groups, doc_ids=doc_ids, feature_names=names, judged=judged)
        if unjudged == "drop":
            data = data.select_docs(judged)
    for more in _several(features):
        data = join_features(data, more, qid=qid, doc_id=doc_id)
    return data


def join_features(data: Dataset, more: Any, *, qid: str = "qid", doc_id: str = "doc_id") -> Dataset:
    """The data with the features of a frame or file beside its own, found by document id, query id or both.

    Examples
    --------
    >>> import polars as pl
    >>> data = Dataset([[1.0], [2.0]], [0, 1], qid=["q", "q"], doc_ids=["a", "b"])
    >>> join_features(data, pl.DataFrame({"doc_id": ["b", "z"], "age": [3.0, 4.0]})).X.tolist()
    [[1.0, nan], [2.0, 3.0]]
    """
    source = str(more) if isinstance(more, str | Path) else "features"
    read = read_file(more, qid=qid, doc_id=doc_id) if isinstance(more, str | Path) else more
    if isinstance(read, Dataset):
        raise DataError(f"{source}: this is a data set; give a table with a column {doc_id!r} or {qid!r}")
    table = as_table(read)
    keys = [name for name in (qid, doc_id) if name in table.columns]
    if not keys or (doc_id in keys and data.doc_ids is None):
        raise DataError(f"{source}: there is no key; it needs a column {doc_id!r} or {qid!r}, or both")
    ours = [[str(one) for one in {qid: data.qid, doc_id: data.doc_ids}[name]] for name in keys]  # type: ignore[union-attr]
    theirs = [[str(one) for one in table.get_column(name).to_list()] for name in keys]
    rows = {key: row for row, key in enumerate(zip(*theirs, strict=True))}
    if len(rows) < len(table):
        twice = next(key for row, key in enumerate(zip(*theirs, strict=True)) if rows[key] != row)
        raise DataError(f"{source}: {' '.join(twice)} is listed twice; keep one of the two rows")
    found = encode(table, [name for name in table.columns if name not in keys], otherwise="drop the column")
    at = np.array([rows.get(key, -1) for key in zip(*ours, strict=True)], np.intp)
    if (at < 0).all():
        raise DataError(f"{source}: it lists none of the documents; compare its {' and '.join(keys)} with the runs'")
    joined = np.where((at < 0)[:, None], np.float32(np.nan), found.X[at])
    own = data.feature_names or ()
    both = set(own) & set(found.names or ())
    if both:
        raise DataError(f"{source}: there is already a feature {min(both)!r}; rename the column")
    categories = {**data.categories, **found.categories}
    names = (*own, *(found.names or ()))
    return data.replace_features(np.hstack((data.X, joined)), names, categories=categories)


def _several(features: Any) -> Iterable[Any]:
    if features is None:
        return ()
    return features if isinstance(features, Sequence) and not isinstance(features, str) else (features,)


def _check_names(runs: Mapping[str, RunLike]) -> tuple[str, ...]:
    """The names of the features."""
    if not runs:
        raise DataError("there are no runs; give at least one, such as {'bm25': 'bm25.run'}")
    for name in runs:
        if not re.fullmatch(r"[\w.-]+", name):
            raise DataError(f"a run is called {name!r}; use letters, digits, dots, dashes and underscores")
    names = tuple(f"{name}_{part}" for name in runs for part in PARTS)
    if len(set(names)) < len(names):
        raise DataError("two runs would give features of the same name; rename one of them")
    return names


def _read_run(name: str, run: RunLike, numbers: dict[str, int]) -> dict[str, _List]:
    """The lists of a run by query; new documents get the next numbers."""
    docs: dict[str, array[int]] = {}
    scores: dict[str, array[float]] = {}
    source = str(run) if isinstance(run, str | Path) else f"run {name!r}"
    rows = run_lines(run) if isinstance(run, str | Path) else _entries(source, run)
    for query, docno, score in rows:
        if query not in docs:
            docs[query], scores[query] = array("i"), array("f")
        docs[query].append(numbers.setdefault(docno, len(numbers)))
        scores[query].append(score)
    if not docs:
        raise DataError(f"{source}: the run is empty; check how it was made")
    for query, listed in docs.items():
        if len(set(listed)) < len(listed):
            known, seen = list(numbers), set[int]()
            twice = next(doc for doc in listed if doc in seen or seen.add(doc))  # type: ignore[func-returns-value]
            raise DataError(f"{source}: query {query} has document {known[twice]} twice; keep one of the two lines")
    return {query: _List(np.array(docs[query], np.int32), np.array(scores[query], np.float32)) for query in docs}


def _entries(source: str, run: Mapping[str, Mapping[str, float]]) -> Iterable[tuple[str, str, float]]:
    for query, listed in run.items():
        for docno, score in listed.items():
            if not np.isfinite(score):
                raise DataError(f"{source}: document {docno} of query {query} has score {score}; it must be finite")
            yield str(query), str(docno), float(score)


def _by_text(qrels: Mapping[Any, Mapping[Any, int]] | None) -> dict[str, dict[str, int]] | None:
    """Judgments whose ids are text, as those of runs are."""
    if qrels is None:
        return None
    return {str(query): {str(docno): label for docno, label in of_query.items()} for query, of_query in qrels.items()}


def _pool(retrieved: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Each document once, in the order of the first run, then of the second, and so on."""
    together = np.concatenate(retrieved)
    return together[np.sort(np.unique(together, return_index=True)[1])]


def _describe(pool: NDArray[np.int32], found: _List | None) -> NDArray[np.float32]:
    """The four features of one run for the documents of a pool, shape ``(n_docs, 4)``."""
    if found is None or not len(found.docs):
        return np.tile(np.array([0.0, len(pool) + 1, 0.0, 1.0], np.float32), (len(pool), 1))
    missing = np.array([found.scores.min(), len(found.docs) + 1, 0.0, 1.0], np.float32)
    features = np.tile(missing, (len(pool), 1))
    order = np.argsort(pool)
    at = order[np.searchsorted(pool, found.docs, sorter=order)]
    _, tie, counts = np.unique(-found.scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[tie]
    features[at] = np.column_stack((found.scores, rank, 1 / (RRF_K + rank), np.zeros(len(rank))))
    return features


def _labels(
    groups: Groups, doc_ids: NDArray[Any], judgments: Mapping[str, Mapping[str, int]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The label of each document, 0 without a judgment or for one below 0 (spam), and whether it was judged."""
    labels: list[int | None] = []
    for q, query in enumerate(groups.query_ids.tolist()):
        of_query = judgments[query]
        labels += [of_query.get(docno) for docno in doc_ids[groups.offsets[q] : groups.offsets[q + 1]].tolist()]
    judged = np.array([label is not None for label in labels])
    return np.array([max(label or 0, 0) for label in labels], np.float64), judged
