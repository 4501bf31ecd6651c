r"""SortNet: a neural comparator that learns from the pairs its own sort gets wrong (Rigutini et al., 2008).

Algorithm 3.1: sort the training and the validation objects with the comparator, add the pairs that it mis-compared on
the way to what is known of either set, train a new comparator on them, and keep the one that ranks validation best.
"""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.networks.choosing import WAYS, choose_pairs
from ordino.networks.comparing import Comparator
from ordino.networks.learning_sets import LearningSet
from ordino.order import SORTS, PairNetwork
from ordino.order.pairs import content_order
from ordino.order.sorting import places_from_end, sort_checked
from ordino.parameters import param, settings
from ordino.progress import Steps
from ordino.streams import spawn_seed, stream

Codes = NDArray[np.int64]

FEWEST_STEPS = (
    200  # of an iteration: with fewer, small sets of pairs are not learned (chosen on synthetic sets like TD2003)
)


@final
class SortNet(Comparator):
    """A symmetric comparator and the incremental choice of its pairs.

    Within an iteration the epoch with the smallest error on the validation pairs is kept. Pairs come from the sort that
    ``algorithm`` names, or from merge sort if that is an order over all pairs, which then makes the rankings alone.

    Attributes
    ----------
    network_
        The comparator as plain arrays.
    history_
        A row for each iteration, from 0. Of the training objects: their quality ``train``, the mis-compared pairs
        ``train_known`` before it and ``train_new`` in it, and the ``train_comparisons`` of the sort; of the validation
        objects the same, with ``valid`` in place of ``train``.
    best_iteration_
        The iteration whose comparator was kept.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = SortNet(hidden=4, max_iter=3, epochs=5).fit(easy_data(), valid=easy_data(seed=1))
    >>> ranker.history_[0]["train_known"], len(ranker.history_)
    (0, 4)
    """

    dropped: ClassVar[tuple[str, ...]] = ("record_activations",)

    max_iter: int = param(
        20,
        "Maximum number of comparators that are trained, after one with random weights (iteration 0); fewer if no new "
        "pair is mis-compared.",
        low=0,
        brief=2,
    )
    warm_start: bool = param(
        True,
        "Continue from the previous comparator in every iteration, instead of from new random weights as in the paper.",
    )
    falling: bool = param(
        True,
        "Train iteration i for epochs / i epochs, but at least two and 200 steps, instead of for all of them as in the "
        "paper: what continues from the previous comparator has less to learn.",
    )

    choose: str = param(
        "mis-compared",
        "Which training pairs an iteration adds: all that the sort mis-compared (the paper), or as many others: margin "
        "(those that stand most wrong among pairs drawn at random), uncertain (those closest to a tie), uniform (drawn "
        "at random), or curriculum (the mis-compared ones, the nearly right ones first).",
        choices=WAYS,
    )

    published = settings(
        hidden=20, activation="sigmoid", dropout=0.0, initializer="unit", loss="squared", optimizer="descent",
        rate="adaptive", l2=0.0, learning_rate=0.1, batch=None, epochs=300, patience=None, metric="map",
        scaling="querymax", algorithm="merge", max_iter=20, falling=False, warm_start=False,
        hold_out=None,
    )  # fmt: skip
    """Sigmoids, squared error, 20 trained comparators, MAP, features scaled inside each query. What the paper leaves
    open is as in DeepNet: full batches with the adaptive rate, weights uniform in [-1, 1]."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        sets = {"train": _KnownPairs(data)} | ({} if valid is None else {"valid": _KnownPairs(valid)})
        known, deciding = sets["train"], "train" if valid is None else "valid"
        layers = self._fresh(data.X, known.learning_set(), self.seed).layers()
        best = -np.inf
        self.history_: list[dict[str, float]] = []
        with Steps("SortNet", self.max_iter + 1, verbose=self.verbose) as steps:
            for iteration in steps:
                if iteration:
                    layers = self._trained(known, sets.get("valid"), iteration, layers)
                network = self._plain(layers)
                row: dict[str, float] = {"iteration": iteration}
                for name, one in sets.items():
                    row |= self._sorted_into(one, network, name, iteration)
                self.history_.append(row)
                quality = row[deciding]
                if quality > best:
                    best, self.network_, self.best_iteration_ = quality, network, iteration
                steps.show(quality=quality, best=best, known=len(known))
                if not any(row[f"{name}_new"] for name in sets):
                    break

    def _sorted_into(self, known: _KnownPairs, network: PairNetwork, name: str, iteration: int) -> dict[str, float]:
        """Sort a set, add its mis-compared pairs (or others) to the known ones, and measure the ranking."""
        data, before, judge = known.data, len(known), Judge(self.metric, self.profile)
        is_sort = self.algorithm in SORTS
        sort = self.algorithm if is_sort else "merge"
        result = sort_checked(network, data.X, data.offsets, sort, data.y, known.start, self.n_jobs)
        codes = result.miscompared
        assert codes is not None, "a sort with labels records what it mis-compares"
        if self.choose != "mis-compared" and name == "train":
            progress, rng = (iteration + 1) / (self.max_iter + 1), stream(self.seed, "choose", iteration)
            codes = choose_pairs(self.choose, data, network, codes, progress, rng)
        known.add(codes)
        ranked = self._pairs(network).score_scaled
        scores = places_from_end(result.order, data.offsets) if is_sort else ranked(data, known.start)
        return {
            name: float(np.nan_to_num(judge.mean(data, scores))),
            f"{name}_known": before,
            f"{name}_new": len(known) - before,
            f"{name}_comparisons": int(result.comparisons.sum()),
        }

    def _epochs_of(self, iteration: int, n_pairs: int) -> int:
        """The epochs of an iteration in the falling schedule."""
        steps_of_epoch = 1 if self.batch is None else -(-n_pairs // self.batch)
        return min(self.epochs, max(self.epochs // iteration, 2, -(-FEWEST_STEPS // steps_of_epoch)))

    def _trained(
        self, known: _KnownPairs, known_valid: _KnownPairs | None, iteration: int, before: list[Layer]
    ) -> list[Layer]:
        """TrainAndValidate: the layers after training on the pairs known so far."""
        learning_set, X = known.learning_set(), known.data.X
        net = self._fresh(X, learning_set, spawn_seed(self.seed, "iteration", iteration))
        if self.warm_start:
            net.load(before)
        if not learning_set.n_pairs:
            return net.layers()
        quality = None if known_valid is None else self._by_pairs(known_valid.data.X, known_valid.learning_set())
        epochs = self._epochs_of(iteration, learning_set.n_pairs) if self.falling else self.epochs
        return self._learn([self._learner(net, X, learning_set, quality)], epochs, verbose=False)[0].layers


class _KnownPairs:
    """The mis-compared pairs of a set of objects, each once, and the order in which every sort of it starts."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.start = content_order(data)
        self._codes: Codes = np.empty(0, np.int64)  # better * n_docs + worse, rising

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, codes: Codes) -> None:
        self._codes = np.union1d(self._codes, codes)

    def learning_set(self) -> LearningSet:
        """The pairs, the better document first: a symmetric network learns the same from either order."""
        return LearningSet(self._codes, np.ones(len(self._codes)))
