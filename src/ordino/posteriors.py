r"""Probabilities of preferences that agree with each other (RankNet, section 3).

A set of target probabilities :math:`\bar P_{ij}` (i comes before j) can be learned exactly if there are ideal outputs
:math:`\bar o` with :math:`\bar P_{ij} = 1 / (1 + e^{-(\bar o_i - \bar o_j)})`. Two neighboring probabilities then
determine the third (eq. 5), and those of a chain determine all (the theorem). Training itself needs no agreement.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import DataError


def combine(p_ij: ArrayLike, p_jk: ArrayLike) -> NDArray[np.float64]:
    r"""The probability that i comes before k, from those of i before j and of j before k (eq. 5), element by element.

    .. math:: P_{ik} = \frac{P_{ij} P_{jk}}{1 + 2 P_{ij} P_{jk} - P_{ij} - P_{jk}}

    Certainty that i comes before j and after it that k comes before j says nothing of i and k: that is refused.

    Examples
    --------
    Odds multiply: 3 to 1 and 3 to 1 make 9 to 1.

    >>> float(combine(0.75, 0.75))
    0.9
    >>> float(combine(0.5, 0.5)), float(combine(1.0, 0.3))
    (0.5, 1.0)
    """
    first, second = _probabilities("p_ij", p_ij), _probabilities("p_jk", p_jk)
    both, neither = first * second, (1 - first) * (1 - second)
    if (both + neither == 0).any():
        raise DataError("a probability of 1 and one of 0 cannot be combined: one says first, the other last")
    return np.asarray(both / (both + neither))


def repeat(p: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    r"""The probability over n steps that each have probability p (the lemma): :math:`\Delta^n / (1 + \Delta^n)`.

    :math:`\Delta = p / (1 - p)` are the odds of one step; n need not be whole.

    Examples
    --------
    >>> repeat(0.75, [1, 2, 3]).round(3).tolist()  # odds 3, 9, 27
    [0.75, 0.9, 0.964]
    """
    step, steps = _probabilities("p", p), np.asarray(n, np.float64)
    if not (steps > 0).all():
        raise DataError("n has a number of steps that is not positive; give numbers above 0")
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1 / (1 + ((1 - step) / step) ** steps))


def all_from_adjacent(adjacent: ArrayLike, order: ArrayLike | None = None) -> NDArray[np.float64]:
    r"""Every pair's probability from those of neighbors in a chain (the theorem).

    Log odds add up along the chain: :math:`\bar o_{jk} = \sum_{m=j}^{k-1} \log (P_{m,m+1} / (1 - P_{m,m+1}))`.

    Parameters
    ----------
    adjacent
        ``adjacent[i]`` is the probability that item ``order[i]`` comes before ``order[i + 1]``, shape ``(m - 1,)``.
        A 1 and a 0 must not both lie between two items: nothing would be known of these two.
    order
        The items 0 to m - 1 in the order of the chain (the permutation Q); as they are if None.

    Returns
    -------
    probabilities
        ``probabilities[i, j]`` that item i comes before item j, shape ``(m, m)``; 1/2 of an item and itself.

    Examples
    --------
    Odds of 3 to 1 and even odds: the first comes before the last with 3 to 1.

    >>> all_from_adjacent([0.75, 0.5]).round(9).tolist()
    [[0.5, 0.75, 0.75], [0.25, 0.5, 0.5], [0.25, 0.5, 0.5]]
    """
    chain = _probabilities("adjacent", adjacent)
    if chain.ndim != 1:
        raise DataError(f"adjacent has shape {chain.shape}; give one probability for each pair of neighbors")
    n = len(chain) + 1
    items = np.arange(n) if order is None else np.asarray(order)
    if items.shape != (n,) or not np.array_equal(np.sort(items), np.arange(n)):
        raise DataError(f"order must name each of the {n} items 0 to {n - 1} once")
    certain, excluded = chain == 1, chain == 0
    inner = np.where(certain | excluded, 0.5, chain)
    odds = np.log(inner) - np.log1p(-inner)
    steps = np.concatenate((np.zeros((3, 1)), np.cumsum([odds, certain, excluded], axis=1)), axis=1)  # (3, m)
    along = steps[:, None, :] - steps[:, :, None]  # from the row's place in the chain to the column's
    sums, ones, zeros = along
    if ((ones != 0) & (zeros != 0)).any():
        raise DataError("adjacent has both a 1 and a 0, so items on either side of them cannot be compared")
    sums[ones != 0] = np.copysign(np.inf, ones[ones != 0])
    sums[zeros != 0] = np.copysign(np.inf, -zeros[zeros != 0])
    small = np.exp(-np.abs(sums))
    probabilities = np.empty((n, n))
    probabilities[np.ix_(items, items)] = np.where(sums >= 0, 1 / (1 + small), small / (1 + small))
    return probabilities


def _probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if not ((array >= 0) & (array <= 1)).all():
        raise DataError(f"{name} has values outside 0 to 1; give probabilities")
    return array
