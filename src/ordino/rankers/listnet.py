"""ListNet: cross entropy between the top-one probabilities of labels and scores (Cao et al., 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ordino.networks.scoring import NetworkRanker

if TYPE_CHECKING:
    from ordino.losses import Loss


@final
class ListNet(NetworkRanker):
    """A network that learns whole lists by their top-one probabilities.

    The parameters are those of :class:`~ordino.networks.scoring.NetworkRanker`.
    """

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss("listnet")
