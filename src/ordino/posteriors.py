r"""Probabilities of preferences that agree with each other (RankNet, section 3).

A set of target probabilities :math:`\bar P_{ij}` (i comes before j) can be learned exactly if there are ideal outputs
:math:`\bar o` with :math:`\bar P_{ij} = 1 / (1 + e^{-(\bar o_i - \bar o_j)})`. Two neighboring probabilities then
determine the third (eq. 5), and those of a chain determine all (the theorem). Training itself needs no agreement.

From given probabilities, :func:`ideal_outputs` finds the outputs (eq. 4 and 6) and refuses what does not agree;
:func:`disagreement` says how far they are from agreeing, pair by pair.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_int
from ordino.errors import DataError

AGREES = 1e-9  # how far a probability may lie from the one that outputs give, for rounding


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
    probabilities = np.empty((n, n))
    probabilities[np.ix_(items, items)] = _from_log_odds(sums)
    return probabilities


def ideal_outputs(pairs: ArrayLike, probabilities: ArrayLike, *, n: int | None = None) -> NDArray[np.float64]:
    r"""Outputs whose differences give these probabilities (eq. 4): :math:`\bar o_i - \bar o_j` is the log odds (eq. 6).

    Parameters
    ----------
    pairs
        Items ``(i, j)``, numbered from 0, shape ``(n_pairs, 2)``.
    probabilities
        That i comes before j, one for each pair. 0 and 1 are refused: no finite outputs give them.
    n
        How many items there are; one more than the largest number if None.

    Returns
    -------
    outputs
        One for each item, shape ``(n,)``, with mean 0: adding a constant to all changes no difference. If the pairs do
        not connect all items, each part that they connect has mean 0.

    Examples
    --------
    Odds of 3 to 1 and 3 to 1 must make 9 to 1; log 3 is 1.0986.

    >>> ideal_outputs([(0, 1), (1, 2), (0, 2)], [0.75, 0.75, 0.9]).round(4).tolist()
    [1.0986, 0.0, -1.0986]
    >>> ideal_outputs([(0, 1), (1, 2), (2, 0)], [0.75, 0.75, 0.75])
    Traceback (most recent call last):
    ordino.errors.DataError: no outputs give these probabilities: P(0 before 1) is 0.75, but those nearest make it 0.5
    """
    items, given, outputs = _nearest(pairs, probabilities, n)
    implied = _from_log_odds(outputs[items[:, 0]] - outputs[items[:, 1]])
    missed = np.abs(implied - given)
    if missed.max(initial=0.0) > AGREES:
        worst = int(np.argmax(missed))
        raise DataError(
            f"no outputs give these probabilities: P({items[worst, 0]} before {items[worst, 1]}) is "
            f"{given[worst]:.6g}, but those nearest make it {implied[worst]:.6g}"
        )
    return outputs


def disagreement(pairs: ArrayLike, probabilities: ArrayLike, *, n: int | None = None) -> NDArray[np.float64]:
    r"""How far each probability lies from the one that outputs can give its pair, shape ``(n_pairs,)``.

    The probabilities agree, so that training can reach them all, if and only if every value is 0 (but for rounding).
    The outputs are those whose differences are nearest to the given log odds by least squares. The arguments are those
    of :func:`ideal_outputs`.

    Examples
    --------
    A before B, B before C and C before A, each with 3 to 1: outputs can do no better than even odds for all.

    >>> disagreement([(0, 1), (1, 2), (2, 0)], [0.75, 0.75, 0.75]).round(6).tolist()
    [0.25, 0.25, 0.25]

    Odds of 3 to 1 and 3 to 1 make 9 to 1, as eq. 5 asks.

    >>> np.abs(disagreement([(0, 1), (1, 2), (0, 2)], [0.75, 0.75, 0.9])).max() < 1e-12
    np.True_
    """
    items, given, outputs = _nearest(pairs, probabilities, n)
    return given - _from_log_odds(outputs[items[:, 0]] - outputs[items[:, 1]])


def _nearest(
    pairs: ArrayLike, probabilities: ArrayLike, n: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Checked pairs and probabilities, and the outputs whose differences are nearest to the log odds."""
    items, given = np.asarray(pairs), _probabilities("probabilities", probabilities)
    if items.ndim != 2 or items.shape[1:] != (2,) or items.dtype.kind not in "iu" or given.shape != (len(items),):
        raise DataError("pairs must be rows (i, j) of item numbers, with one probability for each")
    count = int(items.max(initial=-1)) + 1 if n is None else check_int("n", n, low=1)
    if items.min(initial=0) < 0 or items.max(initial=-1) >= count:
        raise DataError(f"pairs has the items {items.min()} to {items.max()}; they must lie between 0 and {count - 1}")
    if ((given == 0) | (given == 1)).any():
        raise DataError("probabilities has a 0 or a 1, which no finite outputs give; use values between them")
    if (items[:, 0] == items[:, 1]).any():
        raise DataError("pairs has an item with itself; give pairs of different items")
    first, second = items.T.astype(np.int64)
    return np.column_stack((first, second)), given, _outputs(first, second, np.log(given) - np.log1p(-given), count)


def _outputs(
    first: NDArray[np.int64], second: NDArray[np.int64], odds: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Least squares by its normal equations, whose matrix is the Laplacian of the graph that the pairs make."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import splu

    met = coo_array((np.ones(2 * len(odds)), (np.append(first, second), np.append(second, first))), shape=(n, n))
    laplacian = (diags_array(met.sum(axis=0)) - met).tocsc()
    pull = np.bincount(first, odds, n) - np.bincount(second, odds, n)
    _, part = connected_components(met, directed=False)
    free = np.ones(n, bool)
    free[np.unique(part, return_index=True)[1]] = False  # one item of each part has the output 0, until all are moved
    outputs = np.zeros(n)
    if free.any():
        outputs[free] = splu(laplacian[free][:, free].tocsc()).solve(pull[free])
    return np.asarray(outputs - (np.bincount(part, outputs) / np.bincount(part))[part])


def _from_log_odds(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eq. 4."""
    small = np.exp(-np.abs(odds))
    return np.asarray(np.where(odds >= 0, 1 / (1 + small), small / (1 + small)))


def _probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if not ((array >= 0) & (array <= 1)).all():
        raise DataError(f"{name} has values outside 0 to 1; give probabilities")
    return array
