r"""SortNet: a neural comparator that learns from the pairs its own sort gets wrong (Rigutini et al., 2008).

Algorithm 3.1: sort the training and the validation objects with the comparator, add the pairs that it mis-compared on
the way to what is known of either set, train a new comparator on them, and keep the one that ranks validation best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.networks.comparing import Comparator
from ordino.order import PairNetwork, scores_from_order
from ordino.progress import Steps

if TYPE_CHECKING:
    from ordino.layers import Layer
    from ordino.networks.learning_sets import LearningSet

Codes = NDArray[np.int64]


@final
class SortNet(Comparator):
    """A symmetric comparator and the incremental choice of its pairs.

    ``history_`` has a row for each iteration. Of the training objects: their quality ``train``, the mis-compared pairs
    ``train_known`` before it and ``train_new`` in it, and the ``train_comparisons`` of the sort; of the validation
    objects the same, with ``valid`` in place of ``train``.

    Parameters
    ----------
    max_iter
        Most iterations; fewer if no mis-compared pair is new. The first sorts with random weights.
    warm_start
        Train on from the comparator before, instead of from new random weights in every iteration.
    comparator
        The parameters of :class:`~ordino.networks.comparing.Comparator`: ``hidden``, ``epochs``, ``metric`` ... Within
        an iteration the epoch with the smallest error on the validation pairs is kept.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = SortNet(hidden=4, max_iter=3, epochs=5).fit(easy_data(), valid=easy_data(seed=1))
    >>> ranker.history_[0]["train_known"], len(ranker.history_)
    (0, 3)
    """

    shared: ClassVar[bool] = True

    def __init__(self, *, max_iter: int = 20, warm_start: bool = False, **comparator: Any) -> None:
        super().__init__(**comparator)
        self.max_iter = max_iter
        self.warm_start = warm_start

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """The settings of the paper: sigmoids, squared error, 20 iterations, MAP, features scaled inside each query.

        What it leaves open is as in DeepNet: full batches with the adaptive rate, weights uniform in [-1, 1].
        """
        published: dict[str, Any] = {
            "hidden": 20,
            "activation": "sigmoid",
            "dropout": 0.0,
            "initializer": "unit",
            "loss": "squared",
            "optimizer": "descent",
            "rate": "adaptive",
            "l2": 0.0,
            "learning_rate": 0.1,
            "batch": None,
            "epochs": 300,
            "patience": None,
            "metric": "map",
            "scaling": "querymax",
        }
        return cls(**(published | changes))

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        known, known_valid = _KnownPairs(data), _KnownPairs(valid)
        layers = self._fresh(data.X, known.learning_set(), [self.seed]).layers(0)
        best = -np.inf
        self.history_: list[dict[str, float]] = []
        with Steps("SortNet", check_int("max_iter", self.max_iter, low=1), verbose=self.verbose) as steps:
            for iteration in steps:
                if iteration:
                    layers = self._trained(known, known_valid, iteration, layers)
                network = self._plain(layers)
                row: dict[str, float] = {"iteration": iteration + 1}
                row |= self._sorted_into(known, network, "train")
                if valid is not None:
                    row |= self._sorted_into(known_valid, network, "valid")
                self.history_.append(row)
                quality = row["train" if valid is None else "valid"]
                if quality > best:
                    best, self.network_, self.best_iteration_ = quality, network, iteration + 1
                steps.show(quality=quality, best=best, known=len(known))
                if not row["train_new"] + row.get("valid_new", 0):
                    break

    def _sorted_into(self, known: _KnownPairs, network: PairNetwork, name: str) -> dict[str, float]:
        """Sort a set, add its mis-compared pairs to the known ones, and measure the ranking."""
        data, before = known.data, len(known)
        result = self._sorted(network, data, data.y)
        known.add(result.miscompared)
        return {
            name: self._quality(data)(scores_from_order(result.order, data.offsets)),
            f"{name}_known": before,
            f"{name}_new": len(known) - before,
            f"{name}_comparisons": int(result.comparisons.sum()),
        }

    def _trained(
        self, known: _KnownPairs, known_valid: _KnownPairs, iteration: int, before: list[Layer]
    ) -> list[Layer]:
        """TrainAndValidate: the layers after training on the pairs known so far."""
        learning_set, X = known.learning_set(), known.data.X
        network = self._fresh(X, learning_set, [self.seed + iteration])
        if self.warm_start:
            network.load(0, before)
        judge = self._by_pairs(known_valid.data.X, known_valid.learning_set())
        return self._learn(network, X, learning_set, judge, verbose=False)[0].layers


class _KnownPairs:
    """The mis-compared pairs of a set of objects, each once; no objects have no pairs."""

    def __init__(self, data: Dataset | None) -> None:
        self.data = Dataset(np.zeros((0, 1)), []) if data is None else data
        self._codes: Codes = np.empty(0, np.int64)  # better * n_docs + worse, rising

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, codes: Codes | None) -> None:
        assert codes is not None, "a sort with labels records what it mis-compares"
        self._codes = np.union1d(self._codes, codes)

    def learning_set(self) -> LearningSet:
        """The pairs, the better document first: a symmetric network learns the same from either order."""
        from ordino.networks.learning_sets import LearningSet

        pairs = np.stack(np.divmod(self._codes, max(self.data.n_docs, 1)), axis=1)
        return LearningSet(pairs.astype(np.intp), np.ones(len(pairs)))
