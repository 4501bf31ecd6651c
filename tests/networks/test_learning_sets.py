"""Which pairs of documents a comparator learns from."""

import numpy as np
import pytest

from ordino.errors import ParameterError
from ordino.networks import learning_sets
from ordino.networks.learning_sets import CONFIGURATIONS, draw_pairs

LABELS = np.array([0, 2, 1, 0, 1, 1, 0, 0, 0, 5, 5, 0], dtype=float)
OFFSETS = np.array([0, 5, 9, 10, 12])
QUERY = np.repeat(np.arange(4), np.diff(OFFSETS))


SECTION_3_3 = {
    "B": {"different": 1, "relevant": 1, "irrelevant": 1},
    "C": {"different": 1},
    "D": {"different": 1, "relevant": 1},
    "E": {"different": 1, "irrelevant": 1},
    "B66": {"different": 4, "relevant": 1, "irrelevant": 1},
    "B75": {"different": 6, "relevant": 1, "irrelevant": 1},
    "D66": {"different": 2, "relevant": 1},
    "D75": {"different": 3, "relevant": 1},
    "E66": {"different": 2, "irrelevant": 1},
    "E75": {"different": 3, "irrelevant": 1},
}
"""The kinds of pairs by the thesis, written down a second time: D adds pairs of relevant documents, E of irrelevant."""


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_configurations_draw_what_they_say(name):
    y, query = np.random.default_rng(0).integers(0, 3, 120).astype(float), np.arange(120) // 20
    drawn = draw_pairs(y, np.arange(0, 121, 20), name, 720, np.random.default_rng(0))
    a, b = drawn.rows(120)
    assert len(a) == len(drawn.target) == 720
    assert (query[a] == query[b]).all()
    assert (a != b).all()
    assert (drawn.target == (1 + np.sign(y[a] - y[b])) / 2).all()
    kinds = np.where(y[a] != y[b], "different", np.where(y[a] > 0, "relevant", "irrelevant"))
    found, counts = np.unique(kinds, return_counts=True)
    if name == "A":
        assert set(found) == {"different", "relevant", "irrelevant"}
    else:
        parts = SECTION_3_3[name]
        assert dict(zip(found, counts.tolist(), strict=True)) == {
            kind: 720 * part // sum(parts.values()) for kind, part in parts.items()
        }
    assert (np.unique(query[a], return_counts=True)[1] == 120).all()


@pytest.mark.parametrize(("name", "percent"), [("B66", 66), ("B75", 75), ("D66", 66), ("D75", 75), ("E66", 66)])
def test_most_pairs_of_a_mix_have_different_labels(name, percent):
    parts = SECTION_3_3[name]
    assert 100 * parts["different"] // sum(parts.values()) == percent


def test_distinct_pairs_are_shared_as_equally_as_the_queries_allow():
    """8, 3, 0 and 1 pairs differ: asked for 10, the shares 4, 3 and 3 become 6, 3 and 1."""
    drawn = draw_pairs(LABELS, OFFSETS, "C", 10, np.random.default_rng(0), distinct=True)
    pairs = [tuple(pair) for pair in np.sort(drawn.rows(12).T, axis=1).tolist()]
    assert len(set(pairs)) == len(pairs) == 10
    assert np.bincount(QUERY[[a for a, _ in pairs]], minlength=4).tolist() == [6, 3, 0, 1]


def test_distinct_pairs_of_a_kind_are_no_more_than_there_are():
    drawn = draw_pairs(LABELS, OFFSETS, "D", 12, np.random.default_rng(0), distinct=True)
    a, b = drawn.rows(12)
    assert (LABELS[a] != LABELS[b]).sum() == 6
    assert (LABELS[a] == LABELS[b]).sum() == 1  # two ones in query 0; nothing is drawn in its place


def test_every_query_has_an_equal_share_and_every_pair_of_it_too():
    """12 pairs differ: 8 of query 0, 3 of query 1, none of query 2, 1 of query 3; asked for 12, each gives 4."""
    drawn = draw_pairs(LABELS, OFFSETS, "C", 12, np.random.default_rng(0))
    often = {}
    for a, b in np.sort(drawn.rows(12).T, axis=1).tolist():
        often.setdefault(int(QUERY[a]), []).append((a, b))
    times = {q: sorted(pairs.count(pair) for pair in set(pairs)) for q, pairs in often.items()}
    assert times == {0: [1, 1, 1, 1], 1: [1, 1, 2], 3: [4]}


def test_any_label_above_0_is_relevant():
    """Of two documents with half a point and one without, two pairs differ and one is of relevant documents."""
    y, offsets = np.array([0.5, 0.5, 0.0]), np.array([0, 3])
    assert draw_pairs(y, offsets, "D", None, np.random.default_rng(0)).n_pairs == 3
    assert draw_pairs(y, offsets, "E", None, np.random.default_rng(0)).n_pairs == 2


def test_no_more_pairs_are_drawn_than_there_are():
    assert draw_pairs(LABELS, OFFSETS, "C", 1000, np.random.default_rng(0)).n_pairs == 12


def test_a_pair_stands_in_either_order():
    y = np.arange(1000) % 2.0
    drawn = draw_pairs(y, np.array([0, 1000]), "C", 1000, np.random.default_rng(0))
    assert drawn.target.mean() == pytest.approx(0.5, abs=0.05)


def test_all_pairs_are_every_pair_once():
    drawn = draw_pairs(LABELS, OFFSETS, "C", None, np.random.default_rng(0))
    expected = [(i, j) for i in range(12) for j in range(i + 1, 12) if QUERY[i] == QUERY[j] and LABELS[i] != LABELS[j]]
    assert sorted(map(tuple, np.sort(drawn.rows(12).T, axis=1).tolist())) == expected


def test_nothing_to_draw_is_no_pair():
    drawn = draw_pairs(np.ones(4), np.array([0, 4]), "C", 10, np.random.default_rng(0))
    assert drawn.codes.shape == drawn.target.shape == (0,)
    assert drawn.rows(4).shape == (2, 0)


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(learning_sets, "MOST_PAIRS", 10)
    with pytest.raises(ParameterError, match="n_pairs=None takes all 12 pairs; give a number"):
        draw_pairs(LABELS, OFFSETS, "C", None, np.random.default_rng(0))
