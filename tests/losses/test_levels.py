"""Labels as levels, against a slow loop over every query: what one query has never looks at the one before it."""

from itertools import pairwise

import numpy as np
import pytest

from ordino.losses.levels import FEW, number_labels, sort_labels


def levels_of(y, offsets):
    """Rows, floors, levels and pairs, document by document."""
    rows, floor, level, n_pairs = [], [], np.zeros(len(y), int), []
    for start, stop in pairwise(offsets):
        own = sorted(range(start, stop), key=lambda row: (y[row], row))
        rows += own
        floor += [sum(y[other] < y[row] for other in own) for row in own]
        for row in own:
            level[row] = len({y[other] for other in own if y[other] < y[row]})
        n_pairs.append(sum(floor[start:stop]))
    return rows, floor, level.tolist(), n_pairs


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [-1, 0.5, 7], [0, 3 * FEW]])
def test_levels_of_a_query_are_its_own(labels):
    """Few labels, so that a query often ends with the label with which the next begins."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        offsets = np.append(0, np.cumsum(rng.integers(0 if seed else 1, 4, 8)))
        y = rng.choice(labels, offsets[-1]).astype(np.float64)
        found = sort_labels(y, offsets)
        assert tuple(part.tolist() for part in found) == levels_of(y, offsets.tolist())
        numbers, n_numbers = number_labels(y, offsets)
        assert numbers.min() >= 0
        assert numbers.max() < n_numbers
        again = sort_labels(numbers.astype(np.float64), offsets)
        assert again.level.tolist() == found.level.tolist()
