"""What lies beyond the papers: which labels are binarized."""

import numpy as np

from ordino import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.beyond import grades


def test_labels_of_the_training_and_the_validation_part_are_binarized_and_those_of_the_test_part_are_not():
    def part(*y):
        return Dataset(np.arange(float(len(y)))[:, None], y, np.zeros(len(y)))

    fold = Fold("1", part(0, 1, 2, 3, 4), part(4, 2, 1, 0), part(0, 2, 4))
    [found] = grades.binarized(Folds(["1"], lambda _: fold))
    # (0 + 4 + 1) // 2 = 2 and more is relevant
    assert [one.y.tolist() for one in found[1:]] == [[0, 0, 1, 1, 1], [1, 1, 0, 0], [0, 2, 4]]
    alone = grades.binarized(Folds(["1"], lambda _: fold._replace(valid=None)))[0]
    assert alone.valid is None
