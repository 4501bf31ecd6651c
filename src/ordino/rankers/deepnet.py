r"""DeepNet: a deep comparator with shared weights, CmpNN, inside a sort (Huybrechts, 2016).

The network sees a pair [x, y] and gives N> and N<, the evidence that x and that y comes first; sharing the weights of
each neuron with its dual makes :math:`N_\succ([x, y]) = N_\prec([y, x])` (chapter 4, rules 1-5). It learns from pairs
drawn in equal shares from every query, against the targets [1, 0] and [0, 1].
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

from ordino.networks.drawn_pairs import DrawnPairs


@final
class DeepNet(DrawnPairs):
    """A deep symmetric comparator learned from drawn pairs.

    Parameters
    ----------
    comparator
        The parameters of :class:`~ordino.networks.drawn_pairs.DrawnPairs` (``pairs``, ``n_pairs``, ``select`` ...) and
        of :class:`~ordino.networks.comparing.Comparator` (``hidden``, ``loss``, ``epochs`` ...).

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DeepNet(hidden=(8, 4), epochs=5, n_pairs=500).fit(data)
    >>> a, b = data[0].X[:1], data[0].X[1:2]
    >>> float(ranker.compare(a, b)[0] + ranker.compare(b, a)[0])
    1.0
    """

    shared: ClassVar[bool] = True

    def __init__(self, **comparator: Any) -> None:
        super().__init__(**comparator)

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """The tuned network of the thesis (section 4.3.3).

        Layers of 24, 12 and 6 ReLU neurons that start from stacked auto-encoders, a quarter of them dropped; squared
        error, full batches with the adaptive rate; 10,000 training pairs of different labels and 5,000 validation
        pairs, whose error chooses one of 1,000 epochs; features scaled inside each query.
        """
        published: dict[str, Any] = {
            "hidden": (24, 12, 6),
            "activation": "relu",
            "initializer": "autoencoders",
            "dropout": 0.25,
            "loss": "squared",
            "optimizer": "descent",
            "rate": "adaptive",
            "l2": 0.0,
            "learning_rate": 0.1,
            "batch": None,
            "epochs": 1000,
            "patience": None,
            "pairs": "C",
            "n_pairs": 10_000,
            "n_valid_pairs": 5_000,
            "select": "pairs",
            "metric": "map",
            "scaling": "querymax",
        }
        return cls(**(published | changes))
