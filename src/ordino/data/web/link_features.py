"""Features of pages by their links: PageRank, HostRank, HITS, and the topical forms of PageRank and HITS."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ordino.arrays import Floats, Ints
from ordino.data.web.sites import Sites

DAMPING = 0.85
STAY = 0.7  # probability that a surfer who follows a link keeps to the category of the page before
STEPS = 100  # of the power method: an error shrinks by DAMPING in each step of PageRank


def link_table(source: Ints, target: Ints, n_pages: int) -> sparse.csr_array:
    """1 where a page links to another, however often; shape ``(n_pages, n_pages)``."""
    table = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(n_pages, n_pages)).tocsr()
    table.data[:] = 1
    return table


def pagerank(links: sparse.csr_array) -> Floats:
    """PageRank: the share of time of a surfer who follows links at random, or jumps anywhere with probability 0.15.

    From a page without links the surfer jumps. Links may have weights.
    """
    return topical_pagerank(links, np.ones((links.shape[0], 1)))[:, 0]


def topical_pagerank(links: sparse.csr_array, shares: Floats) -> Floats:
    """Topical PageRank (Nie, Davison and Qi, 2006): PageRank divided among categories, ``(n_pages, n_categories)``.

    A surfer who follows a link stays with the category, or takes up one of the page he leaves; one who jumps takes up a
    category of the page where he lands. ``shares`` has the categories of each page; its rows sum to 1.
    """
    n_pages = links.shape[0]
    out = np.asarray(links.sum(axis=1))
    onward = links.T.tocsr() * inverse(out)  # column by column: each page divides what it has among its links
    rank = shares / n_pages
    for _ in range(STEPS):
        total = rank.sum(axis=1)
        followed = onward @ (STAY * rank + (1 - STAY) * total[:, None] * shares)
        jumping = (1 - DAMPING) + DAMPING * total[out == 0].sum()
        rank = DAMPING * followed + jumping * shares / n_pages
    return np.asarray(rank)


def hostrank(links: sparse.csr_array, sites: Sites) -> Floats:
    """HostRank after Xue et al. (2005): the PageRank of a site, divided among its pages.

    Sites are ranked by the links between them, as many as there are. Half of a site's rank goes to its pages by their
    place in the tree (1 / (1 + depth)), half by the links from other sites, of which each page counts one more than it
    has.
    """
    n_sites = int(sites.site[-1]) + 1
    pairs = links.tocoo()
    outside = sites.site[pairs.row] != sites.site[pairs.col]
    source, target = sites.site[pairs.row[outside]], sites.site[pairs.col[outside]]
    between = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(n_sites, n_sites)).tocsr()
    rank = pagerank(between)[sites.site]
    by_place = _shares_of_sites(1 / (1.0 + sites.depth), sites)
    by_links = _shares_of_sites(1.0 + np.bincount(pairs.col[outside], minlength=len(sites.site)), sites)
    return np.asarray(rank * (by_place + by_links) / 2)


def _shares_of_sites(weight: NDArray[np.floating], sites: Sites) -> Floats:
    return np.asarray(weight / np.bincount(sites.site, weights=weight)[sites.site])


def hits(links: sparse.csr_array) -> tuple[Floats, Floats]:
    """HITS (Kleinberg, 1999): authorities and hubs, each summing to 1; all 0 where there is no link."""
    authority, hub = topical_hits(links, np.ones((links.shape[0], 1)))
    return authority[:, 0], hub[:, 0]


def topical_hits(links: sparse.csr_array, shares: Floats) -> tuple[Floats, Floats]:
    """Topical HITS (Nie, Davison and Qi, 2006): authorities and hubs by category, ``(n_pages, n_categories)`` each.

    What flows along a link keeps its category with probability 0.7, or takes up one of the page it comes from.
    """
    back = links.T.tocsr()
    hub = shares / len(shares)
    authority = np.zeros_like(hub)
    for _ in range(STEPS):
        authority = _to_one(back @ _mixed(hub, shares))
        hub = _to_one(links @ _mixed(authority, shares))
    return authority, hub


def _mixed(value: Floats, shares: Floats) -> Floats:
    return np.asarray(STAY * value + (1 - STAY) * value.sum(axis=1)[:, None] * shares)


def _to_one(values: Floats) -> Floats:
    return np.asarray(values / (values.sum() or 1.0))


def inverse(values: Floats) -> Floats:
    """One over each value; 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
