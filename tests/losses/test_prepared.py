"""Labels that are checked once: losses of parts of them are those of the parts alone, to the last bit."""

import numpy as np
import pytest

from ordino.errors import DataError
from ordino.losses import LOSSES, make_loss

RNG = np.random.default_rng(0)
OFFSETS = np.array([0, 7, 7, 30, 41, 60])
LABELS = {
    "whole": RNG.integers(0, 4, 60).astype(float) + 2,
    "any": RNG.random(60).round(1),
    "far": RNG.integers(0, 999, 60),
}
WEIGHTS = {"none": None, "some": np.r_[np.ones(30), RNG.random(30)]}


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", LOSSES)
def test_a_part_of_what_is_prepared_is_the_part_alone(name, labels, weighted):
    loss, y, weights = make_loss(name), LABELS[labels], WEIGHTS[weighted]
    prepared, scores = loss.prepare(y, OFFSETS, weights), RNG.normal(size=(2, 60)).astype(np.float32)
    for first, last in ((0, 5), (2, 4), (3, 5), (1, 2)):
        rows = slice(OFFSETS[first], OFFSETS[last])
        own = None if weights is None else weights[rows]
        value, gradient, _ = loss.of_prepared(scores[:, rows], prepared.part(first, last))
        alone = loss.value_and_gradient(scores[:, rows], y[rows], OFFSETS[first : last + 1] - rows.start, weights=own)
        assert np.array_equal(value, alone[0], equal_nan=True)
        assert np.array_equal(gradient, alone[1], equal_nan=True)


def test_scores_must_fit_what_is_prepared():
    with pytest.raises(DataError, match=r"^scores has shape \(3,\); give one number for each document, 2 in all$"):
        make_loss("ranknet").of_prepared([1.0, 2.0, 3.0], make_loss("ranknet").prepare([1, 0], [0, 2]))
