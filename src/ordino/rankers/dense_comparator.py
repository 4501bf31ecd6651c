"""A comparator without shared weights: what DeepNet's Table 3.1 compares the CmpNN with.

A plain network of [x, y] with two outputs. Nothing makes N>([x, y]) equal to N<([y, x]), so it is asked in both orders,
and the mean of the two answers decides.
"""

from __future__ import annotations

from typing import Any, ClassVar, final

from ordino.rankers.drawn_pairs import DrawnPairs


@final
class DenseComparator(DrawnPairs):
    """A dense network of two documents, learned from drawn pairs; a baseline for DeepNet.

    Parameters
    ----------
    comparator
        The parameters of :class:`~ordino.rankers.drawn_pairs.DrawnPairs` and of
        :class:`~ordino.rankers.comparator.Comparator`. No neuron has a dual, so odd numbers in ``hidden`` are fine.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DenseComparator(epochs=5, n_pairs=500).fit(data)
    >>> ranker.network_.symmetric
    False
    """

    shared: ClassVar[bool] = False

    def __init__(self, **comparator: Any) -> None:
        super().__init__(**comparator)
