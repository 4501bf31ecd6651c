"""RankCosine: the cosine between the scores and the labels of a query (Qin et al., 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ordino.networks.scoring import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


@final
class RankCosine(NetworkRanker):
    """A network that learns to point in the direction of the labels.

    The parameters are those of :class:`~ordino.networks.scoring.NetworkRanker`.
    """

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("rankcosine")
