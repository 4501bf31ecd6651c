"""Two documents are found by id or by row, in the one query that has both."""

import pytest

from ordino import Dataset
from ordino.errors import DataError
from ordino.explain.why import find_pair

# rows scattered over queries 1 and 2; document x was retrieved for both, y and z as well
DATA = Dataset(
    [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]],
    [0] * 6,
    qid=[1, 2, 1, 2, 1, 2],
    doc_ids=["x", "x", "y", "y", "only1", "only2"],
)


@pytest.mark.parametrize(
    ("a", "b", "features"),
    [("x", "only1", (0.0, 4.0)), ("only2", "x", (5.0, 1.0)), ("0", "2", (0.0, 2.0)), ("y", "1", (3.0, 1.0))],
)
def test_a_pair_is_found(a, b, features):
    pair = find_pair(DATA, a, b)
    assert min(pair.a, pair.b) >= 0  # rows of the query, not counted from its end
    assert (pair.query.X[pair.a, 0], pair.query.X[pair.b, 0]) == features


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ("only1", "only2", "only1 and only2 belong to different queries"),
        ("x", "y", "x and y are both in 2 queries; give their row numbers"),
        ("x", "6", "there is no document '6'; give an id, or a row number from 0 to 5"),
        ("-1", "x", "there is no document '-1'"),
    ],
)
def test_what_is_no_pair_is_refused(a, b, sentence):
    with pytest.raises(DataError, match=sentence):
        find_pair(DATA, a, b)


def test_rows_alone_will_do():
    pair = find_pair(Dataset([[7.0], [8.0]], [0, 1]), "1", "0")
    assert (pair.a, pair.b) == (1, 0)
