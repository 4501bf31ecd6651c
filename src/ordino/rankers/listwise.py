"""Scoring networks that learn a whole list at a time: ListNet, ListMLE, RankCosine and LambdaRank.

Cao et al., "Learning to rank: from pairwise approach to listwise approach", ICML 2007; Xia et al., "Listwise approach
to learning to rank: theory and algorithm", ICML 2008; Qin et al., "Query-level loss functions for information
retrieval", 2008; Burges, Ragno and Le, "Learning to rank with nonsmooth cost functions", NIPS 2006.
"""

from typing import final

from ordino.losses import Loss, make_loss
from ordino.networks.scoring import ScoringNetwork
from ordino.parameters import param, settings


@final
class ListNet(ScoringNetwork):
    r"""A network that learns by cross entropy between the top-k probabilities of labels and scores.

    .. math::
        C = -\sum_{j_1, \dots, j_k} P_y(j_1, \dots, j_k) \log P_s(j_1, \dots, j_k), \qquad
        P_s(j_1, \dots, j_k) = \prod_{t=1}^{k} \frac{e^{s_{j_t}}}{\sum_{l \notin \{j_1, \dots, j_{t-1}\}} e^{s_l}}

    the sum being over all choices of the first k of n documents, in order: :math:`n! / (n - k)!` terms.
    """

    k: int = param(
        1,
        "How many of the first places the probabilities speak of. 1 is the paper's choice; each place more costs as "
        "many times more as a query has documents, and a sum of more than ten million terms is refused.",
        low=1,
    )

    published = settings(hidden=(), optimizer="descent", batch=1, k=1, scaling="symlog", dropout=0.0, hold_out=None)
    """A linear network, top-one probabilities, a step of plain descent after each query; the paper chooses the rate and
    the number of epochs on validation data."""

    def _loss(self) -> Loss:
        return make_loss("listnet", k=self.k)


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
