r"""RankNet in the space of a kernel (Burges et al., 2005, eq. 17-18).

The score is f(x) = sum_j alpha_j k(x_j, x), the cost RankNet's plus lambda times the squared norm of f in the kernel's
space. Nystroem features phi with phi(x) . phi(x') ~ k(x, x') make that a linear RankNet on phi(x) whose l2 penalty is
the norm; no kernel matrix of all documents is ever built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.layers import Layer, forward
from ordino.networks.scoring import NetworkRanker
from ordino.ranker import Ranker, Validation
from ordino.streams import spawn_seed, stream

if TYPE_CHECKING:
    from ordino.losses import Loss
    from ordino.networks.training import Trained


@final
class KernelRankNet(NetworkRanker):
    """RankNet with a kernel, through Nystroem features.

    Parameters
    ----------
    kernel, gamma
        As scikit-learn has them: rbf, polynomial, laplacian ...; gamma None lets it choose.
    n_components
        How many documents stand for all; more is closer to the exact kernel.
    l2
        lambda, the weight of the squared norm.
    network
        The other parameters of :class:`~ordino.networks.scoring.NetworkRanker`; ``hidden``, ``activation`` and
        ``dropout`` have no effect, because the network is linear in the features.
    """

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        n_components: int = 200,
        l2: float = 1e-4,
        learning_rate: float = 0.01,
        optimizer: str = "adam",
        **network: Any,
    ) -> None:
        super().__init__(l2=l2, learning_rate=learning_rate, optimizer=optimizer, **network)
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("ranknet", average="queries")

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, which draws landmarks of its own."""
        return Ranker.fit_repeats(self, data, seeds, valid=valid)

    def _widths(self) -> tuple[int, ...]:
        return ()

    def _train(self, data: Dataset, valid: Dataset | None, seeds: Sequence[int]) -> list[Trained]:
        from ordino.networks.supply import QueryBatches

        n_components = min(check_int("n_components", self.n_components, low=1), data.n_docs)
        drawn = stream(self.seed, "documents").permutation(data.n_docs)[: 4 * n_components]
        self.features_ = Nystroem(
            kernel=self.kernel,
            gamma=self.gamma,
            n_components=n_components,
            random_state=spawn_seed(self.seed, "landmarks"),
        ).fit(data.X[drawn].astype(np.float64))
        supply = QueryBatches(data, self._loss(), batch=self._batch(), transform=self._phi)
        return self._learn(lambda _: supply, n_components, valid, seeds)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._score_with(self.layers_, data)

    def _score_with(self, layers: list[Layer], data: Dataset) -> NDArray[np.float64]:
        blocks = [slice(start, start + 4096) for start in range(0, data.n_docs, 4096)]
        return np.concatenate(
            [forward(self._phi(data.X[rows]), layers, "identity") for rows in blocks] or [np.empty(0)]
        )

    def _phi(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        # in double precision: the root of an almost singular kernel matrix would show the rounding of single
        return np.ascontiguousarray(self.features_.transform(X.astype(np.float64)), dtype=np.float32)
