"""Loss functions: pure functions of scores, labels and offsets, with their gradients.

``make_loss("ranknet").value_and_gradient(scores, y, offsets)`` gives a value and a gradient for the scores of any
model: a linear model, a network, trees (:func:`~ordino.losses.trees_objective.lightgbm_objective`). ``LOSSES`` has
every loss by name; :func:`pair_loss` gives the functions behind the pairwise ones.
"""

from ordino.losses.base import Loss
from ordino.losses.table import LOSSES, LossEntry, make_loss, pair_loss, probability_losses

__all__ = ["LOSSES", "Loss", "LossEntry", "make_loss", "pair_loss", "probability_losses"]
