r"""DirectRanker: f(a) - f(b) through one odd output neuron without bias (Köppel et al., 2019).

The output r(a, b) = tau(w (f(a) - f(b))) is reflexive, antisymmetric and transitive for any feature net f and any odd
tau that keeps signs (theorem 1), so sorting by w f(x) is sorting by the comparator. It learns from pairs of neighboring
classes only, the higher class always first, never from ties; the cost of a pair is y_i (1 - r)^2. The paper's pairs
have labels that differ by one, y_i - y_j = 1 (section 4.3).
"""

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.losses import LOSSES, Loss, make_loss
from ordino.losses.pair_kernels import PAIRS
from ordino.networks import fields
from ordino.networks.scoring import ScoringNetwork
from ordino.networks.training import Trained
from ordino.parameters import learned, param, settings
from ordino.recurring import scaling_param

OUTPUTS = ("identity", "tanh", "half-tanh", "softsign")


@final
class DirectRanker(ScoringNetwork):
    """A feature net and an odd output neuron, learned from neighboring relevance classes.

    Attributes
    ----------
    output_
        tau, by which :meth:`preference` reads a difference of scores.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DirectRanker(hidden=8, epochs=3, scaling="quantile").fit(data)
    >>> a, b = data[0].X[:1], data[0].X[1:2]
    >>> float(ranker.preference(a, b)[0] + ranker.preference(b, a)[0])
    0.0
    """

    output_: str = learned()

    output: str = param(
        "identity", "tau, the activation of the output neuron: identity, tanh, half-tanh or softsign.", choices=OUTPUTS
    )
    loss: str = param(
        "directranker",
        "The cost of a pair: directranker, or another pairwise loss. With ranknet, which is cross entropy on "
        "half-tanh, DirectRanker is RankNet on neighboring classes; with lambdarank each of these pairs is weighted by "
        "how its swap changes `metric`.",
        choices=[name for name, entry in LOSSES.items() if entry.family == "pairwise" or name == "lambdarank"],
    )
    pairs: str = param(
        "neighbors",
        "Which classes of a query are compared: exact (labels that differ by one, as in the paper), neighbors (labels "
        "with no other label of the query between them, which is the same where none is missing) or all.",
        choices=PAIRS,
    )
    average: str = fields.average()
    dropout: float = fields.dropout(0.5)
    learning_rate: float = fields.learning_rate(0.01)
    scaling: str | None = scaling_param(
        "z+rank",
        "Feature scaling: a name in `SCALERS`, several joined by +, or None; the paper uses normal quantiles. z+rank "
        "ranks best on validation data; `preference`, which sees two documents and not their query, needs None, "
        "quantile or symlog.",
    )

    published = settings(
        hidden=(70, 5), activation="tanh", output="identity", loss="directranker", pairs="exact", average="pairs",
        optimizer="adam", learning_rate=0.01, dropout=0.0, scaling="quantile", profile="directranker", hold_out=None,
    )  # fmt: skip
    """Section 4: a layer of 70 neurons and one of a neuron for each class (the LETOR sets have up to five), tau the
    identity, pairs of labels that differ by one, each of which counts the same, Adam, normal quantiles. Where the paper
    is silent, as in its authors' code: tanh in the feature net, a rate of 0.01. Its grid search chooses the rest;
    without it there is no dropout."""

    def _loss(self) -> Loss:
        if self.loss == "lambdarank":  # which is an average over queries
            return make_loss(self.loss, pairs=self.pairs, metric=self.metric)
        own = {"activation": self.output} if self.loss == "directranker" else {}
        return make_loss(self.loss, pairs=self.pairs, average=self.average, **own)

    def _keep(self, trained: Trained) -> Self:
        self.output_ = self._tau()
        return super()._keep(trained)

    def _tau(self) -> str:
        """Tau of what is learned: cross entropy is that on half-tanh, whatever ``output`` says."""
        return "half-tanh" if self.loss in ("ranknet", "lambdarank") else self.output

    def preference(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """r(a, b) for each row a of A and b of B: positive where a comes first, 0 for equal documents."""
        difference = self._score_difference(A, B)
        match getattr(self, "output_", self._tau()):  # older model files do not say
            case "tanh":
                difference = np.tanh(difference)
            case "half-tanh":
                difference = np.tanh(difference / 2)
            case "softsign":
                difference /= 1 + np.abs(difference)
        return difference
