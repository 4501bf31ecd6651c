"""Every loss as LightGBM's objective: the trees learn."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.losses import LOSSES, make_loss
from ordino.losses.trees_objective import lightgbm_objective


def hidden_order(seed: int) -> Dataset:
    """Thirty queries of twenty documents; labels 0 to 2 follow a weighted sum of four features."""
    rng = np.random.default_rng(seed)
    X = rng.random((600, 4)).astype(np.float32)
    hidden = X @ np.array([3.0, 1.0, 0.0, -1.0])
    return Dataset(X, np.digitize(hidden, [1.8, 2.4]), np.repeat(np.arange(30), 20))


def share_of_pairs_in_order(data: Dataset, scores: np.ndarray) -> float:
    query = data.qid
    better = (data.y[:, None] > data.y[None, :]) & (query[:, None] == query[None, :])
    return float((scores[:, None] > scores[None, :])[better].mean())


@pytest.mark.parametrize("name", LOSSES)
def test_trees_learn_by_every_loss(name):
    data, unseen = hidden_order(0), hidden_order(1)
    booster = lightgbm.train(
        {
            "objective": lightgbm_objective(make_loss(name), data, n_jobs=1),
            "learning_rate": 0.1,
            "num_leaves": 8,
            "num_threads": 1,
            "verbosity": -1,
        },
        lightgbm.Dataset(data.X, free_raw_data=False),
        num_boost_round=60,
    )
    assert share_of_pairs_in_order(unseen, booster.predict(unseen.X)) > 0.9  # 0.5 by chance


def test_gradient_and_hessian_by_hand():
    """Two queries; in the second nothing is to be learned. Four documents times slope 1/2 and curvature 1/4."""
    data = Dataset([[0.0]] * 4, [1, 0, 2, 2], [0, 0, 1, 1])
    gradient, hessian = lightgbm_objective(make_loss("ranknet"), data)(np.zeros(4), None)
    np.testing.assert_allclose(gradient, [4 * -1 / 2, 4 * 1 / 2, 0, 0])
    np.testing.assert_allclose(hessian, [4 * 1 / 4 + 1e-3, 4 * 1 / 4 + 1e-3, 1e-3, 1e-3])


def test_weights_of_the_data_are_used():
    data = Dataset([[0.0]] * 3, [1, 0, 0], weights=[1, 1, 0])
    gradient, _ = lightgbm_objective(make_loss("ranknet"), data)(np.zeros(3), None)
    assert gradient.tolist() == [-1.5, 1.5, 0]
