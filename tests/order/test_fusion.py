"""How orders become one: by hand, against slow loops, and as laws over every rule."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from ordino.errors import ParameterError
from ordino.order import fusion
from ordino.order.fusion import METHODS, fuse, query_ranks

ONE_QUERY = np.array([0, 4])


@st.composite
def votes(draw):
    """Scores of a few members for a few queries, with ties; and the offsets."""
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    n_members, n_docs = draw(st.integers(1, 4)), sum(counts)
    values = draw(st.lists(st.integers(0, 5), min_size=n_members * n_docs, max_size=n_members * n_docs))
    return np.array(values, float).reshape(n_members, n_docs), np.concatenate(([0], np.cumsum(counts)))


def disagreements(order, ranks):
    """Pairs that an order puts one way and a member the other, counted one by one."""
    return sum(
        ranks[m][lower] < ranks[m][upper]
        for m in range(len(ranks))
        for i, upper in enumerate(order)
        for lower in order[i + 1 :]
    )


def test_rank_sum_by_hand():
    # ranks of the documents: 1 2 3 4, then 2 1 3 4, then 4 1 3 2
    scores = np.array([[4, 3, 2, 1], [3, 4, 2, 1], [1, 4, 2, 3]], float)
    expected = [-(1 + 2 + 4) / 3, -(2 + 1 + 1) / 3, -(3 + 3 + 3) / 3, -(4 + 4 + 2) / 3]
    assert fuse(scores, ONE_QUERY, "rank_sum") == pytest.approx(expected)


def test_reciprocal_rank_fusion_by_hand():
    scores = np.array([[4, 3, 2, 1], [1, 2, 3, 4]], float)
    assert fuse(scores, ONE_QUERY, "rrf") == pytest.approx(
        [1 / 61 + 1 / 64, 1 / 62 + 1 / 63, 1 / 63 + 1 / 62, 1 / 64 + 1 / 61]
    )


def test_median_by_hand_and_the_mean_rank_decides_among_equal_ones():
    # ranks 1 1 4 (median 1), 2 2 1 (2), 3 4 2 (3), 4 3 3 (3): the third has the smaller mean of the last two
    scores = -np.array([[1, 2, 3, 4], [1, 2, 4, 3], [4, 1, 2, 3]], float)
    fused = fuse(scores, ONE_QUERY, "median")
    assert np.argsort(-fused).tolist() == [0, 1, 2, 3]
    assert -fused == pytest.approx([1 + 2 / 32, 2 + (5 / 3) / 32, 3 + 3 / 32, 3 + (10 / 3) / 32])


def test_score_mean_brings_every_member_to_the_same_scale():
    # deviations: 1 for the first query's members, whatever their units; a member without an opinion adds 0
    scores = np.array([[0, 2, 5, 5], [1000, 3000, 7, 9]], float)
    assert fuse(scores, np.array([0, 2, 4]), "score_mean") == pytest.approx([-1, 1, -0.5, 0.5])
    rounded = np.array([[0, 2], [0.1 + 0.2, 0.3]])  # equal but for the last bit is no opinion either
    assert fuse(rounded, np.array([0, 2]), "score_mean") == pytest.approx([-0.5, 0.5])


def test_kemeny_follows_the_majority_where_rank_sums_do_not():
    # three members say a > b > c > d, two say b > c > d > a: rank sums put b first (8 against 11), most members a
    scores = -np.array([[1, 2, 3, 4]] * 3 + [[4, 1, 2, 3]] * 2, float)
    assert np.argmax(fuse(scores, ONE_QUERY, "rank_sum")) == 1
    assert fuse(scores, ONE_QUERY, "kemeny").tolist() == [-1, -2, -3, -4]


def test_where_members_are_at_odds_kemeny_follows_the_scores_and_not_the_rows():
    # one member says a > b by little, the other b > a by much
    scores = np.array([[3.0, 2.9, 0.0], [1.0, 5.0, 0.0]])
    assert fuse(scores, np.array([0, 3]), "kemeny").tolist() == [-2, -1, -3]
    assert fuse(np.ascontiguousarray(scores[:, ::-1]), np.array([0, 3]), "kemeny").tolist() == [-3, -1, -2]


def test_kemeny_goes_on_until_no_move_is_left():
    # going through the documents once leaves an order that one more move betters
    scores = np.array([[0, 3, 2, 1], [2, 3, 1, 0], [3, 0, 2, 1], [1, 2, 0, 3], [2, 1, 0, 3]], float)
    order = np.argsort(-fuse(scores, ONE_QUERY, "kemeny")).tolist()
    ranks = [rankdata(-one) for one in scores]
    assert disagreements(order, ranks) == min(disagreements(one, ranks) for one in permutations(range(4)))


def test_kemeny_orders_more_than_a_page_of_documents():
    """No two neighbors anywhere in a list of 60 could change places for the better."""
    members = np.random.default_rng(0).normal(size=(5, 60))
    ranked = members[:, np.argsort(-fuse(members, np.array([0, 60]), "kemeny"))]
    assert ((ranked[:, :-1] > ranked[:, 1:]).sum(axis=0) >= 3).all()
    by_sum = members[:, np.argsort(-fuse(members, np.array([0, 60]), "rank_sum"))]
    assert ((by_sum[:, :-1] > by_sum[:, 1:]).sum(axis=0) < 3)[20:].any()


def test_kemeny_orders_only_the_top_of_long_queries(monkeypatch):
    monkeypatch.setattr(fusion, "KEMENY_TOP", 2)
    scores = -np.array([[1, 2, 3, 4]] * 3 + [[4, 1, 2, 3]] * 2, float)
    borda = np.argsort(-fuse(scores, ONE_QUERY, "rank_sum"))  # b, a, c, d
    assert borda.tolist() == [1, 0, 2, 3]
    assert np.argsort(-fuse(scores, ONE_QUERY, "kemeny")).tolist() == [0, 1, 2, 3]


@given(votes())
def test_ranks_agree_with_scipy(drawn):
    scores, offsets = drawn
    expected = np.concatenate([rankdata(-scores[0, a:b]) for a, b in pairwise(offsets)])
    np.testing.assert_array_equal(query_ranks(scores[0], offsets), expected)


@given(votes())
def test_kemeny_is_never_worse_than_its_start_and_has_no_better_neighbor(drawn):
    scores, offsets = drawn
    fused = fuse(scores, offsets, "kemeny")
    for a, b in pairwise(offsets):
        ranks = [rankdata(-one[a:b]) for one in scores]
        order = np.argsort(-fused[a:b]).tolist()
        found = disagreements(order, ranks)
        assert found <= disagreements(np.argsort(np.mean(ranks, axis=0), kind="stable").tolist(), ranks)
        for i in order:
            rest = [j for j in order if j != i]
            assert all(found <= disagreements([*rest[:p], i, *rest[p:]], ranks) for p in range(len(order)))


def test_kemeny_is_near_the_best_of_all_orders_of_five():
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(20):
        scores = rng.random((5, 5))
        ranks = [rankdata(-one) for one in scores]
        found = disagreements(np.argsort(-fuse(scores, np.array([0, 5]), "kemeny")).tolist(), ranks)
        excess.append(found - min(disagreements(order, ranks) for order in permutations(range(5))))
    assert max(excess) <= 1
    assert np.mean(np.array(excess) == 0) >= 0.8


@pytest.mark.parametrize("method", METHODS)
@given(drawn=votes())
def test_a_query_is_ordered_the_same_alone_and_among_others(method, drawn):
    scores, offsets = drawn
    together = fuse(scores, offsets, method)
    a, b = offsets[-2], offsets[-1]
    alone = fuse(np.ascontiguousarray(scores[:, a:b]), np.array([0, b - a]), method)
    np.testing.assert_allclose(together[a:b], alone, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_members_that_agree_are_followed(method):
    scores = np.array([[3, 1, 2, 0], [30, 10, 20, 0], [0.3, 0.1, 0.2, 0.0]])
    assert np.argsort(-fuse(scores, ONE_QUERY, method)).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("method", METHODS)
def test_no_documents_are_no_trouble(method):
    assert fuse(np.zeros((2, 0)), np.array([0]), method).shape == (0,)


def test_an_unknown_rule_is_refused_with_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'rank_sum'"):
        fuse(np.zeros((1, 1)), np.array([0, 1]), "ranksum")
