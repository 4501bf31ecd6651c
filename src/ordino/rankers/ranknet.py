r"""RankNet: pairwise cross entropy on score differences (Burges et al., 2005).

For two documents of a query with o = f(a) - f(b), the model says P(a before b) = 1 / (1 + exp(-o)), and the cost
against the target probability p is C = -p o + log(1 + exp(o)) (eq. 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.data.columns import as_features
from ordino.data.dataset import Dataset
from ordino.networks.preferences import check_preferences
from ordino.networks.scoring import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


PAIRS_A_QUERY = 256  # in fit_pairs, where there are no queries: what ``batch`` counts


@final
class RankNet(NetworkRanker):
    """A scoring network that learns from pairs of documents of the same query.

    Parameters
    ----------
    ties
        Learn from pairs of equal labels too, with target 1/2 (RankNet, section 5.2).
    target
        The target P(a before b) where a has the larger label; 1 is the paper's hard target.
    average
        What counts equally in a step: every query ("queries") or every pair ("pairs").
    network
        The parameters of :class:`~ordino.networks.scoring.NetworkRanker`: ``hidden``, ``epochs``, ``learning_rate`` ...

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = RankNet(hidden=(), epochs=5).fit(data)
    >>> ranker.rank(data[0].X).shape
    (15,)
    """

    def __init__(self, *, ties: bool = False, target: float = 1.0, average: str = "queries", **network: Any) -> None:
        super().__init__(**network)
        self.ties = ties
        self.target = target
        self.average = average

    @classmethod
    def as_published(cls, *, hidden: int | tuple[int, ...] = 10, **changes: Any) -> Self:
        """The settings of the paper's section 5.

        First layer zero, second uniform in [-0.1, 0.1]; a step after each query, the rate halved when the epoch's error
        rises; 100 epochs, the best on validation kept. The paper's rate is 0.001 for each pair; a step here is the mean
        over a query's pairs, of which the paper's queries of 50 documents have about 1,000, so its rate is 1.
        """
        published: dict[str, Any] = {
            "activation": "tanh",
            "initializer": "ranknet" if hidden else "uniform",
            "optimizer": "descent",
            "rate": "halve",
            "learning_rate": 1.0,
            "batch": 1,
            "epochs": 100,
            "patience": None,
            "metric": "pairwise_accuracy",
            "scaling": None,
        }
        return cls(hidden=hidden, **(published | changes))

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("ranknet", ties=self.ties, target=self.target, average=self.average)

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, valid: Dataset | None = None
    ) -> Self:
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other; a probability is one number for all or one for each.

        Examples
        --------
        >>> ranker = RankNet(hidden=(), scaling=None, epochs=30).fit_pairs([[0.0], [1.0], [2.0]], [(2, 1), (1, 0)])
        >>> ranker.rank([[0.0], [1.0], [2.0]]).tolist()
        [2, 1, 0]
        """
        from ordino.losses import pair_loss
        from ordino.networks.supply import PairBatches

        features = as_features(X)
        chosen, target = check_preferences(pairs, probability, len(features))
        data, held_out = self._prepare(Dataset(features, np.zeros(len(features))), valid)
        batch = None if self.batch is None else PAIRS_A_QUERY * self.batch
        supply = PairBatches(data.X, chosen, target, pair_loss("ranknet"), batch=batch)
        self._keep(self._learn(lambda _: supply, data.n_features, held_out, [self.seed])[0])
        return self
