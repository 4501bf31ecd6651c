"""Which pairs SortNet adds in an iteration: those that its sort mis-compared, as in the paper, or as many others.

Other ways than the paper's look at pairs drawn alike from every query: :data:`CANDIDATES` times as many as the sort
mis-compared, so that all ways add about the same number of pairs and differ only in which.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.networks.learning_sets import draw_pairs
from ordino.order import PairNetwork

Codes = NDArray[np.int64]

WAYS: Mapping[str, str] = MappingProxyType(
    {
        "mis-compared": "all pairs that the sort got wrong, as in the paper",
        "margin": "those that stand most wrong among pairs drawn at random",
        "uncertain": "those closest to a tie among pairs drawn at random",
        "uniform": "pairs drawn at random",
        "curriculum": "those that the sort got wrong, the nearly right ones first",
    }
)
"""How pairs are chosen, by name."""

CANDIDATES = 10
MOST_CANDIDATES = 200_000
HALF = 0.5  # of the iterations, after which the curriculum has everything


def choose_pairs(
    way: str, data: Dataset, network: PairNetwork, miscompared: Codes, progress: float, rng: np.random.Generator
) -> Codes:
    """The pairs to add, ``better * n_docs + worse`` each.

    ``progress`` is the share of the iterations that is done, from 0 to 1, for the curriculum.
    """
    if way == "curriculum":
        n_kept = int(np.ceil(len(miscompared) * min(max(progress, 0.0) / HALF, 1.0)))
        nearly = np.argsort(-surely(network, data, miscompared), kind="stable")
        return miscompared[nearly[: max(n_kept, min(1, len(miscompared)))]]
    if not len(miscompared):
        return miscompared
    many = 1 if way == "uniform" else CANDIDATES
    drawn = draw_pairs(data.y, data.offsets, "C", min(many * len(miscompared), MOST_CANDIDATES), rng)
    codes = np.unique(better_first(drawn.codes, drawn.target, data.n_docs))
    if way == "uniform":
        return codes
    right = surely(network, data, codes)
    doubt = right if way == "margin" else np.abs(right - 0.5)
    return codes[np.argsort(doubt, kind="stable")[: len(miscompared)]]


def surely(network: PairNetwork, data: Dataset, codes: Codes) -> NDArray[np.float64]:
    """The probability that the comparator gives to the right order of each pair."""
    better, worse = np.divmod(codes, data.n_docs)
    return network.compare(data.X[better], data.X[worse])


def better_first(codes: Codes, target: NDArray[np.float64], n_docs: int) -> Codes:
    """Pairs with the better document first.

    Examples
    --------
    >>> better_first(np.array([1, 2]), np.array([1.0, 0.0]), 4).tolist()  # 0 before 1; 0 after 2
    [1, 8]
    """
    first, second = np.divmod(codes, n_docs)
    return np.where(target > 0.5, codes, second * n_docs + first)
