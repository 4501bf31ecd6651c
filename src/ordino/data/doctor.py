"""Find problems in data sets that would hurt training or comparison, each with a fix.

:func:`examine` runs every entry of :data:`CHECKS` on every data set, then compares the sets with one another. It reads
the features block by block, so memory stays small.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.dataset import Dataset
from ordino.data.kernels import hash_rows
from ordino.data.summary import count_by_query, has_equal_labels
from ordino.plain import count_of

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

MAX_LABEL = 30  # LightGBM's gains stop here: label 31 would need ``label_gain``
MAX_QUERY = 10_000  # LightGBM refuses a query with more documents
HUGE = 1e6  # a feature with larger values drowns the others where they are added up
SENTINELS = (-1.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 65535.0)
"""Numbers that often stand for a missing value."""
_BLOCK = 16384  # rows
_QUERIES = ("query has", "queries have")


@dataclass(frozen=True)
class Finding:
    """One problem: how bad, in which data set, what it is, what to do, and how often it occurs."""

    severity: Severity
    where: str
    what: str
    fix: str
    count: int


Ill = tuple[Severity, int, str, str]
"""A finding whose place is not known yet: severity, count, what, fix. Nothing was found if the count is 0."""


def examine(datasets: Mapping[str, Dataset]) -> list[Finding]:
    """Problems in data sets, given by name, that would hurt training or comparison; the worst first.

    Examples
    --------
    >>> train = Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=["a", "a", "b"])
    >>> print(format_findings(examine({"train": train})))
    note  train  1 query has no relevant document; profiles differ in how they count empty queries: choose one
    note  train  1 query has one document; it can teach nothing: leave it out
    """
    alone = ((name, check(data)) for name, data in datasets.items() for check in CHECKS.values())
    pairs = ((f"{a} & {b}", _compare(datasets[a], datasets[b])) for a, b in combinations(datasets, 2))
    found = [
        Finding(severity, where, what, fix, count)
        for where, ills in (*alone, *pairs)
        for severity, count, what, fix in ills
        if count
    ]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def without_queries(where: str, n_docs: int) -> Finding:
    """What is wrong with a file whose rows have no query."""
    fix = "give each line a qid: (--qid names the column of a table), or say --one-list if it really is one list"
    return Finding("error", where, f"no row has a query, so all {n_docs:,} would compete with each other", fix, n_docs)


def format_findings(findings: Sequence[Finding]) -> str:
    """Findings as a table of text, one per line."""
    if not findings:
        return "no problems found"
    first, second = max(len(f.severity) for f in findings), max(len(f.where) for f in findings)
    return "\n".join(f"{f.severity:<{first}}  {f.where:<{second}}  {f.what}; {f.fix}" for f in findings)


def _ill(severity: Severity, count: int | np.integer, one: str, many: str, rest: str, fix: str) -> Ill:
    return severity, int(count), f"{count_of(int(count), one, many)} {rest}", fix


def scattered_queries(dataset: Dataset) -> Iterator[Ill]:
    """Rows of one query that do not stand together: other tools would see several queries."""
    if dataset.order is not None:
        jumps = np.diff(dataset.order) != 1
        jumps[dataset.offsets[1:-1] - 1] = False  # from one query to the next
        n = int((count_by_query(dataset, np.append(False, jumps)) > 0).sum())
        fix = "Ordino gathers them, other tools do not: `ordino convert --split 1` writes them gathered"
        yield "warning", n, f"the rows of {count_of(n, 'query', 'queries')} are scattered", fix


def labels_out_of_range(dataset: Dataset) -> Iterator[Ill]:
    """Labels that gains and rankers cannot take."""
    y, words = dataset.y, ("label is", "labels are")
    fix = "gains need labels of 0 or more: shift them, or set them to 0"
    yield _ill("error", (y < 0).sum(), *words, f"negative (least {y.min(initial=0):g})", fix)
    fix = f"the gain 2^label overflows and LightGBM stops at {MAX_LABEL}: map the labels to grades such as 0 to 4"
    yield _ill("error", (y > MAX_LABEL).sum(), *words, f"above {MAX_LABEL} (up to {y.max(initial=0):g})", fix)
    fix = "LightGBM's and XGBoost's ranking objectives want whole grades: round them for these"
    yield _ill("warning", (y != np.rint(y)).sum(), *words, "fractional", fix)


def queries_without_contrast(dataset: Dataset) -> Iterator[Ill]:
    """Queries that hold no pair to learn from."""
    single, equal = dataset.counts == 1, has_equal_labels(dataset)
    empty = count_by_query(dataset, dataset.y > 0) == 0
    if equal.all():
        yield "error", len(equal), "no query has two different labels", "nothing can be learned: check the label column"
    else:
        fix = "every order is perfect for them: leave them out of means"
        yield _ill("note", (equal & ~single & ~empty).sum(), *_QUERIES, "equal labels above 0 throughout", fix)
    fix = "profiles differ in how they count empty queries: choose one"
    yield _ill("note", empty.sum(), *_QUERIES, "no relevant document", fix)
    they, them = ("it", "it") if single.sum() == 1 else ("they", "them")
    yield _ill("note", single.sum(), *_QUERIES, "one document", f"{they} can teach nothing: leave {them} out")


def query_sizes(dataset: Dataset) -> Iterator[Ill]:
    """Queries that are too long for a tool, or much longer than the others."""
    counts, longest = dataset.counts, dataset.counts.max(initial=0)
    what = f"more than {MAX_QUERY:,} documents (up to {longest:,})"
    fix = "LightGBM refuses such queries: sample documents with label 0 from them"
    yield _ill("warning", (counts > MAX_QUERY).sum(), *_QUERIES, what, fix)
    if dataset.n_queries >= 10 and longest > 50 * np.median(counts):
        what = f"the longest query has {longest:,} documents, the median one {np.median(counts):g}"
        yield "note", 1, what, "it will dominate losses that sum over pairs: weight or cap queries"


def duplicate_documents(dataset: Dataset) -> Iterator[Ill]:
    """Documents that occur twice in a query, by id or by all their features."""
    query = dataset.query_number
    if dataset.doc_ids is not None:
        names, codes = np.unique(dataset.doc_ids.astype(str), return_inverse=True)
        _, twice = _pairs(query, codes)
        n = (names[codes[twice]] != "").sum()  # no name is not a name
        fix = "keep one row of each: repeated documents count twice in every metric"
        yield _ill("warning", n, "document id is", "document ids are", "repeated in the same query", fix)
    hashes = hash_rows(np.ascontiguousarray(dataset.X), np.empty((dataset.n_docs, 0), np.uint64))
    first, second = _pairs(query, hashes)
    same = np.empty(len(first), bool)
    for rows in row_blocks(len(first), _BLOCK):  # NaN for NaN: a hash alone may err
        a, b = dataset.X[first[rows]], dataset.X[second[rows]]
        same[rows] = ((a == b) | (np.isnan(a) & np.isnan(b))).all(axis=1)
    differ, words = dataset.y[first] != dataset.y[second], ("row repeats", "rows repeat")
    what = "the features of another row of its query with a different label"
    fix = "no ranker can tell them apart: add features or agree on the label"
    yield _ill("warning", (same & differ).sum(), *words, what, fix)
    fix = "they are always tied: choose a metric profile with the right rule for ties"
    yield _ill("note", (same & ~differ).sum(), *words, "another row of its query, label included", fix)


def odd_features(dataset: Dataset) -> Iterator[Ill]:
    """Features that say nothing, hide missing values behind a number, or have a scale of their own."""
    if dataset.n_docs == 0 or dataset.n_features == 0:
        return
    low, high, missing = _extremes(dataset.X[rows] for rows in row_blocks(dataset.n_docs, _BLOCK))
    names = dataset.feature_names or tuple(str(j + 1) for j in range(dataset.n_features))
    gone = missing == dataset.n_docs
    constant = (low == high) & (dataset.n_docs > 1)
    sentinel = _sentinels(dataset.X, low, high) & ~gone & ~constant
    huge = (np.maximum(np.abs(low), np.abs(high)) > HUGE) & ~sentinel
    kinds: tuple[tuple[Severity, NDArray[np.bool_], str, str], ...] = (
        ("warning", gone, "no value at all", "drop features that are always missing: ordino convert --drop"),
        ("note", constant, "one value throughout", "drop constant features: ordino convert --drop"),
        ("warning", sentinel, "a number far from all others that seems to mean missing", "write NaN or leave it out"),
        ("note", (missing > 0) & ~gone, "missing values (NaN)", "trees accept them; for other rankers fill them in"),
        ("warning", huge, f"values beyond {HUGE:g}", "scale by query or take logarithms, except for trees"),
    )
    for severity, which, what, fix in kinds:
        chosen = [names[j] for j in np.flatnonzero(which)]
        n = len(chosen)
        listed = ", ".join(chosen[:5]) + (", ..." if n > 5 else "")
        subject = f"feature {listed} has" if n == 1 else f"{n:,} features {listed} have"
        yield severity, n, f"{subject} {what}", fix


_ALL = (
    scattered_queries, labels_out_of_range, queries_without_contrast, query_sizes, duplicate_documents, odd_features,
)  # fmt: skip
CHECKS: Mapping[str, Callable[[Dataset], Iterator[Ill]]] = MappingProxyType(
    {check.__name__.replace("_", " "): check for check in _ALL}
)
"""The checks that each data set goes through."""


def _compare(left: Dataset, right: Dataset) -> Iterator[Ill]:
    """Problems between two data sets."""
    ours = left.query_ids.tolist()
    known = {*ours, *map(str, ours)}  # one file has 1 as a number, the other as text beside ids that are none
    shared = sum(query in known or str(query) in known for query in right.query_ids.tolist())
    fix = "test queries must not be trained on: split by query"
    yield _ill("error", shared, "query id is", "query ids are", "in both", fix)
    if left.n_features != right.n_features:
        what = f"{left.n_features} features against {right.n_features}"
        yield "error", 1, what, "read both with the same n_features"
    elif left.feature_names and right.feature_names and left.feature_names != right.feature_names:
        fix = "choose the same columns in the same order"
        yield "error", 1, "the features have different names or a different order", fix


def _pairs(query: NDArray[np.intp], code: NDArray[np.generic]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows that follow a row of the same query and code, each beside the one that it follows."""
    order = np.lexsort((code, query))
    again = (query[order[1:]] == query[order[:-1]]) & (code[order[1:]] == code[order[:-1]])
    return order[:-1][again], order[1:][again]


def _extremes(blocks: Iterable[NDArray[np.float32]]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Least and largest value of each column (NaN if it has none), and the number of missing values."""
    found = ((np.fmin.reduce(block), np.fmax.reduce(block), np.isnan(block).sum(axis=0)) for block in blocks)
    low, high, missing = zip(*found, strict=True)
    return np.fmin.reduce(low), np.fmax.reduce(high), np.sum(missing, axis=0)


def _sentinels(X: NDArray[np.float32], low: NDArray[np.float32], high: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Columns whose least or largest value lies apart from all others and occurs again and again.

    A usual sentinel must be further from the rest than the rest spans, or be a negative number among others that
    are not; any other number must occur in 1 % of the rows and be ten times as far.
    """
    blocks = row_blocks(len(X), _BLOCK)
    is_inner = ((X[rows] != low) & (X[rows] != high) for rows in blocks)
    inner = (np.where(inside, X[rows], np.float32(np.nan)) for inside, rows in zip(is_inner, blocks, strict=True))
    inner_low, inner_high, _ = _extremes(inner)
    n_low, n_high = (sum(np.equal(X[rows], extreme).sum(axis=0) for rows in blocks) for extreme in (low, high))
    found = np.zeros(len(low), bool)
    for extreme, n, nearest, farthest in ((low, n_low, inner_low, high), (high, n_high, inner_high, low)):
        span = np.abs(farthest.astype(np.float64) - nearest)  # of the rest; NaN if the column has two values only
        gap = np.abs(nearest.astype(np.float64) - extreme)
        alone = (extreme < 0) & (np.fmin(nearest, farthest) >= 0)
        plain = np.isin(extreme, SENTINELS) & (n > 1) & ((gap > span) | alone)
        far = (extreme != 0) & (n > 0.01 * len(X)) & (gap > 10 * span)
        found |= (plain | far) & (span > 0)
    return found
