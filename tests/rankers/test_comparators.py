"""Rankers that compare: what is theirs beyond the contract."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import ordino
from crossed import crossed
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.layers import Layer
from ordino.losses import probability_losses
from ordino.networks import comparing, training
from ordino.networks.training import Team
from ordino.order import ORDERS, PairNetwork, audit, pairs, tournament
from ordino.ranker import NotFittedError
from ordino.rankers import sortnet
from ordino.rankers.deepnet import DeepNet, DenseComparator, activations_of, drawn_pairs
from ordino.rankers.sortnet import SortNet, _KnownPairs
from ordino.testing import easy_data

DATA = easy_data(n_queries=24)
VALID = easy_data(seed=1)
QUICK = {"learning_rate": 0.02, "epochs": 20, "batch": 300, "dropout": 0.0, "scaling": "quantile"}
RANKERS = {
    "sortnet": SortNet(hidden=8, max_iter=4, **QUICK),
    "deepnet": DeepNet(hidden=(8, 4), n_pairs=1000, **QUICK),
    "dense-comparator": DenseComparator(hidden=7, n_pairs=1000, **QUICK),
}
THREE = [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize("name", RANKERS)
def test_compare_gives_probabilities_that_sum_to_one(name):
    ranker = clone(RANKERS[name]).fit(DATA)
    A, B = DATA.X[:50], DATA.X[50:100]
    assert (ranker.compare(A, B) + ranker.compare(B, A) == 1).all()
    assert (ranker.compare(A, A) == 0.5).all()
    scaled = ranker.scaler_.transform(DATA).X
    assert (ranker.compare(A, B) == ranker.network_.compare(scaled[:50], scaled[50:100])).all()
    better = DATA.y[:50] > DATA.y[50:100]
    assert ranker.compare(A, B)[better].mean() > 0.6


@pytest.mark.parametrize("name", RANKERS)
def test_scores_reproduce_the_order_of_the_comparator(name):
    """Neighbors in the ranking agree with compare, but for the few places where a sort meets a cycle."""
    ranker = clone(RANKERS[name]).fit(DATA)
    scores = ranker.predict(DATA)
    query = DATA.X[DATA.offsets[0] : DATA.offsets[1]]
    order = np.argsort(-scores[: len(query)])
    assert sorted(scores[: len(query)].tolist()) == list(range(len(query)))
    assert (ranker.compare(query[order[:-1]], query[order[1:]]) >= 0.5).mean() > 0.9


def test_a_comparator_with_circles_ranks_alike_whatever_the_order_of_the_rows():
    many = easy_data(n_queries=2, n_docs=100)
    ranker = SortNet(hidden=8, max_iter=0, scaling=None).fit(many)
    rng = np.random.default_rng(0)
    left, right, top = (5 * rng.normal(size=shape) for shape in ((4, 8), (4, 8), (8, 2)))
    ranker.network_ = PairNetwork(left, right, np.zeros(8), (Layer(top, np.zeros(2)),), activation="tanh")
    assert audit(ranker.network_, many, algorithms=["merge"]).moves["shuffles"].docs > 0
    turned = np.concatenate([np.arange(*q)[::-1] for q in pairwise(many.offsets)])
    scores = ranker.predict(many.X[turned], qid=many.qid[turned])
    assert (scores == ranker.predict(many)[turned]).all()


@pytest.mark.parametrize("name", ["sortnet", "deepnet"])
def test_the_network_is_symmetric_after_training(name):
    network = clone(RANKERS[name]).fit(DATA, valid=VALID).network_
    assert network.symmetric
    A, B = DATA.X[:50], DATA.X[50:100]
    np.testing.assert_allclose(network.outputs(A, B)[:, 0], network.outputs(B, A)[:, 1], atol=1e-5)


@pytest.mark.parametrize("name", RANKERS)
def test_saved_and_loaded_it_compares_and_sorts_alike(name, tmp_path):
    ranker = clone(RANKERS[name]).fit(DATA)
    ordino.save(ranker, tmp_path / "model.ordino")
    loaded = ordino.load(tmp_path / "model.ordino")
    assert loaded.network_.symmetric == ranker.shared
    assert (loaded.compare(DATA.X[:50], DATA.X[50:100]) == ranker.compare(DATA.X[:50], DATA.X[50:100])).all()
    assert (loaded.predict(DATA) == ranker.predict(DATA)).all()


def test_a_dense_net_asked_once_ranks_by_what_it_says_of_one_order(tmp_path):
    both = clone(RANKERS["dense-comparator"]).set_params(epochs=1, scaling=None).fit(DATA)
    once = clone(both).set_params(asked="once").fit(DATA)
    assert (once.network_.left == both.network_.left).all()
    assert (once.predict(DATA) != both.predict(DATA)).any()
    shuffle = np.concatenate([np.random.default_rng(0).permutation(np.arange(*q)) for q in pairwise(DATA.offsets)])
    turned = Dataset(DATA.X[shuffle], DATA.y[shuffle], DATA.qid[shuffle])
    assert (once.predict(turned) == once.predict(DATA)[shuffle]).all()
    ordino.save(once, tmp_path / "model.ordino")
    assert (ordino.load(tmp_path / "model.ordino").predict(DATA) == once.predict(DATA)).all()


def test_a_dense_net_asked_once_is_chosen_by_the_metric_of_such_rankings():
    ranker = clone(RANKERS["dense-comparator"]).set_params(asked="once", epochs=5).fit(DATA, valid=VALID)
    assert ranker.score(VALID) == pytest.approx(max(row["valid"] for row in ranker.history_))


def test_how_a_dense_net_is_asked_has_two_names():
    with pytest.raises(ParameterError, match="asked 'twice'"):
        DenseComparator(asked="twice", epochs=1, n_pairs=100).fit(DATA).predict(DATA)


def test_compare_refuses_a_scaling_that_needs_the_query():
    with pytest.raises(DataError, match="needs the whole query"):
        clone(RANKERS["deepnet"]).set_params(scaling="zscore").fit(DATA).compare(DATA.X[:1], DATA.X[1:2])


def test_parameters_of_all_three_levels_are_seen():
    names = DenseComparator().get_params()
    assert {"hidden", "n_pairs", "select", "epochs", "algorithm"} <= set(names)
    assert clone(DeepNet(hidden=4, pairs="B")).get_params() == DeepNet(hidden=4, pairs="B").get_params()
    assert {"max_iter", "warm_start", "loss"} <= set(SortNet().get_params())
    with pytest.raises(ParameterError, match="did you mean 'hidden'"):
        DeepNet(hiden=4)


@pytest.mark.parametrize(
    ("loss", "activation"), crossed(probability_losses(), comparing.ACTIVATIONS, around=("ranknet", "tanh"))
)
def test_every_loss_and_activation_learns(loss, activation):
    ranker = DeepNet(
        hidden=8, dropout=0.0, n_pairs=1000, loss=loss, activation=activation, learning_rate=0.03, epochs=30
    )
    assert ranker.fit(DATA).score(VALID) > 0.85


@pytest.mark.parametrize("initializer", ["difference", "uniform", "glorot", "he", "unit", "autoencoders"])
def test_every_initialization_learns(initializer):
    ranker = DeepNet(hidden=(8, 6), n_pairs=1000, initializer=initializer, pretraining=5, **QUICK)
    assert ranker.fit(DATA).score(VALID) > 0.85


@pytest.mark.parametrize("pairs", ["A", "B", "C", "D", "E"])
def test_every_configuration_learns(pairs):
    assert DeepNet(hidden=8, pairs=pairs, n_pairs=2000, **QUICK).fit(DATA).score(VALID) > 0.85


def test_autoencoders_start_elsewhere():
    settings = {"hidden": 8, "n_pairs": 300, "epochs": 1, "pretraining": 100}
    plain = DeepNet(**settings).fit(DATA).network_
    pretrained = DeepNet(initializer="autoencoders", **settings).fit(DATA).network_
    assert not np.allclose(plain.left, pretrained.left, atol=0.05)
    short = DeepNet(initializer="autoencoders", **(settings | {"pretraining": 1})).fit(DATA).network_
    assert not np.allclose(short.left, pretrained.left, atol=0.05)
    assert pretrained.symmetric


@pytest.mark.parametrize("penalty", [{"l1": 0.01}, {"l2": 0.1}, {"l1": 0.01, "l2": 0.1}])
def test_penalties_make_weights_smaller(penalty):
    def size(**settings):
        ranker = DeepNet(hidden=8, n_pairs=1000, optimizer="adam", **QUICK, **settings)
        return np.abs(ranker.fit(DATA).network_.left).sum()

    assert size(**penalty) < 0.8 * size()


def test_validation_data_is_hashed_once(monkeypatch):
    hashed, order = [], comparing.content_order
    monkeypatch.setattr(comparing, "content_order", lambda data: hashed.append(data.n_docs) or order(data))
    monkeypatch.setattr("ordino.order.pairs.content_order", None)
    DeepNet(hidden=4, n_pairs=300, epochs=3).fit(DATA, valid=VALID)
    assert hashed == [VALID.n_docs]


def test_the_best_epoch_is_kept_by_metric_and_by_pairs():
    settings = {"hidden": 6, "n_pairs": 500, "learning_rate": 0.05, "epochs": 15, "patience": None}
    by_metric = DeepNet(**settings).fit(DATA, valid=VALID)
    assert by_metric.score(VALID) == pytest.approx(max(row["valid"] for row in by_metric.history_))
    assert by_metric.history_[by_metric.best_epoch_ - 1]["valid"] == max(row["valid"] for row in by_metric.history_)
    by_pairs = DeepNet(select="pairs", n_valid_pairs=300, **settings).fit(DATA, valid=VALID)
    errors = [-row["valid"] for row in by_pairs.history_]
    assert 0 < min(errors) < 0.5
    assert errors[by_pairs.best_epoch_ - 1] == min(errors)


def test_pairs_to_learn_from_and_to_choose_by_are_drawn_from_streams_of_their_own():
    drawn = [drawn_pairs(DeepNet(n_pairs=50, n_valid_pairs=50), DATA, name, 3) for name in ("n_pairs", "n_valid_pairs")]
    assert drawn[0].codes.tolist() != drawn[1].codes.tolist()


def test_a_metric_of_errors_is_made_small():
    ranker = DeepNet(hidden=6, n_pairs=500, metric="pairwise_error", patience=None, **QUICK).fit(DATA, valid=VALID)
    errors = [-row["valid"] for row in ranker.history_]
    assert 0 < min(errors) < max(errors) < 1
    assert errors[ranker.best_epoch_ - 1] == min(errors)
    assert -ranker.score(VALID) == pytest.approx(min(errors))


def test_validation_data_without_a_pair_choose_nothing():
    flat = VALID.replace(y=np.ones(VALID.n_docs))
    assert DeepNet(hidden=4, select="pairs", n_pairs=300, epochs=3).fit(DATA, valid=flat).best_epoch_ == 3


def test_the_published_deep_net():
    ranker = DeepNet.as_published(epochs=150, n_pairs=1000, pretraining=10, profile="directranker")
    assert (ranker.hidden, ranker.dropout, ranker.initializer) == ((24, 12, 6), 0.25, "autoencoders")
    ranker.fit(DATA, valid=VALID)
    assert ranker.score(VALID) > 0.85
    assert {row["rate"] for row in ranker.history_} != {0.1}


def test_the_published_share_dropped_is_that_of_input_and_hidden_neurons():
    """DeepNet, 4.2.1: one p for both; without it nothing is dropped."""
    for dropout in (0.25, 0.0):
        published = DeepNet.as_published(dropout=dropout, initializer="unit", epochs=2, n_pairs=100).fit(DATA)
        both = DeepNet(**published.get_params() | {"input_dropout": dropout}).fit(DATA)
        assert np.array_equal(published.network_.left, both.network_.left)
        hidden_alone = DeepNet(**published.get_params() | {"input_dropout": 0.0}).fit(DATA)
        assert np.array_equal(published.network_.left, hidden_alone.network_.left) == (dropout == 0)


def test_the_published_dense_net_is_that_of_table_3_1():
    ranker = DenseComparator.as_published(epochs=2, n_pairs=100)
    assert (ranker.hidden, ranker.activation, ranker.initializer) == (10, "sigmoid", "unit")
    assert (ranker.dropout, ranker.asked, ranker.pretraining) == (0.0, "once", DenseComparator().pretraining)
    of_deepnet = DeepNet.as_published(
        hidden=10, activation="sigmoid", initializer="unit", dropout=0.0, epochs=2, n_pairs=100
    )
    assert ranker.get_params() == of_deepnet.get_params() | {"asked": "once"}
    assert DenseComparator.as_published(hidden=7, asked="both").asked == "both"


def test_preferences_alone_teach_an_order():
    ranker = DeepNet(hidden=4, dropout=0.0, scaling=None, epochs=100, learning_rate=0.05).fit_pairs(
        THREE, [(2, 1), (1, 0), (2, 0)]
    )
    assert ranker.rank(THREE).tolist() == [2, 1, 0]


def test_contradicting_preferences_settle_at_their_probability():
    ranker = DeepNet(hidden=4, dropout=0.0, scaling=None, epochs=400, learning_rate=0.02, optimizer="adam")
    ranker.fit_pairs([[0.0], [1.0]], [(1, 0)] * 3 + [(0, 1)])  # three of four say 1 before 0
    assert ranker.compare([[1.0]], [[0.0]])[0] == pytest.approx(3 / 4, abs=0.01)


def test_bad_preferences_are_refused():
    with pytest.raises(DataError, match="pairs has row number 3"):
        DenseComparator(scaling=None).fit_pairs(THREE, [(0, 3)])


def test_activations_of_every_layer():
    ranker = DeepNet(hidden=(8, 4), n_pairs=500, epochs=3, activation="sigmoid", record_activations=True)
    ranker.fit(DATA)
    assert {"mean_1", "std_1", "mean_2", "std_2", "mean_out", "std_out"} <= set(ranker.history_[0])
    pairs = [(0, 1), (1, 0), (2, 2)]
    reached = ranker.activations(DATA, pairs)
    assert [h.shape for h in reached] == [(3, 8), (3, 4), (3, 2)]
    np.testing.assert_allclose(reached[0][0], np.roll(reached[0][1], 4), atol=1e-6)  # the duals see the pair turned
    scaled = ranker.scaler_.transform(DATA).X
    np.testing.assert_allclose(reached[-1][:1], ranker.network_.outputs(scaled[:1], scaled[1:2]), atol=1e-6)
    order = np.random.default_rng(0).permutation(DATA.n_docs)
    shuffled = ranker.activations(DATA.X[order], [(0, 1)], qid=DATA.qid[order])  # pairs are of the rows as given
    np.testing.assert_allclose(shuffled[-1], ranker.activations(DATA, [order[:2]])[-1], atol=1e-6)
    with pytest.raises(NotFittedError):
        DeepNet().activations(DATA, pairs)


@pytest.mark.parametrize("kind", [DeepNet, DenseComparator])
def test_recorded_outputs_are_probabilities(kind):
    ranker = kind(hidden=4, n_pairs=50)
    pairs = drawn_pairs(ranker, DATA, "n_pairs", 0)
    network = ranker._fresh(DATA.X, pairs, 0)
    row = activations_of(ranker, DATA.X, pairs)(network)
    first, last = network.layers()
    seen = np.concatenate(DATA.X[pairs.rows(DATA.n_docs)], axis=1)
    hidden = np.tanh(seen @ first.W + first.b)
    outputs = 1 / (1 + np.exp(-(hidden @ last.W + last.b)))
    assert row["mean_1"] == pytest.approx(hidden.mean(), abs=1e-6)
    assert row["std_1"] == pytest.approx(hidden.std(ddof=1), abs=1e-6)
    assert row["mean_out"] == pytest.approx(outputs.mean(), abs=1e-6)
    assert row["std_out"] == pytest.approx(outputs.std(ddof=1), abs=1e-6)


def test_the_epoch_is_chosen_in_the_profile_asked_for():
    valid = VALID.replace(y=np.where(VALID.qid < 6, VALID.y, 0))  # half of the queries are empty, and left out
    ranker = DeepNet(hidden=4, n_pairs=300, epochs=2, profile="directranker").fit(DATA, valid=valid)
    assert ranker.score(valid) == pytest.approx(max(row["valid"] for row in ranker.history_))


def test_patience_reaches_the_schedule():
    assert [DeepNet(patience=one)._schedule().patience for one in (3, None)] == [3, None]


def test_only_adamw_has_a_decay_unless_asked_for():
    settings = ({}, {"optimizer": "adam"}, {"l2": 0.1}, {"optimizer": "descent", "l2": 0.2})
    assert [DeepNet(**one)._schedule().l2 for one in settings] == [0.5, 0.0, 0.1, 0.2]


def test_sortnet_history_tells_the_algorithm():
    ranker = SortNet(hidden=8, max_iter=6, **QUICK).fit(DATA, valid=VALID)
    rows = ranker.history_
    for part, data in (("train", DATA), ("valid", VALID)):
        assert rows[0][f"{part}_known"] == 0
        for before, after in pairwise(rows):
            assert after[f"{part}_known"] == before[f"{part}_known"] + before[f"{part}_new"]
            assert after[f"{part}_new"] >= 0  # what is known is never forgotten
        least = data.n_docs - data.n_queries  # a sort looks at every document
        assert all(row[f"{part}_comparisons"] >= least for row in rows)
    qualities = [row["valid"] for row in rows]
    assert ranker.score(VALID) == pytest.approx(max(qualities))
    assert ranker.best_iteration_ == int(np.argmax(qualities))
    assert rows[0]["train"] < max(row["train"] for row in rows)


def test_max_iter_comparators_are_trained_after_the_random_one(monkeypatch):
    """Algorithm 3.1: i = 0 to max_iter; C^0 is random, and each C^(i+1) is trained."""
    trained, train = [], SortNet._trained
    monkeypatch.setattr(SortNet, "_trained", lambda self, *a: trained.append(a[2]) or train(self, *a))
    rows = SortNet.as_published(hidden=4, max_iter=3, epochs=1).fit(DATA, valid=VALID).history_
    assert trained == [1, 2, 3]
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3]
    assert SortNet.as_published().max_iter == 20


def test_sortnet_stops_when_no_pair_is_new():
    X = np.tile(np.linspace(0, 1, 9), 4)[:, None]
    easy = Dataset(X, X[:, 0] > 0.7, np.repeat(np.arange(4), 9))
    ranker = SortNet(hidden=4, max_iter=50, **QUICK).fit(easy, valid=easy)
    assert len(ranker.history_) < 50
    assert ranker.history_[-1]["train_new"] == ranker.history_[-1]["valid_new"] == 0


def test_a_sort_records_the_pairs_that_the_network_gets_wrong_the_better_first():
    ranker = SortNet(hidden=4, max_iter=0, scaling=None).fit(DATA)
    known = _KnownPairs(DATA)
    ranker._sorted_into(known, ranker.network_, "train", 0)
    better, worse = known.learning_set().rows(DATA.n_docs)
    assert len(better)
    assert (DATA.y[better] > DATA.y[worse]).all()
    assert (ranker.compare(DATA.X[better], DATA.X[worse]) <= 0.5).all()


def test_sortnet_hashes_each_set_once(monkeypatch):
    hashed, order = [], sortnet.content_order
    monkeypatch.setattr(sortnet, "content_order", lambda data: hashed.append(data.n_docs) or order(data))
    monkeypatch.setattr("ordino.networks.comparing.content_order", None)
    rows = SortNet(hidden=4, max_iter=3, epochs=2).fit(DATA, valid=VALID).history_
    assert len(rows) == 4
    assert hashed == [DATA.n_docs, VALID.n_docs]


def test_sortnet_goes_on_while_either_set_has_a_new_pair_from_weights_of_their_own():
    flat = DATA.replace(y=np.ones(DATA.n_docs))  # no pair to learn from: every iteration is as it began
    rows = SortNet(hidden=4, max_iter=2, warm_start=False).fit(flat, valid=VALID).history_
    assert [row["train_new"] for row in rows] == [0, 0, 0]
    assert len({row["valid"] for row in rows}) == 3


def test_sortnet_chooses_the_epoch_by_validation_pairs(monkeypatch):
    used, learner = [], SortNet._learner
    monkeypatch.setattr(SortNet, "_by_pairs", lambda self, X, pairs: (len(X), pairs.n_pairs))
    monkeypatch.setattr(SortNet, "_learner", lambda self, *a: used.append(a[3]) or learner(self, *a[:3], None))
    ranker = SortNet(hidden=4, max_iter=3, epochs=2).fit(DATA, valid=VALID)
    assert used == [(VALID.n_docs, row["valid_known"]) for row in ranker.history_[1:]]


def test_sortnet_without_validation_keeps_the_best_on_training():
    ranker = SortNet(hidden=8, max_iter=5, **QUICK).fit(DATA)
    assert "valid" not in ranker.history_[0]
    assert ranker.score(DATA) == pytest.approx(max(row["train"] for row in ranker.history_))


def test_sortnet_goes_on_or_starts_anew():
    settings = {"hidden": 8, "max_iter": 1, "epochs": 1, "learning_rate": 1e-6}
    anew, on = (SortNet(warm_start=warm, **settings).fit(DATA) for warm in (False, True))
    first = SortNet(hidden=8, max_iter=0).fit(DATA)
    best = {"anew": anew.history_[1]["train"], "on": on.history_[1]["train"]}
    assert best["on"] == pytest.approx(first.history_[0]["train"], abs=0.01)  # next to nothing was learned
    assert best["anew"] != pytest.approx(best["on"], abs=0.01)


def test_the_published_sortnet():
    ranker = SortNet.as_published(max_iter=4, epochs=100).fit(DATA, valid=VALID)
    assert ranker.metric == "map"
    assert max(row["valid"] for row in ranker.history_) > 0.8


@pytest.mark.parametrize("algorithm", ORDERS)
def test_any_order_will_do(algorithm):
    assert SortNet(hidden=8, max_iter=4, algorithm=algorithm, **QUICK).fit(DATA).score(VALID) > 0.85


@pytest.mark.parametrize("algorithm", ["copeland", "borda"])
def test_sortnet_learns_from_merge_sort_where_its_order_is_no_sort(algorithm):
    settings = {"hidden": 8, "max_iter": 4, "epochs": 1, "dropout": 0.0}
    merge, other = (SortNet(algorithm=one, **settings).fit(DATA) for one in ("merge", algorithm))
    known = [[row["train_known"] for row in ranker.history_] for ranker in (merge, other)]
    assert known[0] == known[1]
    assert [row["train"] for row in merge.history_] != [row["train"] for row in other.history_]
    assert other.score(DATA) == pytest.approx(max(row["train"] for row in other.history_))


@pytest.mark.parametrize("name", RANKERS)
def test_rankings_are_by_the_order_and_the_top_asked_for(name, monkeypatch):
    ranker = clone(RANKERS[name]).fit(DATA)
    assert (ranker.algorithm, ranker.top) == ("copeland", 250)
    wins = tournament(ranker.network_, ranker.prepared(DATA).X, DATA.offsets)
    query = np.repeat(np.arange(DATA.n_queries), DATA.counts)
    order = np.lexsort((-ranker.predict(DATA), query))
    assert all((np.diff(wins[order][start:stop]) <= 0).all() for start, stop in pairwise(DATA.offsets))
    asked = []
    monkeypatch.setattr(pairs, "order_by_totals", lambda *a: asked.append(a[3:5]) or a[5])
    ranker.set_params(algorithm="borda", top=7).predict(DATA)
    assert asked == [("borda", 7)]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"hidden": 7}, "hidden=7; a layer counts its dual neurons too, so it must be even"),
        ({"hidden": ()}, r"hidden=\(\); a comparator needs a hidden layer"),
        ({"hidden": (0,)}, "hidden=0; it must be a whole number, 1 or more"),
        ({"loss": "hinge"}, "unknown loss 'hinge'"),
        ({"activation": "identity"}, "unknown activation 'identity'"),
        ({"initializer": "autoencoder"}, "did you mean 'autoencoders'"),
        ({"pairs": "F"}, "unknown pairs 'F'"),
        ({"n_pairs": 0}, "n_pairs=0"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"batch": 0}, "batch=0"),
        ({"algorithm": "bubble"}, "unknown algorithm 'bubble'; choose from: "),
        ({"select": "epoch"}, "unknown select 'epoch'"),
    ],
)
def test_bad_parameters_are_refused(params, sentence):
    with pytest.raises(ParameterError, match=sentence):
        DeepNet(**({"epochs": 1, "n_pairs": 50} | params)).fit(DATA, valid=VALID)


@pytest.mark.parametrize("select", ["pairs", "metric"])
@pytest.mark.parametrize("initializer", ["difference", "autoencoders"])
def test_repeats_that_train_together_are_those_that_train_alone(select, initializer):
    ranker = DeepNet(
        hidden=(8, 4), n_pairs=300, n_valid_pairs=200, select=select, initializer=initializer, pretraining=2,
        epochs=4, patience=None, batch=100, dropout=0.25, record_activations=True, scaling="quantile",
    )  # fmt: skip
    together = ranker.fit_repeats(DATA, [0, 7, 3], valid=VALID)
    for seed, repeat in zip([0, 7, 3], together, strict=True):
        alone = clone(ranker).set_params(seed=seed).fit(DATA, valid=VALID)
        assert repeat.seed == seed
        assert repeat.best_epoch_ == alone.best_epoch_
        assert repeat.history_ == alone.history_
        assert np.array_equal(repeat.network_.left, alone.network_.left)
        said = [one.compare(DATA.X[:50], DATA.X[50:100]) for one in (repeat, alone)]
        assert np.array_equal(*said)
    assert not np.allclose(together[0].network_.left, together[1].network_.left, atol=0.01)
    with pytest.raises(NotFittedError):  # it serves as a pattern, and stays one
        ranker.predict(VALID)


@pytest.mark.parametrize("turn", [0.0, 1e9])
def test_repeats_in_turns_of_one_epoch_or_of_many_are_those_that_train_alone(turn, monkeypatch):
    monkeypatch.setattr(training, "TURN", turn)
    seen = []
    monkeypatch.setattr(Team, "epochs", lambda team, n, go=Team.epochs: (seen.append(n), go(team, n)))
    ranker = DeepNet(hidden=4, n_pairs=300, epochs=30, patience=1, learning_rate=0.1, scaling="quantile")
    together = ranker.fit_repeats(DATA, [0, 7, 3], valid=VALID)
    assert set(seen) == ({1} if turn == 0 else {1, 29})
    alone = [clone(ranker).set_params(seed=seed).fit(DATA, valid=VALID) for seed in (0, 7, 3)]
    assert [one.history_ for one in together] == [one.history_ for one in alone]
    assert min(len(one.history_) for one in alone) < 30  # patience ends inside a turn


def test_repeats_draw_pairs_of_their_own():
    first, second = (drawn_pairs(DeepNet(n_pairs=300), DATA, "n_pairs", seed).codes for seed in (0, 7))
    assert first.shape == second.shape == (300,)
    assert (first != second).any()
    assert (second == drawn_pairs(DeepNet(n_pairs=300), DATA, "n_pairs", 7).codes).all()


def test_repeats_without_a_pair_stay_as_they_began():
    flat = DATA.replace(y=np.ones(DATA.n_docs))
    first, second = DeepNet(hidden=4, n_pairs=300, epochs=3).fit_repeats(flat, [0, 1])
    assert first.best_epoch_ == second.best_epoch_ == 0
    assert (first.network_.left != second.network_.left).any()


@pytest.mark.parametrize(
    ("iteration", "n_pairs", "epochs"),
    [(1, 7_000, 25), (2, 100_000, 12), (8, 100_000, 3), (20, 1_000_000, 2), (8, 7_000, 15), (8, 100, 25)],
)
def test_later_iterations_train_less_but_never_too_few_steps(iteration, n_pairs, epochs):
    assert SortNet(epochs=25, batch=500)._epochs_of(iteration, n_pairs) == epochs
    assert SortNet(epochs=25, batch=None)._epochs_of(iteration, n_pairs) == 25  # a step an epoch
