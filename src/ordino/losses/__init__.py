"""Loss functions: pure functions of scores, labels and offsets, with their gradients.

``make_loss("ranknet").value_and_gradient(scores, y, offsets)`` gives a value and a gradient for the scores of any
model: a linear model, a network, trees (:func:`~ordino.losses.trees_objective.lightgbm_objective`). ``LOSSES`` has
every loss by name; :func:`pair_loss` gives the functions behind the pairwise ones, :func:`torch_loss` any of them as a
function of torch tensors.
"""

from ordino.losses.base import Loss
from ordino.losses.table import LOSSES, LossEntry, make_loss, pair_loss, probability_losses
from ordino.losses.torch_function import torch_loss

__all__ = ["LOSSES", "Loss", "LossEntry", "make_loss", "pair_loss", "probability_losses", "torch_loss"]
