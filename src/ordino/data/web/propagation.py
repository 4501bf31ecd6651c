r"""Features of relevance that spreads between pages: along sitemaps (Qin et al., 2005) and links (Shakery, Zhai).

A *score* is spread as it is; a *feature* is the count of each word of the query, which is spread before BM25 is
computed of it. Scores and counts have shape ``(n_pages, ...)``; weights are sparse, ``(n_pages, n_pages)``.
"""

import numpy as np
from scipy import sparse

from ordino.arrays import Floats, Ints
from ordino.data.web.link_features import inverse

UP = 0.9  # weight of a page's own value beside the mean of its children (alpha)
OWN = 0.7  # weight of a page's own value beside those at the other end of its links
STEPS = 10


def from_children(values: Floats, parent: Ints) -> Floats:
    r"""What a page has and, on average, its children have: :math:`(1 + \alpha) v + (1 - \alpha)\, mean(v_{child})`.

    ``parent`` is the page above each page; a root is its own, and nobody's child.
    """
    child = np.flatnonzero(parent != np.arange(len(parent)))
    total, n_children = np.zeros_like(values), np.bincount(parent[child], minlength=len(parent))
    np.add.at(total, parent[child], values[child])
    mean = (total.T / np.maximum(n_children, 1)).T
    return np.asarray((1 + UP) * values + (1 - UP) * mean)


def link_weights(links: sparse.csr_array, score: Floats | None) -> sparse.csr_array:
    """How much each page takes from the pages that it links to: evenly, or by their score; rows sum to 1 (or 0)."""
    weighted = links if score is None else links * np.maximum(score, 0)
    return sparse.csr_array(sparse.diags_array(inverse(np.asarray(weighted.sum(axis=1), np.float64))) @ weighted)


def along_links(values: Floats, weights: sparse.csr_array, steps: int = STEPS) -> Floats:
    r"""The value after some steps of :math:`h = \alpha v + (1 - \alpha) W h`."""
    spread = values
    for _ in range(steps):
        spread = OWN * values + (1 - OWN) * (weights @ spread)
    return np.asarray(spread)
