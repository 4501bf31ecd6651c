"""LambdaRank: RankNet's gradient, a pair weighted by what its swap changes in a measure (Burges et al., 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ordino.networks.scoring import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


@final
class LambdaRank(NetworkRanker):
    """A scoring network that learns where an error costs most in its ``metric`` (NDCG@k, MAP or MRR).

    The parameters are those of :class:`~ordino.networks.scoring.NetworkRanker`.
    """

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("lambdarank", metric=self.metric)
