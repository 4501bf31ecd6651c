"""A comparator without shared weights: what DeepNet's Table 3.1 compares the CmpNN with.

A plain network of [x, y] with two outputs. Nothing makes N>([x, y]) equal to N<([y, x]), so it is asked in both orders,
and the mean of the two answers decides. The thesis asks once, in the order in which Python's sort meets two documents.
"""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.networks.drawn_pairs import DrawnPairs
from ordino.order import PairNetwork, scores_from_order, sort_once


@final
class DenseComparator(DrawnPairs):
    """A dense network of two documents, learned from drawn pairs; a baseline for DeepNet.

    Parameters
    ----------
    asked
        How a ranking asks for two documents: "both" orders, of which the mean decides, or "once", as the thesis does,
        by Python's sort, which is slow. ``compare`` always asks in both orders.
    comparator
        The parameters of :class:`~ordino.networks.drawn_pairs.DrawnPairs` and of
        :class:`~ordino.networks.comparing.Comparator`. No neuron has a dual, so odd numbers in ``hidden`` are fine.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DenseComparator(epochs=5, n_pairs=500).fit(data)
    >>> ranker.network_.symmetric
    False
    """

    shared: ClassVar[bool] = False

    def __init__(self, *, asked: str = "both", **comparator: Any) -> None:
        super().__init__(**comparator)
        self.asked = asked

    def _sorted_scores(self, network: PairNetwork, data: Dataset) -> NDArray[np.float64]:
        if check_choice("asked", self.asked, ("both", "once")) == "both":
            return super()._sorted_scores(network, data)
        start = self._start(data)
        order = start[sort_once(network, data.X[start], data.offsets)]
        return scores_from_order(order, data.offsets)
