"""Sources: whole queries in canonical order, part by part; a data set is its own only part."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino import Dataset, synthetic
from ordino.data.source import Source, canonical


def some(queries=7, seed=1):
    return synthetic("mq", queries=queries, docs=4, seed=seed)


def test_a_data_set_is_its_own_only_part():
    data = some()
    [part] = data.parts()
    assert isinstance(data, Source)
    assert part.X.tolist() == canonical(data).X.tolist()
    assert canonical(part) is part


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1), st.integers(0, 99))
@settings(max_examples=40)
def test_the_order_of_rows_does_not_show(rows, seed):
    table = np.array(rows)
    shuffled = table[np.random.default_rng(seed).permutation(len(table))]
    one, other = (canonical(Dataset(t[:, 1:2], t[:, 2], qid=t[:, 0])) for t in (table, shuffled))
    assert one.X.tolist() == other.X.tolist()
    assert one.y.tolist() == other.y.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0]), min_size=12, max_size=12), st.integers(0, 99))
@settings(max_examples=20)
def test_the_sign_of_a_zero_does_not_show(values, seed):
    """In features, labels and weights: rows and queries stand where they would stand without it."""
    rng, signed = np.random.default_rng(seed), np.array(values)
    number, drawn = np.arange(12), rng.integers(0, 3, 12)
    given = {"qid": rng.integers(0, 3, 12), "doc_ids": number}
    for column in ("X", "y", "weights"):
        orders = []
        for zeros in (signed, signed + 0.0):
            columns = {"X": drawn, "y": drawn, "weights": drawn} | {column: zeros}
            columns["X"] = np.column_stack((columns["X"], number))  # no two rows are equal
            found = canonical(Dataset(**columns, **given))
            orders.append((found.doc_ids.tolist(), found.query_ids.tolist()))
        assert orders[0] == orders[1]
