from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from comparators import cyclic_triples, larger_first, preferences, random_network
from hypothesis import given
from hypothesis import strategies as st

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.order import ORDERS, audit, meetings, order_queries, tournament
from ordino.order.audit import exact_share, sampled_share
from ordino.order.kernels import ACTIVATIONS, LANES
from ordino.order.meeting_kernels import TILE, WINS

OFTEN = ("relu", "tanh")  # each activation is compiled on its own
OTHERS = tuple(sorted(set(ACTIVATIONS) - set(OFTEN)))


@pytest.mark.parametrize("activations", [OFTEN, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=" ".join)
@given(n=st.integers(0, 40), seed=st.integers(0, 1000))
def test_rules_are_sums_over_all_pairs(activations: tuple[str, ...], n: int, seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, 3, (n, 2)).astype(np.float32)  # some documents are equal
    hidden, symmetric = ((6, 4), (6,))[seed % 2], seed % 3 > 0
    activation = activations[seed // 6 % len(activations)]
    network = random_network(2, hidden, activation, seed=seed, symmetric=symmetric)
    P = preferences(network, X)
    wins = ((P > 0.5) + 0.5 * (P == 0.5)).sum(axis=1) - 0.5  # without the tie with itself
    assert tournament(network, X, [0, n]).tolist() == wins.tolist()
    np.testing.assert_allclose(tournament(network, X, [0, n], rule="borda"), P.sum(axis=1) - 0.5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, LANES, TILE, TILE + 1, TILE + 2, 2 * TILE + LANES + 1])
@pytest.mark.parametrize("hidden", [(10,), (8, 6)])
def test_every_pair_meets_once_whatever_the_tiles(n: int, hidden: tuple[int, ...]) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)
    network = random_network(3, hidden, "tanh", scale=4)
    P = preferences(network, X)
    points = (P > 0.5) + 0.5 * (P == 0.5) - 0.5 * np.eye(n)  # none for meeting oneself
    assert tournament(network, X, [0, n]).tolist() == points.sum(axis=1).tolist()
    wins = meetings.Meetings(network, X, None).totals(np.array([0, n]), 5)[WINS] / 2
    assert wins[:5].tolist() == points[:5].sum(axis=1).tolist()  # the first have met all others
    assert wins[5:].tolist() == points[5:, :5].sum(axis=1).tolist()


@pytest.mark.parametrize("rule", ["copeland", "borda"])
def test_a_tournament_depends_neither_on_rows_nor_on_threads_nor_on_other_queries(rule: str) -> None:
    X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    network = random_network(3, (10,), scale=5)
    scores = tournament(network, X, [0, 300, 400], rule=rule, n_jobs=2)
    assert scores.tolist() == tournament(network, X, [0, 300, 400], rule=rule, n_jobs=1).tolist()
    assert scores[:300].tolist() == tournament(network, X[:300], [0, 300], rule=rule).tolist()
    assert scores[:300].tolist() == tournament(network, X[299::-1], [0, 300], rule=rule)[::-1].tolist()
    assert scores[:300].sum() == pytest.approx(300 * 299 / 2)  # one point for each pair


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown rule 'bordo'; did you mean 'borda'"):
        tournament(larger_first(), [[1.0]], [0, 1], rule="bordo")


@given(st.integers(3, 18), st.integers(0, 1000), st.booleans())
def test_cyclic_triples_are_those_of_all_triples(n: int, seed: int, few_values: bool) -> None:
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 2, (n, 2)) if few_values else rng.normal(size=(n, 2))).astype(np.float32)
    network = random_network(2, (8,), "tanh", seed=seed, scale=5)
    P = preferences(network, X) - 0.5
    share = cyclic_triples(n, lambda a, b: P[a, b]) / (n * (n - 1) * (n - 2) / 6)
    assert exact_share(network, X) == pytest.approx(share)


def test_drawn_triples_estimate_the_share() -> None:
    X = np.random.default_rng(1).normal(size=(200, 2)).astype(np.float32)
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    exact = exact_share(network, X)
    assert exact > 0.005
    error = np.sqrt(exact * (1 - exact) / 100_000)
    assert sampled_share(network, X, 100_000, seed=0) == pytest.approx(exact, abs=4 * error)


def test_three_documents_drawn_are_the_three_there_are() -> None:
    X = np.random.default_rng(1).normal(size=(60, 2)).astype(np.float32)
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    beats = preferences(network, X) > 0.5
    circle = next([a, b, c] for a, b, c in permutations(range(60), 3) if beats[a, b] and beats[b, c] and beats[c, a])
    assert sampled_share(network, X[circle], 50, seed=0) == exact_share(network, X[circle]) == 1


def test_triples_are_counted_where_that_takes_no_more_comparisons_than_drawing_them() -> None:
    """100 documents make 4,950 pairs; a triple that is drawn takes three comparisons."""
    X = np.random.default_rng(1).normal(size=(100, 2))
    network, data = random_network(2, (8,), "tanh", seed=1, scale=5), Dataset(X, np.zeros(100))
    for triples, n_sampled in ((1650, 0), (1649, 1)):
        found = audit(network, data, shuffles=1, triples=triples, algorithms=[])
        exact = exact_share(network, data.X)
        assert (found.n_sampled, found.cyclic[0] == exact) == (n_sampled, not n_sampled)


def test_every_shuffle_is_another_and_follows_the_seed() -> None:
    X = np.random.default_rng(1).normal(size=(100, 2))
    network, data = random_network(2, (8,), "tanh", seed=1, scale=5), Dataset(X, np.zeros(100))
    both, first, other = (
        audit(network, data, shuffles=n, seed=seed, algorithms=["merge"]).moves["shuffles"].mean
        for n, seed in ((2, 0), (1, 0), (1, 1))
    )
    second = 2 * both - first  # a mean over shuffles
    assert min(abs(first - second), abs(first - other), abs(second - other)) > 1e-9


def test_queries_without_a_triple_do_not_thin_the_share_of_circles() -> None:
    X = np.random.default_rng(1).normal(size=(102, 2))
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    result = audit(network, Dataset(X, np.zeros(102), qid=np.repeat([1, 2], [100, 2])), algorithms=["merge"])
    assert result.cyclic_share == result.cyclic[0] > 0


def test_a_transitive_comparator_moves_nothing() -> None:
    x = np.random.default_rng(0).integers(0, 50, 300).astype(float)  # equal documents may change places
    result = audit(larger_first(), Dataset(x[:, None], x, qid=np.repeat([1, 2, 3], 100)))
    assert result.cyclic_share == 0
    assert list(result.moves) == ["shuffles", *(name for name in ORDERS if name != "merge")]
    assert all(move == (0, 0, 0) for move in result.moves.values())


def test_a_comparator_with_circles_moves_documents() -> None:
    X = np.random.default_rng(1).normal(size=(120, 2))
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    data = Dataset(X, np.zeros(120), qid=np.repeat([1, 2], [20, 100]))
    exact, sampled = audit(network, data, seed=1), audit(network, data, triples=1000)
    assert (exact.n_sampled, sampled.n_sampled) == (0, 1)  # 4950 pairs are more than 3000 comparisons
    assert exact.cyclic[0] == sampled.cyclic[0]
    for move in exact.moves.values():
        assert 0 < move.mean <= move.max <= 1000
        assert 0 < move.docs <= 1000
    assert exact.to_dict()["moves"]["heap"] == exact.moves["heap"]._asdict()
    again = audit(network, data, seed=1, n_jobs=1)
    assert again.to_dict() == exact.to_dict()
    assert str(again) == str(exact)


@pytest.mark.parametrize("algorithm", ["heap", "quick", "copeland"])
def test_algorithms_are_compared_where_both_start_from_the_rows_as_they_stand(algorithm: str) -> None:
    X = np.random.default_rng(1).normal(size=(120, 2)).astype(np.float32)
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    usual, other = (
        np.argsort(order_queries(network, X, [0, 120], algorithm=name, start=np.arange(120)))
        for name in ("merge", algorithm)
    )
    found = audit(network, Dataset(X, np.zeros(120)), shuffles=1, algorithms=[algorithm]).moves[algorithm]
    moved = abs(usual - other)
    assert moved.any()
    assert found == pytest.approx(1000 / 120 * np.array([(moved > 0).sum(), moved.mean(), moved.max()]))


@pytest.mark.parametrize("algorithm", ["copeland", "borda"])
def test_shuffling_moves_nothing_in_an_order_over_all_pairs(algorithm: str) -> None:
    X = np.random.default_rng(1).integers(0, 9, (1000, 2)).astype(np.float32)  # with documents that are equal
    network = random_network(2, (8,), "tanh", seed=1, scale=5)
    data = Dataset(X, np.zeros(1000))
    assert audit(network, data, algorithm=algorithm, algorithms=()).moves["shuffles"] == (0, 0, 0)
    assert audit(network, data, algorithms=()).moves["shuffles"].docs > 0
    assert list(audit(network, data, algorithm=algorithm, algorithms=["merge"]).moves) == ["shuffles", "merge"]


def test_moves_by_hand() -> None:
    from ordino.order.audit import _moves

    # 4 documents: two neighbors change places, which is 2 of 4 documents by 1 of 4 positions; the other query stands
    usual, other = np.array([0, 1, 2, 3, 4, 5]), np.array([1, 0, 2, 3, 4, 5])
    assert _moves(usual, [other], np.array([0, 4, 4, 6])) == ((500 + 0) / 2, (0.5 * 250 + 0) / 2, 250)


def test_an_audit_of_nothing() -> None:
    assert audit(larger_first(), Dataset(np.empty((0, 1)), [])).cyclic_share == 0
    result = audit(larger_first(), Dataset([[1.0], [2.0]], [0, 1]))
    assert "cyclic triples      0 %" in str(result)


@pytest.mark.parametrize("name", ["shuffles", "triples"])
def test_wrong_numbers_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}=0; it must be a whole number, 1 or more"):
        audit(larger_first(), Dataset([[1.0]], [0]), **{name: 0})
