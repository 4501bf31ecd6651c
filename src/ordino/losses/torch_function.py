"""Any loss as a function of torch tensors, for training loops of your own.

The value and the gradient are those of the compiled loss; torch only carries the gradient on. Scores on a GPU are
copied to the processor and the gradient back, which costs little beside the network that made them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.errors import DataError, import_extra
from ordino.losses.base import Loss
from ordino.losses.table import make_loss

if TYPE_CHECKING:
    from torch import Tensor


def torch_loss(name: str, **parameters: Any) -> TorchLoss:
    """A loss of ``LOSSES`` with these parameters, as a function of torch tensors.

    ``torch_loss("lambdarank", metric="map")(scores, y, offsets)`` is a tensor with one number, whose ``backward()``
    fills in gradients like any other loss of torch; see :class:`TorchLoss` for the arguments.
    """
    import_extra("torch", extra="torch", purpose="torch_loss()")
    return TorchLoss(make_loss(name, **parameters))


@final
@dataclass(frozen=True)
class TorchLoss:
    """A loss that torch can differentiate once; made by :func:`torch_loss`."""

    loss: Loss

    def __call__(
        self, scores: Tensor, y: Any, offsets: Any = None, *, mask: Tensor | None = None, weights: Any = None
    ) -> Tensor:
        """The loss of the scores, a tensor with one number, of their type and on their device.

        Parameters
        ----------
        scores
            Scores of documents, shape ``(n_docs,)``, or of lists, shape ``(n_lists, list_size)``.
        y, weights
            Labels of the documents, and how much each counts, in the shape of scores; tensors or arrays.
        offsets
            Of documents: query ``q`` owns ``offsets[q]:offsets[q + 1]``; None makes all of them one query.
        mask
            Of lists: True for a document, False for padding, in the shape of scores; None if there is no padding.
            What stands in the padding of scores, y and weights does not count, and gets no gradient.
        """
        import torch

        columns = [None if column is None else _array(column) for column in (y, weights)]
        if scores.ndim == 2:
            if offsets is not None:
                raise DataError("scores of lists need no offsets; leave them out, or give scores of shape (n_docs,)")
            real = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.to(scores.device, torch.bool)
            if any(one is not None and one.shape != scores.shape for one in (real, *columns)):
                raise DataError(f"scores has shape {tuple(scores.shape)}; y, mask and weights must have it too")
            kept = _array(real)
            columns = [None if column is None else column[kept] for column in columns]
            scores, offsets = scores[real], np.append(0, np.cumsum(kept.sum(axis=1)))
        elif mask is not None:
            raise DataError("mask is for scores of lists, shape (n_lists, list_size); documents have offsets instead")
        bounds = np.array([0, len(scores)]) if offsets is None else _array(offsets)
        value: Tensor = _function().apply(scores, self.loss, columns[0], bounds, columns[1])
        return value


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


@cache
def _function() -> Any:
    """The function that torch differentiates; its class can only be made when torch is there."""
    import torch
    from torch.autograd.function import once_differentiable

    class CompiledLoss(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, scores: Tensor, loss: Loss, y: Any, offsets: Any, weights: Any) -> Tensor:
            precise = scores.detach().to("cpu", torch.float64 if scores.dtype == torch.float64 else torch.float32)
            value, gradient = loss.value_and_gradient(precise.numpy(), y, offsets, weights=weights)
            ctx.save_for_backward(torch.from_numpy(gradient).to(scores.device, scores.dtype))
            return scores.new_tensor(value)

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, change: Tensor) -> tuple[Tensor | None, ...]:
            return change * ctx.saved_tensors[0], None, None, None, None

    return CompiledLoss
