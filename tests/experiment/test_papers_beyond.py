"""What lies beyond the papers: which labels are binarized, and which parts are learned from and measured."""

import numpy as np
import pytest

from ordino import Dataset, evaluate
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.beyond import grades, models
from ordino.testing import easy_data

PARTS = Fold("Fold1", *(easy_data(n_queries=n, seed=n) for n in (5, 4, 3)))


def test_labels_of_the_training_and_the_validation_part_are_binarized_and_those_of_the_test_part_are_not():
    def part(*y):
        return Dataset(np.arange(float(len(y)))[:, None], y, np.zeros(len(y)))

    fold = Fold("1", part(0, 1, 2, 3, 4), part(4, 2, 1, 0), part(0, 2, 4))
    [found] = grades.binarized(Folds(["1"], lambda _: fold))
    # (0 + 4 + 1) // 2 = 2 and more is relevant
    assert [one.y.tolist() for one in found[1:]] == [[0, 0, 1, 1, 1], [1, 1, 0, 0], [0, 2, 4]]
    alone = grades.binarized(Folds(["1"], lambda _: fold._replace(valid=None)))[0]
    assert alone.valid is None


def test_a_model_learns_from_train_is_chosen_on_valid_and_measured_on_test_as_it_sees_it():
    class Noted:
        def fit(self, data, *, valid):
            self.learned = data, valid

        def predict(self, data):
            return data.X[:, 0].astype(float)

    for sign, before in ((1, None), (-1, lambda data: data.replace(X=-data.X))):
        ranker = Noted()
        quality, _ = models.measured(ranker, PARTS, before)
        assert ranker.learned == (PARTS.train, PARTS.valid)
        expected = evaluate(PARTS.test, sign * PARTS.test.X[:, 0], metrics="ndcg@10")["ndcg@10"]
        assert quality == pytest.approx(expected)


def test_kernel_features_are_learned_from_train_and_made_of_every_part():
    fold, through = models.kernel_features(PARTS)
    alone, _ = models.kernel_features(PARTS._replace(valid=None, test=PARTS.train))
    np.testing.assert_array_equal(fold.train.X, alone.train.X)
    for part, made in zip(PARTS[1:], (fold.train, fold.valid, through(fold.test)), strict=True):
        np.testing.assert_array_equal(made.X, through(part).X)
        assert (made.y.tolist(), made.n_features) == (part.y.tolist(), PARTS.train.n_docs)
    assert fold.test is PARTS.test  # its features are made when it is scored, as a search engine would have to
    distances = ((PARTS.train.X[:9, None] - PARTS.train.X[:9]) / PARTS.train.X.std(axis=0)) ** 2
    near = fold.train.X[:9].astype(float) @ fold.train.X[:9].T.astype(float)
    np.testing.assert_allclose(near, np.exp(-distances.sum(axis=2) / 4), atol=1e-2)
