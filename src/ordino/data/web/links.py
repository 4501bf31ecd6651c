"""The links of a synthetic web: inside a site along its tree, between sites toward good sources on the same topic."""

from typing import NamedTuple

import numpy as np

from ordino.arrays import Floats, Ints
from ordino.data.web.language import drawn_members
from ordino.data.web.sites import ASPECTS, Sites

HUBS = 0.02  # share of the pages that list links
HUB_LINKS = (10, 50)
LINKS = 0.7  # links to other sites from any other page, on average
SAME_TOPIC = 0.75  # share of the links to other sites that stay with the topic
ATTRACTION = (2.0, 1.5, 1.0, 1.0)  # of a page at depth 0, 1, 2, 3 for links from other sites
MENU = 3.0  # links to any page of the same site, on average
IN_MENU = (1.5, 1.2, 1.0, 1.0)  # how often the menus of a site have a page at depth 0, 1, 2, 3
POPULARITY = 1.0  # spread of the logarithm of what makes a page linked to without being a better source


class Links(NamedTuple):
    """Links in no particular order; one page may link to another twice."""

    source: Ints
    target: Ints


def make_links(sites: Sites, by_worth: float, rng: np.random.Generator) -> Links:
    """The links of all pages; ``by_worth`` is how strongly good sources attract links from other sites."""
    page = np.arange(len(sites.site))
    below = page[sites.parent != page]

    def some(pages: Ints, share: float) -> Ints:
        return pages[rng.random(len(pages)) < share]

    popularity = np.exp(rng.normal(0, POPULARITY, len(page)))
    down, up = some(below, 0.9), some(below, 0.6)
    inside = np.repeat(page, rng.poisson(MENU, len(page)))
    menu = drawn_members(sites.site[inside], sites.site, popularity * np.array(IN_MENU)[sites.depth], rng)
    source, target = _between_sites(
        sites, popularity * np.exp(by_worth * sites.worth[:, ASPECTS.index("reputation")]), rng
    )
    sources = [sites.parent[down], up, inside, source]
    targets = [down, sites.parent[up], menu, target]
    return Links(np.concatenate(sources), np.concatenate(targets))


def _between_sites(sites: Sites, popularity: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
    n_pages = len(sites.site)
    is_hub = rng.random(n_pages) < HUBS
    n_links = np.where(is_hub, rng.integers(*HUB_LINKS, n_pages), rng.poisson(LINKS, n_pages))
    source = np.repeat(np.arange(n_pages), n_links)
    elsewhere = sites.topic[rng.integers(0, n_pages, len(source))]
    topic = np.where(rng.random(len(source)) < SAME_TOPIC, sites.topic[source], elsewhere)
    target = drawn_members(topic, sites.topic, popularity * np.array(ATTRACTION)[sites.depth], rng)
    between = sites.site[source] != sites.site[target]
    return source[between], target[between]
