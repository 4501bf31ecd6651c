"""A data set in a few counts, against slow loops."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from test_dataset import datasets

from ordino import Dataset
from ordino.data.summary import Spread, summarize


@settings(deadline=None)
@given(datasets())
def test_counts_are_those_of_a_slow_loop(data: Dataset) -> None:
    found = summarize(data)
    labels = [query.y.tolist() for query in data]
    assert found.n_empty == sum(max(ys) <= 0 for ys in labels)
    assert found.n_equal == sum(len(set(ys)) == 1 for ys in labels)
    assert found.n_single == sum(len(ys) == 1 for ys in labels)
    assert found.n_missing == np.isnan(data.X).sum()
    assert found.relevant_percent.tolist() == pytest.approx([100 * sum(y > 0 for y in ys) / len(ys) for ys in labels])
    assert sum(found.labels.values()) == data.n_docs
    assert sum(found.label_shares.values()) == pytest.approx(1 if data.n_docs else 0)
    assert json.loads(json.dumps(found.to_dict()))["n_docs"] == data.n_docs
    assert str(found).startswith("documents")


def test_by_hand() -> None:
    data = Dataset([[np.nan], [2.0], [3.0], [4.0], [5.0]], [2, 0, 0, 1, 1], qid=["a", "a", "b", "c", "c"])
    found = data.describe()
    assert (found.n_docs, found.n_queries, found.n_features) == (5, 3, 1)
    assert found.docs_per_query == Spread(1, 2, 5 / 3, 2)
    assert dict(found.labels) == {0: 2, 1: 2, 2: 1}
    assert (found.n_empty, found.n_equal, found.n_single, found.n_missing) == (1, 2, 1, 1)
    assert found.relevant_percent.tolist() == [50, 0, 100]
    assert found.to_dict()["labels"] == {"0": 2, "1": 2, "2": 1}


def test_many_labels_are_not_all_listed() -> None:
    text = str(summarize(Dataset(np.zeros((30, 1)), np.arange(30) / 4)))
    assert "label 2.25 " in text
    assert "label 2.5 " not in text
    assert "other labels                   20 distinct" in text


def test_nothing_has_a_summary_too() -> None:
    assert summarize(Dataset(np.zeros((0, 2)), [])).docs_per_query == Spread(0, 0, 0, 0)
