"""Python's sort with a comparator that is asked once for two documents: how DeepNet's thesis sorts (section 3.1).

A symmetric network answers [x, y] and [y, x] alike, so for it this is a slow sort among others. A dense network may
contradict itself: what counts then is the order in which the sort meets the two.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets
from ordino.order.network import PairNetwork


def sort_once(network: PairNetwork, X: ArrayLike, offsets: ArrayLike) -> NDArray[np.int64]:
    """Row numbers, best first within each query, from the rows as they stand.

    x goes before y if N>([x, y]) is more than N<([x, y]), whatever the network says of [y, x]. Every comparison is a
    call of Python's: :func:`~ordino.order.sort_queries` is hundreds of times faster, and asks in both orders.

    Examples
    --------
    A network that says "the first of the two" whatever it sees; Python's sort asks for [later row, earlier row].

    >>> from ordino.layers import Layer
    >>> the_first = PairNetwork([[0]], [[0]], [0], (Layer([[0, 0]], [1, 0]),))
    >>> sort_once(the_first, [[1.0], [2.0]], [0, 2]).tolist()
    [1, 0]

    One whose N> rises with y - x puts small numbers first.

    >>> smaller = PairNetwork([[-1]], [[1]], [0], (Layer([[1, 0]], [0, 0.5]),))
    >>> sort_once(smaller, [[3.0], [1.0], [2.0], [5.0], [4.0]], [0, 3, 5]).tolist()
    [1, 2, 0, 4, 3]
    """
    features = network.check_features(X)
    left, right = features @ network.left + network.bias, features @ network.right
    bounds, top = check_offsets(offsets, len(features)), network.deeper[-1]
    weights, bias = top.W[:, 1] - top.W[:, 0], top.b[1] - top.b[0]

    def later(x: int, y: int) -> int:
        """Less than 0 if the network puts x first of the pair [x, y]."""
        return int(np.sign(network.hidden_values((left[x] + right[y])[None])[-1][0] @ weights + bias))

    orders = [sorted(range(start, stop), key=cmp_to_key(later)) for start, stop in pairwise(bounds.tolist())]
    return np.array([row for order in orders for row in order], np.int64)
