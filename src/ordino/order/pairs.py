"""The form of comparators: a pair network, and the order that its comparisons make."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets, query_numbers
from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.data.kernels import hash_rows
from ordino.forms import Form, require
from ordino.order.meetings import order_by_totals
from ordino.order.network import PairNetwork
from ordino.order.orders import ORDERS, SORTS
from ordino.order.sorting import check_order, places_from_end, sort_checked, sort_once

TOP = 250
"""How many documents of a long query are compared with all others, unless another number is asked for."""


@final
@dataclass(frozen=True, eq=False)
class Pairs(Form):
    """A network that says which of two documents comes first; its comparisons order each query."""

    kind: ClassVar[str] = "pairs"

    network: PairNetwork
    algorithm: str = "merge"
    n_jobs: int | None = None
    asked: str = "both"
    """Whether the network is asked in both orders of two documents, or once, by Python's sort."""
    top: int | None = TOP

    def score_scaled(self, data: Dataset, start: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Places in the ordered query, the last has 0; ``start`` is the :func:`content_order`, if known already."""
        start = content_order(data) if start is None else start
        if self.asked == "once":
            order = start[sort_once(self.network, data.X[start], data.offsets)]
        else:
            order = order_checked(self.network, data.X, data.offsets, self.algorithm, self.top, start, self.n_jobs)
        return places_from_end(order, data.offsets)

    def check(self) -> None:
        """A pair network of these features."""
        require(isinstance(self.network, PairNetwork) and self.network.n_features == self.n_features, "network_")


def order_queries(
    network: PairNetwork, X: ArrayLike, offsets: ArrayLike, *, algorithm: str = "copeland", top: int | None = TOP,
    start: ArrayLike | None = None, n_jobs: int | None = None,
) -> NDArray[np.int64]:  # fmt: skip
    """Row numbers, best first within each query, by one of :data:`ORDERS`.

    Parameters
    ----------
    network
        The comparator.
    X, offsets
        Features, and where each query starts: query q owns rows ``offsets[q]:offsets[q + 1]``.
    algorithm
        "copeland" and "borda" let all documents of a query meet, and do not depend on the order of the rows. The sorts
        make fewer comparisons; where the comparator is not transitive, their order depends on where they start.
    top
        In a query of more than 1,000 documents, only this many meet all others when the algorithm is over all pairs:
        those that win most against a sample of 128, which also orders the rest. None lets all meet, as do all where
        that is no more comparisons.
    start
        The row numbers in the order from which a sort starts and by which documents with equal totals are put in order;
        by default that of the documents' contents.
    n_jobs
        Threads; None takes the free processors. The result does not depend on it.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> order_queries(larger_first, [[1.0], [3.0], [2.0], [5.0], [6.0]], [0, 3, 5]).tolist()
    [1, 2, 0, 4, 3]
    """
    features = network.check_features(X)
    bounds = check_offsets(offsets, len(features))
    rows = _by_content(features, bounds) if start is None else check_order(start, bounds)
    return order_checked(network, features, bounds, algorithm, top, rows, n_jobs)


def order_checked(
    network: PairNetwork, X: NDArray[np.float32], offsets: NDArray[np.int64], algorithm: str, top: int | None,
    start: NDArray[np.integer], n_jobs: int | None,
) -> NDArray[np.int64]:  # fmt: skip
    """What :func:`order_queries` gives for arrays that are checked; a ranker's algorithm may be set after fit."""
    check_choice("algorithm", algorithm, ORDERS)
    if algorithm in SORTS:
        return sort_checked(network, X, offsets, algorithm, None, start, n_jobs).order
    return order_by_totals(network, X, offsets, algorithm, top, start.astype(np.int64), n_jobs)


def content_order(data: Dataset) -> NDArray[np.intp]:
    """Row numbers of each query ordered by what the rows hold: where a sort starts.

    A comparator need not be transitive, so where a sort starts may show: it must not be the order of the rows.
    """
    return _by_content(data.X, data.offsets)


def _by_content(X: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.intp]:
    hashes = hash_rows(np.ascontiguousarray(X), np.empty((len(X), 0), np.uint64))
    return np.lexsort((hashes, query_numbers(offsets)))
