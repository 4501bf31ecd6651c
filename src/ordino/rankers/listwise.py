"""Scoring networks that learn a whole list at a time: ListNet, ListMLE, RankCosine and LambdaRank.

Cao et al., "Learning to rank: from pairwise approach to listwise approach", ICML 2007; Xia et al., "Listwise approach
to learning to rank: theory and algorithm", ICML 2008; Qin et al., "Query-level loss functions for information
retrieval", 2008; Burges, Ragno and Le, "Learning to rank with nonsmooth cost functions", NIPS 2006.
"""

from typing import final

from ordino.losses import Loss, make_loss
from ordino.networks.scoring import ScoringNetwork


@final
class ListNet(ScoringNetwork):
    """A network that learns by cross entropy between the top-one probabilities of labels and scores."""

    def _loss(self) -> Loss:
        return make_loss("listnet")


@final
class ListMLE(ScoringNetwork):
    """A network that learns the likelihood of the order that the labels give."""

    def _loss(self) -> Loss:
        return make_loss("listmle")


@final
class RankCosine(ScoringNetwork):
    """A network whose scores of a query learn to point in the direction of its labels."""

    def _loss(self) -> Loss:
        return make_loss("rankcosine")


@final
class LambdaRank(ScoringNetwork):
    """RankNet's gradient, each pair weighted by what its swap changes in ``metric`` (NDCG@k, MAP or MRR)."""

    def _loss(self) -> Loss:
        return make_loss("lambdarank", metric=self.metric)
