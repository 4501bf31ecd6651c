"""PRank and OAP-BPM: the rule of the paper, step by step, and what is made of it."""

from __future__ import annotations

import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.networks.perceptron_kernels import prank_pass
from ordino.rankers.perceptrons import OAPBPM, PRank
from ordino.testing import easy_data

QUICK = {
    "linear": PRank(epochs=40),
    "quadratic": PRank(epochs=40, quadratic=True),
    "last": OAPBPM(n_perceptrons=10, epochs=10),
    "steps": OAPBPM(n_perceptrons=5, epochs=10, averaging="steps"),
}


def slow_pass(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Figure 1 of the paper as it stands there, ranks 1 to k; weights and thresholds after each document."""
    k = len(b) + 1
    weights, thresholds = [], []
    for x, rank in zip(X, y + 1, strict=True):
        predicted = min([r for r in range(1, k) if w @ x - b[r - 1] < 0], default=k)
        side = {r: -1 if rank <= r else 1 for r in range(1, k)}
        if predicted != rank:
            tau = {r: side[r] if (w @ x - b[r - 1]) * side[r] <= 0 else 0 for r in range(1, k)}
        else:
            tau = dict.fromkeys(range(1, k), 0)
        w = w + sum(tau.values()) * x
        b = b - np.array([tau[r] for r in range(1, k)])
        weights.append(w)
        thresholds.append(b)
    return weights, thresholds


def test_updates_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = rng.integers(0, 4, 60)
    w, b = np.zeros(3), np.zeros(3)
    weights, thresholds = slow_pass(X.astype(float), y, w, b)
    sums = np.zeros(3), np.zeros(3)
    mistakes = prank_pass(X, y, np.arange(60), w, b, *sums)
    np.testing.assert_allclose(w, weights[-1])
    np.testing.assert_allclose(b, thresholds[-1])
    np.testing.assert_allclose(sums[0], np.sum(weights, axis=0))
    np.testing.assert_allclose(sums[1], np.sum(thresholds, axis=0))
    assert mistakes > 0


def test_first_update_by_hand() -> None:
    w, b = np.zeros(1), np.zeros(2)
    X, rows = np.array([[3.0]], np.float32), np.array([0])
    # at w = 0, b = (0, 0) every document has the highest of the three labels: right for label 2, two off for label 0
    assert prank_pass(X, np.array([2]), rows, w, b, np.zeros(1), np.zeros(2)) == 0
    assert (w.tolist(), b.tolist()) == ([0.0], [0.0, 0.0])
    assert prank_pass(X, np.array([0]), rows, w, b, np.zeros(1), np.zeros(2)) == 2
    assert w.tolist() == [-6.0]  # 0 - (1 + 1) * 3
    assert b.tolist() == [1.0, 1.0]


def test_one_label_alone_has_no_threshold() -> None:
    ranker = PRank(epochs=1).fit(Dataset([[3.0], [4.0]], [2, 2]))
    assert ranker.thresholds_.tolist() == []
    assert ranker.predict_levels([[1.0]]).tolist() == [2.0]


def separable_data() -> Dataset:
    rng = np.random.default_rng(1)
    X = rng.integers(-5, 6, (80, 2)).astype(np.float32)
    hidden = X @ np.array([2.0, 1.0])
    return Dataset(X, np.digitize(hidden, [-2.5, 4.5]) * 10.0, np.arange(80) // 10)


@pytest.mark.parametrize("ranker", [PRank(epochs=100), OAPBPM(n_perceptrons=20, tau=0.5, epochs=60)])
def test_levels_of_separable_data(ranker: PRank | OAPBPM) -> None:
    data = separable_data()
    ranker.fit(data)
    assert ranker.classes_.tolist() == [0.0, 10.0, 20.0]
    assert (np.diff(ranker.thresholds_) >= 0).all()
    assert (ranker.predict_levels(data) == data.y).mean() > 0.95
    scores = ranker.predict(data)
    np.testing.assert_array_equal(
        ranker.predict_levels(data), ranker.classes_[(scores[:, None] >= ranker.thresholds_).sum(axis=1)]
    )


def test_quadratic_learns_what_linear_cannot() -> None:
    rng = np.random.default_rng(2)
    X = rng.choice([-1.0, 1.0], (200, 2)).astype(np.float32)
    data = Dataset(X, (X[:, 0] * X[:, 1] > 0).astype(float), np.arange(200) // 20)
    linear, quadratic = PRank(epochs=10).fit(data), PRank(epochs=10, quadratic=True).fit(data)
    assert quadratic.score(data) == 1.0
    assert linear.score(data) < 0.9
    assert quadratic.feature_weights()[0].feature == "f1*f2"
    assert [f.feature for f in linear.feature_weights()] in (["f1", "f2"], ["f2", "f1"])


@pytest.mark.parametrize("kind", QUICK)
def test_best_epoch_is_kept(kind: str) -> None:
    data, valid = easy_data(), easy_data(seed=1)
    ranker = type(QUICK[kind])(**QUICK[kind].get_params()).fit(data, valid=valid)
    again = type(ranker)(**{**ranker.get_params(), "epochs": ranker.epoch_}).fit(data)
    np.testing.assert_array_equal(ranker.coef_, again.coef_)
    np.testing.assert_array_equal(ranker.thresholds_, again.thresholds_)


def test_one_perceptron_that_sees_everything_is_prank() -> None:
    data = easy_data()
    one = OAPBPM(n_perceptrons=1, tau=1.0, epochs=1).fit(data)
    rng = np.random.default_rng(0).spawn(2)[0]
    w, b = np.zeros(4), np.zeros(2)
    from ordino.data.source import canonical

    rows = canonical(data)
    prank_pass(rows.X, rows.y.astype(np.int64), rng.permutation(rows.n_docs), w, b, np.zeros(4), np.zeros(2))
    np.testing.assert_array_equal(one.coef_, w)
    np.testing.assert_array_equal(one.thresholds_, b)


@pytest.mark.parametrize(
    ("ranker", "words"),
    [
        (PRank(epochs=0), "epochs=0"),
        (OAPBPM(tau=0), "tau=0"),
        (OAPBPM(n_perceptrons=0), "n_perceptrons=0"),
        (OAPBPM(averaging="mean"), "unknown averaging 'mean'"),
        (OAPBPM(n_jobs=0), "n_jobs=0"),
        (PRank(metric="ndgc@10"), "did you mean 'ndcg@10'"),
    ],
)
def test_wrong_parameters(ranker: PRank | OAPBPM, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ranker.fit(easy_data())


@pytest.mark.parametrize("kind", QUICK)
def test_every_pass_is_a_row_of_history(kind: str) -> None:
    data, valid = easy_data(), easy_data(seed=1)
    ranker = type(QUICK[kind])(**QUICK[kind].get_params()).fit(data, valid=valid)
    assert [row["epoch"] for row in ranker.history_] == list(range(1, ranker.epochs + 1))
    assert ranker.history_[ranker.epoch_ - 1]["valid"] == max(row["valid"] for row in ranker.history_)
    assert all("valid" not in row for row in ranker.fit(data).history_)
    assert all(("mistakes" in row) == isinstance(ranker, PRank) for row in ranker.history_)


@pytest.mark.parametrize("quadratic", [False, True])
def test_weights_of_another_number_are_refused(quadratic: bool) -> None:
    ranker = PRank(epochs=1, quadratic=quadratic).fit(easy_data())
    ranker.form().check()
    assert ranker.form().kind == ("other" if quadratic else "linear")
    ranker.coef_ = ranker.coef_[:-1]
    with pytest.raises(DataError, match="coef_ does not fit"):
        ranker.form().check()
