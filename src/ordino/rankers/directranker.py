r"""DirectRanker: f(a) - f(b) through one odd output neuron without bias (Köppel et al., 2019).

The output o(a, b) = tau(w (f(a) - f(b))) is reflexive, antisymmetric and transitive for any feature net f and any odd,
increasing tau, so sorting by w f is sorting by the comparator. It learns from pairs of neighboring classes only, the higher
class always first: (1 - o)^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.rankers.network import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


@final
class DirectRanker(NetworkRanker):
    """A feature net and an odd output neuron, learned from neighboring relevance classes.

    Parameters
    ----------
    output
        tau, the output neuron's activation: tanh or identity.
    network
        The parameters of :class:`~ordino.rankers.network.NetworkRanker`.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DirectRanker(hidden=8, epochs=3).fit(data)
    >>> a, b = data[0].X[:1], data[0].X[1:2]
    >>> float(ranker.output(a, b)[0] + ranker.output(b, a)[0])
    0.0
    """

    def __init__(self, *, output_activation: str = "tanh", **network: Any) -> None:
        super().__init__(**network)
        self.output_activation = output_activation

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("directranker", output=self.output_activation)

    def output(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """o(a, b) for each row of A and B: positive where a comes first, 0 for equal documents."""
        difference = self._difference(A, B)
        return np.tanh(difference / 2) if self.output_activation == "tanh" else difference
