"""The sites of a synthetic web: pages in trees, and what each is about.

A site has a root, sections below it, and pages below the head of a section. A few sites are about one topic only; most
have sections on several topics of one category. The *entry* of a topic is the root of a site about it, or the head of
a section about it inside a site about something else: what topic distillation seeks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, Ints
from ordino.data.columns import offsets_of
from ordino.data.web.language import Language, drawn_members

SECTION = 8  # pages of a section, on average
ASPECTS = ("content", "name", "reputation")  # what a good source has: its text, its titles and URLs, links to it
STRAYS = 0.2  # share of the pages of a section that are about a related topic
DEVOTED = 0.25  # share of the sites that are about one topic


class Sites(NamedTuple):
    """The pages of a web, site by site; all arrays have one entry for each page."""

    site: Ints
    root: Ints  # the first page of the site
    head: Ints  # the head of the page's section; heads and roots are their own
    parent: Ints  # the page above; a root is its own
    depth: Ints  # 0 for a root, 1 for a head
    topic: Ints
    worth: Floats  # (n_pages, 3), about 0 with spread 1: how good a source the page's section or site is, by ASPECTS

    @property
    def is_entry(self) -> NDArray[np.bool_]:
        """Whether the page is the entry of its topic."""
        return np.asarray((self.depth == 0) | ((self.depth == 1) & (self.topic != self.topic[self.root])))


def make_sites(n_pages: int, language: Language, rng: np.random.Generator) -> Sites:
    """Pages in sites of lognormal size, with their trees and topics."""
    sizes = np.clip(np.exp(rng.normal(3.3, 0.9, n_pages // 3 + 1)), 3, 400).astype(np.int64)
    offsets = np.minimum(offsets_of(sizes), n_pages)
    sizes = np.diff(offsets)[np.diff(offsets) > 0]
    site = np.repeat(np.arange(len(sizes)), sizes)
    page = np.arange(n_pages)
    root = offsets[site]
    n_heads = (1 + sizes // SECTION)[site]
    is_head = (page > root) & (page <= root + n_heads)
    leaf = page > root + n_heads
    section = (n_heads * rng.random(n_pages) ** 1.5).astype(np.int64)  # the first sections are larger
    head = np.where(leaf, root + 1 + section, page)
    parent = _parents(page, root, head, leaf, rng)
    depth = np.where(leaf, 2 + (parent != head), is_head.astype(np.int64))
    topic, worth = _topics(root, head, is_head, language, rng)
    return Sites(site, root, head, parent, depth, topic, worth)


def _parents(page: Ints, root: Ints, head: Ints, leaf: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """The page above each page: six in ten pages of a section are below its head, the others below one of those."""
    leaves = page[leaf][np.argsort(head[leaf], kind="stable")]
    _, first, size = np.unique(head[leaves], return_index=True, return_counts=True)
    within = np.arange(len(leaves)) - np.repeat(first, size)
    n_upper = np.repeat(np.ceil(0.6 * size).astype(np.int64), size)
    above = leaves[np.repeat(first, size) + (n_upper * rng.random(len(leaves))).astype(np.int64)]
    parent = root.copy()
    parent[leaves] = np.where(within < n_upper, head[leaves], above)
    return parent


def _topics(
    root: Ints, head: Ints, is_head: NDArray[np.bool_], language: Language, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """What each page is about, and how good a source its section is."""
    n_pages = len(root)
    every = np.zeros(language.n_topics, np.int64)
    main, any_topic = drawn_members(np.zeros(2 * n_pages, np.int64), every, language.size, rng).reshape(2, n_pages)
    main = main[root]
    related = drawn_members(language.category[main], language.category, language.size, rng)
    devoted = (rng.random(n_pages) < DEVOTED)[root]
    u = rng.random(n_pages)
    of_head = np.where(u < np.where(devoted, 0.9, 0.1), main, np.where(u < 0.95, related, any_topic))
    topic = np.where(is_head, of_head, main)
    below = head != np.arange(n_pages)
    topic[below] = np.where(rng.random(n_pages) < STRAYS, related, topic[head])[below]
    return topic, rng.standard_normal((n_pages, len(ASPECTS)))[head]
