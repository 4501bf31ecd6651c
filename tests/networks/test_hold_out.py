"""Networks hold out a share of the queries by themselves, where there are enough and nobody gave validation data."""

import numpy as np
import pytest

import ordino
from crews import workers_here
from ordino.networks.fields import own_validation
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data

MANY, FEW = easy_data(n_queries=60, n_docs=8), easy_data(n_queries=49, n_docs=8)
RANKNET = {"epochs": 3, "hidden": (4,)}


def test_a_share_is_held_out_as_if_it_had_been_asked_for():
    own = ordino.RankNet(**RANKNET).fit(MANY)
    assert all("valid" in row for row in own.history_)
    asked = ordino.RankNet(**RANKNET, hold_out=None).fit(MANY, valid=0.2)
    np.testing.assert_array_equal(own.predict(MANY), asked.predict(MANY))
    one, two = (ranker.predict(MANY) for ranker in ordino.RankNet(**RANKNET).fit_repeats(MANY, [0, 1]))
    np.testing.assert_array_equal(one, own.predict(MANY))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("cluster", [None, "here"])
def test_the_same_share_is_held_out_of_shards(cluster, tmp_path, monkeypatch):
    ordino.write_shards(MANY, tmp_path / "s", 3)
    with workers_here(monkeypatch, 2):
        found = ordino.RankNet(**RANKNET).fit(ordino.ShardedDataset(tmp_path / "s", cluster=cluster))
    whole = ordino.RankNet(**RANKNET).fit(MANY)
    assert found.n_queries_in_ == whole.n_queries_in_ == 48
    assert [sorted(row) for row in found.history_] == [sorted(row) for row in whole.history_]
    np.testing.assert_array_equal(found.predict(MANY), whole.predict(MANY))


def test_fifty_queries_are_enough():
    held_out = [own_validation(0.2, n_queries, None) for n_queries in (49, 50)]
    assert held_out == [None, 0.2]
    assert own_validation(0.2, 50, 0.5) == 0.5


@pytest.mark.parametrize(("data", "params"), [(FEW, {}), (MANY, {"hold_out": None})])
def test_few_queries_or_none_asked_for_learn_from_all(data, params):
    ranker = ordino.RankNet(**RANKNET, **params).fit(data)
    assert not any("valid" in row for row in ranker.history_)
    assert ranker.best_epoch_ == 3


def test_comparators_do_the_same_and_trees_do_not():
    assert "valid" in ordino.SortNet(hidden=4, max_iter=1, epochs=2).fit(MANY).history_[0]
    assert "valid" in ordino.DeepNet(hidden=4, epochs=2, n_pairs=100).fit(MANY).history_[0]
    trees = ordino.Scorer(model="trees", rounds=3, min_leaf=5).fit(MANY)
    assert "valid" not in trees.history_[0]


@pytest.mark.parametrize("name", [name for name in RANKERS if "hold_out" in ranker_class(name)().get_params()])
def test_what_papers_fix_holds_nothing_out(name):
    published = ranker_class(name).published
    assert not published or published["hold_out"] is None
