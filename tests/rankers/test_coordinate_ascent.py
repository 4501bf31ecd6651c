"""Coordinate ascent: it climbs, along one weight at a time, and never down."""

from __future__ import annotations

import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Judge
from ordino.metrics import evaluate
from ordino.rankers import coordinate_ascent
from ordino.rankers.coordinate_ascent import CoordinateAscent
from ordino.testing import CHECKS, easy_data


@pytest.mark.parametrize("check", CHECKS)
def test_contract(check: str) -> None:
    CHECKS[check](CoordinateAscent(restarts=2, sweeps=5))


@pytest.mark.parametrize("metric", ["map", "ndcg@3", "err", "pairwise_error", "mrr"])
def test_climbs_any_measure(metric: str) -> None:
    data = easy_data()
    ranker = CoordinateAscent(metric=metric, restarts=2, tol=0).fit(data)
    climbs = [[row["train"] for row in ranker.history_ if row["restart"] == restart] for restart in (0, 1)]
    for climb in climbs:
        assert (np.diff(climb) >= 0).all()
    best = climbs[ranker.restart_][-1]
    assert best == max(climb[-1] for climb in climbs)
    reached = evaluate(data, ranker.predict(data), metrics=[metric])[metric]
    assert reached == pytest.approx(-best if metric == "pairwise_error" else best)


def test_moves_are_measured_as_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    data, judge = easy_data(), Judge("ndcg@10", "standard")
    moves = np.array([0.1, 0.5, -0.1, -0.5, 2.0])
    for cells in (1, 2 * data.n_docs, 2**21):  # one move at a time, two, all
        monkeypatch.setattr(coordinate_ascent, "MOVE_CELLS", cells)
        climb = coordinate_ascent._Climb(data, judge, np.array([0.1, 0.5]))
        climb.begin(np.array([1.0, -2.0, 0.5, 0.0]))
        column = data.X[:, 1].astype(float) * climb.per_unit[1]
        expected = [judge.mean(data, climb.scores + move * column) for move in moves]
        np.testing.assert_allclose(climb._means(column, moves), expected)


def test_useless_weight_goes_to_zero_by_hand() -> None:
    # feature 0 is the label; from w = (1/2, 1/2) the noise of feature 1 stands in the way until it is moved
    X = np.array([[2.0, 0.0], [1.0, 5.0], [0.0, 9.0]])
    ranker = CoordinateAscent(restarts=1).fit(Dataset(X, [2, 1, 0]))
    assert ranker.history_[0] == {"restart": 0, "sweep": 0, "train": ranker.history_[0]["train"]}
    assert ranker.history_[-1]["train"] == 1.0
    assert ranker.coef_[0] > ranker.coef_[1]


def test_units_of_features_do_not_matter() -> None:
    data = easy_data()
    stretched = Dataset(data.X * np.array([1.0, 1024.0, 1 / 64, 2.0], np.float32), data.y, data.qid)
    one, other = (CoordinateAscent(restarts=1).fit(d) for d in (data, stretched))
    np.testing.assert_allclose(one.predict(data), other.predict(stretched), rtol=1e-6)
    chosen = set()
    for seed in range(4):  # nor where the best of several is chosen
        one, other = (CoordinateAscent(restarts=3, sweeps=1, seed=seed).fit(d) for d in (data, stretched))
        assert one.restart_ == other.restart_
        chosen.add(one.restart_)
    assert len(chosen) > 1


def test_features_of_tiny_values_are_no_constants() -> None:
    data = easy_data()
    tiny = data.replace(X=data.X * np.float32(1e-15))
    found = CoordinateAscent(restarts=1, scaling=None).fit(tiny)
    assert found.score(tiny) == pytest.approx(
        CoordinateAscent(restarts=1, scaling=None).fit(data).score(data), abs=0.01
    )
    flat = data.replace(X=np.column_stack((data.X[:, :3], np.full(data.n_docs, np.float32(0.1)))))
    assert CoordinateAscent(restarts=1, scaling=None).fit(flat).coef_[3] == 0.0


def test_restart_is_chosen_on_valid() -> None:
    """Where both parts choose differently, the part that is held out decides."""
    differ = 0
    for seed in range(6):
        data, valid = easy_data(n_queries=4, seed=seed), easy_data(n_queries=4, seed=seed + 10)
        chosen, blind = (CoordinateAscent(restarts=4, sweeps=1).fit(data, valid=part) for part in (valid, None))
        assert chosen.score(valid) >= blind.score(valid)
        assert blind.score(data) >= chosen.score(data)
        differ += chosen.score(valid) > blind.score(valid)
    assert differ


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"restarts": 0}, "restarts=0"),
        ({"sweeps": 0}, "sweeps=0"),
        ({"step": 0}, "step=0"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"tol": -1}, "tol=-1"),
        ({"profile": "letor5"}, "unknown profile 'letor5'"),
    ],
)
def test_wrong_parameters(params: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        CoordinateAscent(**params).fit(easy_data())
