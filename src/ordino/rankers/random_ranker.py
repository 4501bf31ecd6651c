"""A random order: the floor under every comparison.

A document's score is a hash of its features and the seed. So it is random as far as relevance goes, and yet neither the
order of the rows nor the other documents have a say in it. Documents with equal features share a score.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int
from ordino.data.canonical_kernels import hash_rows
from ordino.data.dataset import Dataset
from ordino.ranker import Ranker


@final
class RandomRanker(Ranker):
    """Scores drawn evenly from [0, 1).

    Parameters
    ----------
    seed
        Another seed, another order.

    Examples
    --------
    >>> ranker = RandomRanker(seed=1).fit([[1.0], [2.0]], [0, 1])
    >>> there, back = ranker.predict([[1.0], [2.0]]), ranker.predict([[2.0], [1.0]])
    >>> there.tolist() == back[::-1].tolist()
    True
    """

    allows_nan = True

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:  # noqa: ARG002
        check_int("seed", self.seed, low=0, high=2**64 - 1)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        seeds = np.full((data.n_docs, 1), self.seed, np.uint64)
        bits = hash_rows(np.ascontiguousarray(data.X), seeds)
        # two more rounds of mixing (splitmix64), so that near documents and near seeds share nothing
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
