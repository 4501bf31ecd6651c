"""Any loss as an objective for LightGBM's trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.losses.base import Loss

LEAST = 1e-3  # hessian of a document that has no pair, so that no leaf divides by nothing


def lightgbm_objective(
    loss: Loss, data: Dataset, *, n_jobs: int | None = None
) -> Callable[[NDArray[Any], Any], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """An objective for ``lgb.train({"objective": lightgbm_objective(loss, data)}, ...)``: gradient and hessian.

    Gradient and curvature of the loss are multiplied by the number of documents, so that a document's hessian is about
    1 whatever the size of the data, as LightGBM's own limits (``min_sum_hessian_in_leaf``, ``lambda_l2``) expect.

    Parameters
    ----------
    loss
        A loss made by :func:`ordino.losses.make_loss`.
    data
        The data set that LightGBM trains on; its rows, in its order, must be those of the ``lightgbm.Dataset``. Its
        weights are used; LightGBM's own weights are not.
    n_jobs
        Number of threads; None takes the free processors.

    Examples
    --------
    >>> from ordino.losses import make_loss
    >>> data = Dataset([[0.0], [1.0]], [0, 1])
    >>> gradient, hessian = lightgbm_objective(make_loss("ranknet"), data)(np.zeros(2), None)
    >>> gradient.tolist(), hessian.tolist()  # two documents times 1/2 and 1/4
    ([1.0, -1.0], [0.501, 0.501])
    """

    def objective(scores: NDArray[Any], _: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        now = np.asarray(scores, np.float64)
        _value, gradient = loss.value_and_gradient(now, data.y, data.offsets, weights=data.weights, n_jobs=n_jobs)
        bend = loss.curvature(now, data.y, data.offsets, weights=data.weights, n_jobs=n_jobs)
        return gradient * data.n_docs, bend * data.n_docs + LEAST

    return objective
