"""The doctor: each illness is found where it is, and a healthy set has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dataset import datasets

from ordino import Dataset
from ordino.data import doctor
from ordino.data.doctor import CHECKS, SEVERITIES, Finding, examine, format_findings


def healthy(n_queries: int = 12, **changes: Any) -> Dataset:
    """Four documents a query, labels 0 to 3, three features of one scale."""
    n = 4 * n_queries
    parts = {
        "X": np.random.default_rng(0).random((n, 3)).astype(np.float32),
        "y": np.tile([0, 1, 2, 3], n_queries),
        "qid": np.repeat(np.arange(n_queries), 4),
    }
    return Dataset(**(parts | changes))


def column(values: Any) -> Dataset:
    """A healthy set of 48 documents whose last feature is this."""
    X = np.random.default_rng(0).random((48, 3)).astype(np.float32)
    X[:, 2] = values
    return healthy(X=X)


def found(data: Dataset) -> list[tuple[str, str, int]]:
    return [(finding.severity, finding.what, finding.count) for finding in examine({"train": data})]


def test_a_healthy_set_has_nothing() -> None:
    assert examine({"train": healthy()}) == []
    assert format_findings([]) == "no problems found"


LABELS = np.tile([0.0, 1.0, 2.0, 3.0], 12)
ROWS = np.arange(48)
QID = np.repeat(np.arange(12), 4)
UNIFORM = np.random.default_rng(1).random(48)


def labels(**changes: float) -> np.ndarray:
    """The healthy labels, with some of them (``row3=7``) changed."""
    y = LABELS.copy()
    for row, label in changes.items():
        y[int(row[3:])] = label
    return y


@pytest.mark.parametrize(
    ("data", "severity", "what", "count"),
    [
        (healthy(y=labels(row0=-1)), "error", "1 label is negative (least -1)", 1),
        (healthy(y=labels(row3=31, row7=40)), "error", "2 labels are above 30 (up to 40)", 2),
        (healthy(y=labels(row3=2.5)), "warning", "1 label is fractional", 1),
        (healthy(y=np.ones(48)), "error", "no query has two different labels", 12),
        (healthy(y=np.where(ROWS < 8, 2, LABELS)), "note", "2 queries have equal labels above 0 throughout", 2),
        (healthy(y=np.where(ROWS < 8, 0, LABELS)), "note", "2 queries have no relevant document", 2),
        (healthy(qid=[99, *QID[1:]], y=labels(row0=1)), "note", "1 query has one document", 1),
        (healthy(qid=[5, *QID[1:]]), "warning", "the rows of 1 query are scattered", 1),
        (healthy(qid=ROWS % 12, y=np.sort(LABELS)), "warning", "the rows of 12 queries are scattered", 12),
        (healthy(doc_ids=[7, 7, *range(50, 96)]), "warning", "1 document id is repeated in the same query", 1),
        (column(7.0), "note", "feature 3 has one value throughout", 1),
        (column(np.nan), "warning", "feature 3 has no value at all", 1),
        (column(np.where(ROWS < 5, np.nan, UNIFORM)), "note", "feature 3 has missing values (NaN)", 1),
        (column(1e7 * UNIFORM), "warning", "feature 3 has values beyond 1e+06", 1),
    ],
)  # fmt: skip
def test_one_illness_is_one_finding(data: Dataset, severity: str, what: str, count: int) -> None:
    assert found(data) == [(severity, what, count)]


SENTINEL = [("warning", "feature 3 has a number far from all others that seems to mean missing", 1)]


@pytest.mark.parametrize(
    "values",
    [
        np.where(ROWS < 5, -1, UNIFORM),
        np.where(ROWS < 2, -999, UNIFORM - 0.5),
        np.where(ROWS < 5, -1, np.arange(48.0)),  # a count is never negative
        np.where(ROWS < 5, 9999, UNIFORM),
        np.where(ROWS < 5, 3.4e38, UNIFORM),
        np.where(ROWS < 5, -77, UNIFORM),
    ],
)
def test_numbers_that_mean_missing(values: np.ndarray) -> None:
    assert found(column(values)) == SENTINEL


@pytest.mark.parametrize(
    "values",
    [
        np.where(ROWS < 24, -1, 1),  # two classes
        np.where(ROWS < 24, 0, 5 + UNIFORM),  # zero is a value
        np.arange(48) - 1.0 + 50 * (np.arange(48) > 0),  # the extreme occurs once
        np.arange(48) % 7 - 3.0,  # -1 in the midst
        np.where(ROWS < 5, 99, 100 * UNIFORM),  # 99 among its like
    ],
)
def test_numbers_that_do_not(values: np.ndarray) -> None:
    assert found(column(values)) == []


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_a_query_is_scattered_if_another_stands_between_its_rows(qid: list[int]) -> None:
    places = [[row for row, own in enumerate(qid) if own == query] for query in set(qid)]
    n = sum(rows[-1] - rows[0] >= len(rows) for rows in places)
    told = [
        count for _, what, count in found(Dataset(np.zeros((len(qid), 0)), [0] * len(qid), qid)) if "scatter" in what
    ]
    assert told == [n] * (n > 0)


def test_rows_that_repeat() -> None:
    X = healthy().X.copy()
    X[1] = X[0]  # labels 0 and 1
    X[4] = X[0]  # another query
    X[8:12] = np.nan
    y = LABELS.copy()
    y[8:12] = [0, 0, 1, 1]
    assert found(healthy(X=X, y=y)) == [
        ("warning", "2 rows repeat the features of another row of its query with a different label", 2),
        ("note", "2 rows repeat another row of its query, label included", 2),
        ("note", "3 features 1, 2, 3 have missing values (NaN)", 3),
    ]


def test_many_features_are_not_all_named() -> None:
    data = healthy(X=np.hstack([healthy().X, np.ones((48, 7))]), feature_names=list("abcdefghij"))
    assert found(data) == [("note", "7 features d, e, f, g, h, ... have one value throughout", 7)]


def test_long_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 11 + 600
    data = Dataset(
        np.random.default_rng(0).random((n, 2)), np.arange(n) % 2, qid=[*np.arange(10).repeat(1), *[99] * (n - 10)]
    )
    monkeypatch.setattr(doctor, "MAX_QUERY", 600)
    whats = [what for _, what, _ in found(data)]
    assert "1 query has more than 600 documents (up to 601)" in whats
    assert "the longest query has 601 documents, the median one 1" in whats


def test_what_is_wrong_between_sets() -> None:
    train, test = healthy(), healthy(n_queries=3)
    assert examine({"train": train, "test": test}) == [
        Finding(
            "error", "train & test", "3 query ids are in both", "test queries must not be trained on: split by query", 3
        )
    ]
    wide = Dataset([[1.0, 2.0], [2.0, 3.0]], [0, 1], qid=["z", "z"])
    assert [f.what for f in examine({"a": train, "b": wide})] == ["3 features against 2"]
    names = [
        wide.replace(feature_names=["p", "q"]),
        healthy(X=np.eye(48, 2) + healthy().X[:, :2], feature_names=["q", "p"]),
    ]
    assert [f.what for f in examine({"a": names[0], "b": names[1]})] == [
        "the features have different names or a different order"
    ]


@settings(deadline=None)
@given(datasets())
def test_any_set_can_be_examined(data: Dataset) -> None:
    findings = examine({"a": data, "b": data})
    assert [SEVERITIES.index(f.severity) for f in findings] == sorted(SEVERITIES.index(f.severity) for f in findings)
    for finding in findings:
        assert finding.count > 0
        assert "\n" not in finding.what + finding.fix
    assert len(format_findings(findings).splitlines()) == max(len(findings), 1)


@settings(deadline=None)
@given(st.permutations(range(48)))
def test_the_order_of_rows_changes_only_whether_they_stand_together(rows: list[int]) -> None:
    data = column(np.where(ROWS < 5, -1, UNIFORM))
    mixed = Dataset(data.X[rows], data.y[rows], data.qid[rows])
    assert [f for f in found(mixed) if "scattered" not in f[1]] == SENTINEL


def test_every_check_has_a_sentence() -> None:
    assert all(check.__doc__ for check in CHECKS.values())


@pytest.mark.parametrize("other", [["2", "x"], [2.0, 7.5], [2, 99]])
def test_a_query_in_both_sets_is_found_whether_its_id_is_a_number_or_a_text(other: list[Any]) -> None:
    """Ids of a file are texts as soon as one of them is no number."""
    sets = {"train": healthy(), "test": healthy(2, qid=np.repeat(np.array(other), 4))}
    for pair in (sets, dict(reversed(sets.items()))):
        assert "1 query id is in both" in [finding.what for finding in examine(pair)]


def test_documents_without_a_name_are_not_one_document():
    def repeated(ids):
        data = Dataset(np.arange(4.0)[:, None], [0, 1, 2, 0], doc_ids=ids)
        return [one for one in map(str, examine({"data": data})) if "repeated in the same query" in one]

    assert repeated(["", "", "", "a"]) == []
    assert len(repeated(["", "", "a", "a"])) == 1
    assert "1 document id is repeated" in repeated(["", "", "a", "a"])[0]
