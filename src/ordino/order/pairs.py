"""The form of comparators: a pair network whose sort makes the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.data.dataset import Dataset
from ordino.data.kernels import hash_rows
from ordino.forms import Form, require
from ordino.order.network import PairNetwork
from ordino.order.sorting import scores_from_order, sort_once, sort_queries


@final
@dataclass(frozen=True, eq=False)
class Pairs(Form):
    """A network that says which of two documents comes first; each query is sorted by it."""

    kind: ClassVar[str] = "pairs"

    network: PairNetwork
    algorithm: str = "merge"
    n_jobs: int | None = None
    asked: str = "both"
    """Whether the sort asks the network in both orders of two documents, or once."""

    def score_scaled(self, data: Dataset, start: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Places in the sorted query, the last has 0; ``start`` is the :func:`content_order`, if known already."""
        start = content_order(data) if start is None else start
        if self.asked == "once":
            order = start[sort_once(self.network, data.X[start], data.offsets)]
        else:
            order = sort_queries(
                self.network, data.X, data.offsets, algorithm=self.algorithm, start=start, n_jobs=self.n_jobs
            ).order
        return scores_from_order(order, data.offsets)

    def check(self) -> None:
        """A pair network of these features."""
        require(isinstance(self.network, PairNetwork) and self.network.n_features == self.n_features, "network_")


def content_order(data: Dataset) -> NDArray[np.intp]:
    """Row numbers of each query ordered by what the rows hold: where a sort starts.

    A comparator need not be transitive, so where a sort starts may show: it must not be the order of the rows.
    """
    hashes = hash_rows(np.ascontiguousarray(data.X), np.empty((data.n_docs, 0), np.uint64))
    return np.lexsort((hashes, query_numbers(data.offsets)))
