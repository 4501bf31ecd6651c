"""DeepNet's experiments: the numbers of the thesis, pair errors, choices on validation data, the plan of Table 3.1."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from ordino import Dataset, evaluate, synthetic
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers import deepnet
from ordino.experiment.papers.catalogue import reproduce
from ordino.experiment.papers.deepnet import deep, large, protocol, search, shallow, symmetry
from ordino.experiment.papers.deepnet.protocol import DEVIATIONS, PAPER, PRINTED
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.target import Request
from ordino.layers import Layer
from ordino.order import PairNetwork
from ordino.rankers.deepnet import DenseComparator
from ordino.rankers.nested import NestedRanker
from ordino.streams import spawn_seed
from ordino.testing import easy_data

# what was copied from the thesis


@pytest.mark.parametrize("name", [name for name, row in PAPER.items() if len(row) > 2])
@pytest.mark.parametrize("printed", [PAPER, DEVIATIONS], ids=["numbers", "deviations"])
def test_at_rank_1_precision_is_ndcg(name, printed):
    row = printed.get(name, {})
    for part in ("valid", "test"):
        assert row.get(f"{part} p@1") == row.get(f"{part} ndcg@1")
    for metric in ("p@", "ndcg@"):
        assert sum(one.startswith(f"test {metric}") for one in row) in ((10,) if printed is PAPER else (0, 10))


def test_every_number_of_30_repeats_has_its_deviation():
    for name, row in DEVIATIONS.items():
        assert set(row) == set(PAPER[name])


@pytest.mark.parametrize("table", ["table3.1", "table4.2", "table4.3", "table5.2"])
def test_the_papers_p_follows_from_its_numbers_as_far_as_they_are_rounded(table):
    """Welch's T of the means and deviations, each off by half a digit at most, brackets the printed p of MAP."""
    claim = next(one for one in deepnet.TARGETS[table].page.claims if one.better["measure"] == "map")
    label = claim.better["method"], claim.worse["method"]
    (m1, s1), (m2, s2) = ((PAPER[one]["test map"], DEVIATIONS[one]["test map"]) for one in label)
    p = [
        stats.ttest_ind_from_stats(m1 + shift, s1 + wide, 30, m2 - shift, s2 + wide, 30, equal_var=False).pvalue
        for shift, wide in ((0.0005, -0.0005), (-0.0005, 0.0005))
    ]
    assert p[0] <= PRINTED["p"][table]["map"] <= p[1]


def test_every_setting_of_the_thesis_tables_has_its_numbers():
    assert {*shallow.NETS, *deep.SETTINGS, *deep.ALL_METHODS} - {shallow.TWICE} <= set(PAPER)


def test_bar_charts_without_numbers_get_none_from_a_table(folder):
    for name, has_numbers in (("fig4.2", False), ("table4.2", True)):
        numbers = reproduce(f"deepnet.{name}", Request(folder, quick=True)).numbers
        assert any(number.paper is not None for number in numbers) == has_numbers


def test_claims_carry_what_the_thesis_prints():
    by_map, by_p1 = deepnet.TARGETS["table4.2"].page.claims
    assert (by_map.difference, by_map.deviations, by_map.p) == (0.039, (0.005, 0.013), "= 1e-17")
    assert (by_p1.difference, by_p1.deviations, by_p1.p) == (0.03, (0.03, 0.05), "= 0.007")


# the systems


def test_the_dense_net_of_the_thesis_is_asked_once_and_else_the_same():
    dense = shallow.DENSE.entry(Request()).params
    assert dense.pop("asked") == "once"
    assert dense == shallow.NETS["CmpNN"].settings(Request())


def test_the_nested_ranker_is_the_published_one():
    entry = large.NESTED.entry(Request())
    made, published = entry.make(entry.params), NestedRanker.as_published()
    assert {name: value for name, value in made.get_params().items() if name not in ("ranker", "ranker__seed")} == {
        name: value for name, value in published.get_params().items() if name not in ("ranker", "ranker__seed")
    }


def test_sortnet_runs_the_30_iterations_of_appendix_b():
    assert deep.ALL_METHODS["SortNet MAP"].settings(Request())["max_iter"] == 30


# pair errors


def test_a_wrong_pair_is_one_that_the_network_gets_wrong_in_the_order_drawn():
    data = easy_data()
    ranker = DenseComparator(hidden=3, epochs=2, n_pairs=300).fit(data)
    X = ranker.prepared(data).X
    wrong = []
    for i in range(data.n_docs):
        for j in range(data.n_docs):
            if data.query_number[i] == data.query_number[j] and data.y[i] > data.y[j]:
                first, second = (ranker.network_.activations(X[[a]], X[[b]])[-1][0] for a, b in ((i, j), (j, i)))
                wrong.append([first[0] <= first[1], second[1] <= second[0]])
    by_order = np.mean(wrong, axis=0)
    assert by_order[0] != by_order[1]  # it contradicts itself
    found = [protocol.wrong_pairs(ranker, data, seed) for seed in range(30)]
    assert np.mean(found) == pytest.approx(by_order.mean(), abs=3 * np.std(found) / 30**0.5)


def test_no_more_than_10_000_pairs_are_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(protocol, "TEST_PAIRS", 50)
    ranker = DenseComparator(hidden=3, epochs=1, n_pairs=300).fit(easy_data())
    real = type(ranker).activations

    def noted(self, data, pairs):
        asked.append(len({tuple(sorted(pair)) for pair in pairs.tolist()}))
        return real(self, data, pairs)

    monkeypatch.setattr(type(ranker), "activations", noted)
    protocol.wrong_pairs(ranker, easy_data(), 0)
    assert asked == [50]


def test_pages_count_the_pairs_of_networks_and_not_of_sorted_lists(folder, monkeypatch):
    monkeypatch.setattr(protocol, "wrong_pairs", lambda *_: 0.25)
    numbers = reproduce("deepnet.table4.2", Request(folder, quick=True)).numbers
    errors = [number.ours for number in numbers if number.labels[-1] == "pairwise_error"]
    assert errors == [(0.25, 0.25)] * 2


# choices on validation data


def test_dropout_is_chosen_for_each_depth_by_validation(folder, monkeypatch):
    request = Request(folder, quick=True)
    monkeypatch.setattr(search, "DROPOUTS", (0.0, 0.1, 0.5))
    seen = {}

    class FakeTrials:
        def by_seed(self, _, label, metric, part):
            seen.setdefault((metric, part), []).append(label)
            p = float(label.split("dropout=")[1].split(",")[0])
            layers = label.split("hidden=")[1].count(", ") if "(6,)" not in label else 1
            return (p, p, -9 * p) if layers == 1 else (-p, -p, 9 * p)  # the third repeat is not one of all dropouts

    assert search.best_dropout("x", "1 layer", request, FakeTrials()) == 0.5
    assert search.best_dropout("x", "4 layers", request, FakeTrials()) == 0.1
    assert set(seen) == {("map", "valid")}


def test_what_is_chosen_is_trained_after_the_search(folder, monkeypatch):
    monkeypatch.setattr(search, "DROPOUTS", (0.0, 0.1, 0.5))
    monkeypatch.setattr(search, "CHOOSING", 1)
    result = reproduce("deepnet.fig4.3", Request(folder, quick=True))
    assert {number.labels[1] for number in result.numbers} == {
        f"{depth}{more}" for depth in protocol.DEPTHS for more in ("", ", dropout")
    }
    assert {len(number.ours) for number in result.numbers} == {2}  # one repeat to choose by, two in all
    [chosen] = [note for note in result.notes if note.startswith("Dropout chosen on TD2003: 1 layer 0.")]
    assert "4 layers 0." in chosen


def test_what_is_shown_with_dropout_was_trained_with_it(folder, monkeypatch):
    monkeypatch.setattr(search, "best_dropout", lambda *_: 0.5)

    class FakeTrials:
        def of(self, *_):
            return []

        def by_seed(self, _, label, metric, part):
            return (float(re.search(r"dropout=([\d.]+)", label)[1]),)

    found = search.tuned_dropout(Request(folder, repeats=1), FakeTrials())
    shown = {(one.labels[1], *one.ours) for one in found if isinstance(one, Number)}
    assert shown == {(depth, 0.0) for depth in protocol.DEPTHS} | {
        (f"{depth}, dropout", 0.5) for depth in protocol.DEPTHS
    }


def test_the_best_of_the_grid_is_that_of_validation():
    cells = [("a", "valid", 0.3), ("a", "test", 0.1), ("b", "valid", 0.2), ("b", "test", 0.9)]
    numbers = [Number(("td", name, part, "map"), None, (value,)) for name, part, value in cells]
    [note] = search._best_of_grid(numbers)
    assert note.startswith("Best on the validation parts of td: a (MAP 0.300); in the thesis: auto-encoders, ReLU")


# Table 3.1


def test_every_draw_has_30_queries_of_its_own_with_pairs_to_learn_from():
    y = np.tile([1, 0, 0], 50)
    y[:30] = 0  # ten queries without a relevant document
    part = Dataset(np.arange(150.0)[:, None], y, np.repeat(np.arange(50), 3))
    folds = Folds(["1"], lambda _: Fold("1", part, part, part))
    drawn = [symmetry._few_queries(folds, 0, draw, 0) for draw in (0, 1, 0)]
    assert all(fold.train.n_queries == 30 and fold.test.n_queries == 50 for fold in drawn)
    assert all(query.y.max() == 1 for fold in drawn for query in fold.train)
    assert (drawn[0].train.X == drawn[2].train.X).all()
    assert (drawn[0].train.X != drawn[1].train.X).any()


def test_a_draw_is_a_value_of_its_own(folder):
    result = reproduce("deepnet.table3.1.few-queries", Request(folder, quick=True))
    assert {len(number.ours) for number in result.numbers} == {2}
    assert len(result.seeds) == 2
    assert {finding.claim.is_paired for finding in result.findings} == {False, True}


def test_noise_is_in_units_of_a_features_deviation_inside_a_query():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2)) * [1.0, 100.0]
    X[2000:] *= 5
    data = Dataset(X, np.zeros(4000), np.repeat([1, 2], 2000))
    added = symmetry.noisy(data, 0.5, seed=0).X - data.X
    for rows, size in ((slice(2000), 0.5), (slice(2000, None), 2.5)):
        assert added[rows].std(axis=0) == pytest.approx([size, 100 * size], rel=0.1)


def test_synthetic_sets_differ_and_have_the_noise_that_was_planned(monkeypatch):
    def small(_, *, seed, **__):
        return synthetic("mq", queries=5, docs=6, seed=seed)

    monkeypatch.setattr(symmetry, "synthetic", small)
    sets = symmetry.td_sets(Request(seed=4))
    assert list(sets) == [f"set {number} (synthetic)" for number in (1, 2, 3)]
    sums = [sorted(float(np.abs(query.X).sum()) for fold in folds for query in fold.test) for folds in sets.values()]
    planned = [symmetry.noisy(small("td", seed=spawn_seed(4, "set", i)), 2.6, seed=i) for i in range(3)]
    assert sums == [pytest.approx(sorted(float(np.abs(query.X).sum()) for query in data)) for data in planned]
    assert len({round(own[0], 6) for own in sums}) == 3


def test_synthetic_sets_are_shown_one_by_one_and_in_the_mean(monkeypatch):
    """MAP where every answer counts is the sort's own for networks that cannot contradict themselves."""
    values = {"one": 1.0, "two": 3.0}
    monkeypatch.setattr(symmetry, "td_sets", lambda _: dict.fromkeys(values))
    monkeypatch.setattr(symmetry, "pair_notes", lambda *_: [])
    monkeypatch.setattr(symmetry, "pair_errors", lambda own, *_: (values[own[0].dataset], 0.0))
    monkeypatch.setattr(symmetry, "asked_once", lambda own, *_: (10 * values[own[0].dataset], 0.0))

    class FakeTrials:
        def of(self, dataset, label):
            return [SimpleNamespace(dataset=dataset, is_random=True)]

        def by_seed(self, dataset, label, metric, part="test"):
            return (100 * values[dataset], {"map": 7.0, "p@1": 8.0, "ndcg@10": 9.0}.get(metric, np.nan))

    found = {one.labels: one.ours for one in symmetry.on_td(Request(), FakeTrials())}
    for label in symmetry.ON_TD:
        once = ((10.0, 0.0), (30.0, 0.0)) if label == "dense" else ((100.0, 7.0), (300.0, 7.0))
        expected = {symmetry.ONCE: once, "map": ((100.0, 7.0), (300.0, 7.0)), "p@1": ((100.0, 8.0), (300.0, 8.0))}
        for metric, both in (expected | {protocol.PAIR_ERROR: ((1.0, 0.0), (3.0, 0.0))}).items():
            assert [found[name, label, "test", metric] for name in values] == list(both)
            mean = found["mean of 2 sets (synthetic)", label, "test", metric]
            assert mean == tuple(np.mean(both, axis=0))


def test_answers_are_counted_on_the_test_part_of_the_networks_own_fold(monkeypatch):
    right, wrong = (Dataset(np.array([[1.0], [0.0]]), y) for y in ([1, 0], [0, 1]))
    folds = Folds(["1", "2"], lambda i: Fold(str(i + 1), None, None, (right, wrong)[i]))
    network = SimpleNamespace(network_=None, prepared=lambda data: data)
    monkeypatch.setattr(symmetry, "single_answers", lambda _, data: data.X[:, 0].astype(float))
    own = [SimpleNamespace(fold=fold, seed=seed) for seed in (5, 6) for fold in ("1", "2")[: seed - 4]]
    # MAP is 1 on the first fold, and 1/2 on the second, where only the second seed was trained
    found = symmetry.asked_once(own, folds, SimpleNamespace(ranker=lambda _: network))
    assert found == (1.0, 0.75)


def test_single_answers_count_both_orders_of_every_pair():
    """A dense network whose answers are known: the slow count of every ordered pair."""
    rng = np.random.default_rng(3)
    network = PairNetwork(
        rng.standard_normal((2, 4)), rng.standard_normal((2, 4)), rng.standard_normal(4),
        (Layer(rng.standard_normal((4, 2)), rng.standard_normal(2)),),
    )  # fmt: skip
    X = rng.standard_normal((130, 2)).astype(np.float32)  # more than a block
    data = Dataset(X, np.arange(130) % 2, np.repeat([1, 2], [30, 100]))
    slow = np.zeros(130)
    for x in range(130):
        for y in range(130):
            if data.query_number[x] == data.query_number[y] and x != y:
                outputs = network.activations(X[[x]], X[[y]])[-1][0]
                slow[x] += np.sign(outputs[0] - outputs[1])
                slow[y] -= np.sign(outputs[0] - outputs[1])
    assert symmetry.single_answers(network, data).tolist() == slow.tolist()
    assert evaluate(data, slow, metrics=["map"])["map"] > 0
