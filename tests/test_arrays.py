"""The bottom shelf: blocks of rows and queries cover everything once, and none is larger than was asked for."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.arrays import check_offsets, mean_of_counted, query_blocks, row_blocks
from ordino.errors import DataError

SIZES = st.integers(1, 6)


@given(st.lists(st.integers(0, 9), max_size=30), SIZES)
def test_blocks_are_whole_queries_and_as_many_as_fit(counts, size):
    """Empty queries too, of which any number would fit."""
    offsets = np.append(0, np.cumsum(counts, dtype=np.int64))
    blocks = query_blocks(offsets, size)
    assert [q for first, last in blocks for q in range(first, last)] == list(range(len(counts)))
    docs = [int(offsets[last] - offsets[first]) for first, last in blocks]
    for n_docs, (first, last) in zip(docs, blocks, strict=True):
        assert last - first == 1 or (n_docs <= size and last - first <= size)
    for (first, last), n_docs in zip(blocks[:-1], docs[:-1], strict=True):  # one query more would not fit
        assert n_docs + counts[last] > size or last - first == size


@given(st.integers(0, 40), SIZES)
def test_blocks_of_rows_follow_each_other(n_rows, size):
    blocks = row_blocks(n_rows, size)
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(n_rows))
    assert all(block.stop - block.start == size for block in blocks[:-1])
    assert all(one.stop == two.start for one, two in pairwise(blocks))


def test_a_mean_counts_what_there_is():
    assert mean_of_counted(np.array([1.0, np.nan, 4.0])) == 2.5
    assert np.isnan(mean_of_counted(np.array([np.nan])))


@pytest.mark.parametrize(
    ("offsets", "n_docs"), [([1, 3], 3), ([0, 2], 3), ([0, 2, 1, 3], 3), ([], 0), ([[0, 3]], 3), ([0.0, 3.0], 3)]
)
def test_offsets_that_do_not_rise_from_0_to_the_number_of_documents_are_refused(offsets, n_docs):
    with pytest.raises(DataError, match="offsets must"):
        check_offsets(offsets, n_docs)
    assert check_offsets([0, 0, 3, 3], 3).tolist() == [0, 0, 3, 3]
