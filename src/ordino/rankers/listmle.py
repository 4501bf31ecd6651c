"""ListMLE: the likelihood of the order that the labels give (Xia et al., 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ordino.networks.scoring import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


@final
class ListMLE(NetworkRanker):
    """A network that learns the likelihood of the right order.

    The parameters are those of :class:`~ordino.networks.scoring.NetworkRanker`.
    """

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("listmle")
