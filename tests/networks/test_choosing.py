"""How SortNet's pairs are chosen: each way against the pairs looked at one by one."""

import numpy as np
import pytest

from ordino import SortNet
from ordino.networks.choosing import CANDIDATES, WAYS, choose_pairs, surely
from ordino.networks.learning_sets import draw_pairs
from ordino.rankers import sortnet
from ordino.testing import easy_data

DATA = easy_data(n_queries=4, n_docs=6)
FITTED = SortNet(hidden=4, max_iter=1, epochs=2, scaling=None).fit(DATA)
PAIRS = [
    (a, b)
    for q in range(DATA.n_queries)
    for a in range(DATA.offsets[q], DATA.offsets[q + 1])
    for b in range(DATA.offsets[q], DATA.offsets[q + 1])
    if DATA.y[a] > DATA.y[b]
]
WRONG = np.array([a * DATA.n_docs + b for a, b in PAIRS if FITTED.compare(DATA.X[[a]], DATA.X[[b]])[0] < 0.5])


def chosen(way, codes=WRONG, progress=1.0, seed=0):
    return choose_pairs(way, DATA, FITTED.network_, codes, progress, np.random.default_rng(seed)).tolist()


def test_there_is_something_to_choose_from():
    assert 3 < len(WRONG) < len(PAIRS) - 3


def test_the_better_document_comes_first():
    for way in ("uniform", "margin", "uncertain"):
        for code in chosen(way):
            a, b = divmod(code, DATA.n_docs)
            assert DATA.y[a] > DATA.y[b]
            assert DATA.query_number[a] == DATA.query_number[b]


def test_margin_takes_the_most_wrong_and_uncertain_the_closest_to_a_tie():
    drawn = draw_pairs(DATA.y, DATA.offsets, "C", CANDIDATES * len(WRONG), np.random.default_rng(0))
    looked_at = {tuple(sorted(pair, key=lambda row: -DATA.y[row])) for pair in drawn.rows(DATA.n_docs).T.tolist()}
    right = {a * DATA.n_docs + b: FITTED.compare(DATA.X[[a]], DATA.X[[b]])[0] for a, b in looked_at}
    assert len(right) > len(WRONG)
    assert set(chosen("margin")) == set(sorted(right, key=lambda code: right[code])[: len(WRONG)])
    nearest = sorted(right, key=lambda code: abs(right[code] - 0.5))[: len(WRONG)]
    assert set(chosen("uncertain")) == set(nearest)


def test_uniform_draws_as_many_and_other_ones_by_the_seed():
    assert len(chosen("uniform")) <= len(WRONG)
    assert chosen("uniform") != chosen("uniform", seed=1)
    assert chosen("uniform", codes=WRONG[:0]) == []


def test_the_curriculum_begins_with_what_is_nearly_right():
    right = surely(FITTED.network_, DATA, WRONG)
    nearly = WRONG[np.argsort(-right)].tolist()
    assert chosen("curriculum", progress=0.0) == nearly[:1]
    assert chosen("curriculum", progress=0.25) == nearly[: -(-len(nearly) // 2)]
    assert sorted(chosen("curriculum", progress=0.5)) == sorted(WRONG.tolist())
    assert chosen("curriculum", codes=WRONG[:0]) == []


def test_only_training_pairs_are_chosen_and_the_last_iteration_has_everything(monkeypatch):
    data, valid, seen = easy_data(n_queries=4, n_docs=6), easy_data(n_queries=5, n_docs=6, seed=1), []

    def choose(way, data, network, codes, progress, rng):
        seen.append((data.n_queries, round(progress, 6)))
        return np.array([len(seen)])  # the first document and another: every iteration has a new pair

    monkeypatch.setattr(sortnet, "choose_pairs", choose)
    SortNet(hidden=4, max_iter=2, epochs=1, choose="curriculum").fit(data, valid=valid)
    assert seen == [(4, 0.333333), (4, 0.666667), (4, 1.0)]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_learns_and_does_not_depend_on_threads(way):
    data = easy_data(n_queries=6, n_docs=8)
    ranker = SortNet(hidden=4, max_iter=3, epochs=4, choose=way)
    one, two = (ranker.set_params(n_jobs=n).fit(data).predict(data) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    known = [row["train_known"] for row in ranker.history_]
    assert known == sorted(known)
    assert known[-1] > 0
    if way != "mis-compared":
        paper = SortNet(hidden=4, max_iter=3, epochs=4).fit(data)
        assert [row["train_new"] for row in paper.history_] != [row["train_new"] for row in ranker.history_]
