"""What the pages of a synthetic web say: body, title, extracted title, URL and the anchor text of links to them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ordino.arrays import Floats, Ints, query_numbers, row_blocks
from ordino.data.columns import offsets_of
from ordino.data.web.language import N_WORDS, TITLE_WORDS, Language
from ordino.data.web.links import Links
from ordino.data.web.sites import Sites

REPEATED = 0.15  # share of the pages below a head that repeat its title
STEADINESS = 6.0  # the larger, the less pages differ in how much of their body is about their topic
TITLE_LENGTH = 5.0  # words of a title beyond two, on average
_BLOCK_PAGES = 8192  # bodies that are made at a time


class Speech(NamedTuple):
    """How plainly pages tell what they are about; shares of words that are of the topic."""

    body: float  # of the body of a page below an entry, on average
    entry_body: float  # of the body of an entry: navigation rather than text
    title: float
    entry_title: float
    anchor: float  # share of links whose text is from the title of the page that they lead to
    url: float
    by_worth: float  # how much more plainly good sources speak: factor exp(by_worth * worth)


class Texts(NamedTuple):
    """Counts of words in each field of each page, sparse, shape ``(n_pages, N_WORDS)``."""

    body: sparse.csr_array
    anchor: sparse.csr_array
    title: sparse.csr_array
    url: sparse.csr_array
    extracted_title: sparse.csr_array

    @property
    def whole(self) -> sparse.csr_array:
        """Everything that a page says, and that others say of it: body, title, URL and anchor text."""
        return self.body + self.title + self.url + self.anchor


def make_texts(sites: Sites, links: Links, language: Language, speech: Speech, rng: np.random.Generator) -> Texts:
    """Draw the text of all pages."""
    n_pages = len(sites.site)
    upper = sites.depth < 2
    content, name, _ = np.exp(speech.by_worth * sites.worth.T) * language.plainness[sites.topic]
    title, heading = _titles(sites, language, np.where(upper, speech.entry_title, speech.title) * name, rng)
    length = np.exp(rng.normal(np.where(upper, 4.4, 4.9), 0.7)).astype(np.int64) + 5
    mean = np.where(upper, speech.entry_body, speech.body) * content
    focus = np.minimum(
        mean * rng.gamma(STEADINESS, 1 / STEADINESS, n_pages), 0.6
    )  # pages differ in how much they keep to their topic
    return Texts(
        body=_bodies(sites.topic, length, focus, language, rng),
        anchor=_anchors(links, title, language, speech.anchor, rng),
        title=_counts(n_pages, *title.tokens()),
        url=_urls(sites, language, speech.url * name, rng),
        extracted_title=_counts(n_pages, *heading.tokens()),
    )


class _Lines(NamedTuple):
    """One line of words for each page."""

    words: Ints
    offsets: Ints

    def tokens(self) -> tuple[Ints, Ints]:
        return query_numbers(self.offsets), self.words

    def take(self, pages: Ints) -> "_Lines":
        counts = np.diff(self.offsets)[pages]
        offsets = offsets_of(counts)
        where = np.repeat(self.offsets[pages] - offsets[:-1], counts) + np.arange(offsets[-1])
        return _Lines(self.words[where], offsets)


def _lines(topics: Ints, mean: float, focus: Floats, language: Language, rng: np.random.Generator) -> _Lines:
    offsets = offsets_of(2 + rng.poisson(mean, len(topics)))
    page = query_numbers(offsets)
    return _Lines(language.draw(topics[page], focus[page], rng, n_words=TITLE_WORDS), offsets)


def _titles(sites: Sites, language: Language, focus: Floats, rng: np.random.Generator) -> tuple[_Lines, _Lines]:
    """Titles (some pages below a head repeat its title), and the headings that pass for titles in the body."""
    own = _lines(sites.topic, TITLE_LENGTH, np.minimum(focus, 0.9), language, rng)
    page = np.arange(len(sites.site))
    title = own.take(np.where(rng.random(len(page)) < REPEATED, sites.head, page))
    heading = _lines(sites.topic, TITLE_LENGTH, np.minimum(0.7 * focus, 0.9), language, rng)
    both = _Lines(
        np.concatenate([title.words, heading.words]),
        np.concatenate([title.offsets, heading.offsets[1:] + title.offsets[-1]]),
    )
    return title, both.take(np.where(rng.random(len(page)) < 0.6, page, page + len(page)))


def _bodies(
    topics: Ints, length: Ints, focus: Floats, language: Language, rng: np.random.Generator
) -> sparse.csr_array:
    blocks = []
    for rows in row_blocks(len(topics), _BLOCK_PAGES):
        page = np.repeat(np.arange(rows.stop - rows.start), length[rows])
        words = language.draw(topics[rows][page], focus[rows][page], rng)
        blocks.append(_counts(rows.stop - rows.start, page, words))
    return sparse.vstack(blocks, format="csr")


def _anchors(
    links: Links, title: _Lines, language: Language, share: float, rng: np.random.Generator
) -> sparse.csr_array:
    """Each link has a text of one to three words: words of the title of the page that it leads to, or any words."""
    n_words = rng.integers(1, 4, len(links.target))
    told = rng.random(len(links.target)) < share
    page, told = np.repeat(links.target, n_words), np.repeat(told, n_words)
    words = language.draw(np.zeros(len(page), np.int64), 0.0, rng)
    start, size = title.offsets[page[told]], np.diff(title.offsets)[page[told]]
    words[told] = title.words[start + (rng.random(len(start)) * size).astype(np.int64)]
    return _counts(len(title.offsets) - 1, page, words)


def _urls(sites: Sites, language: Language, focus: Floats, rng: np.random.Generator) -> sparse.csr_array:
    """The name of the site, one word for each level below it, and words that say nothing."""
    named = language.draw(sites.topic, np.minimum(focus, 0.9), rng, n_words=TITLE_WORDS)
    page = np.arange(len(named))
    chain = [page]
    while (sites.parent[chain[-1]] != chain[-1]).any():
        chain.append(sites.parent[chain[-1]])
    filler = np.repeat(page, rng.poisson(1.0, len(page)))  # words such as index, home or a date
    pages = np.concatenate([filler, page] + [page[lower != upper] for lower, upper in pairwise(chain)])
    fill = language.draw(sites.topic[filler], 0.0, rng)
    words = np.concatenate([fill, named] + [named[upper[lower != upper]] for lower, upper in pairwise(chain)])
    return _counts(len(named), pages, words)


def _counts(n_pages: int, pages: Ints, words: Ints) -> sparse.csr_array:
    """How often each word is in each page."""
    table = sparse.coo_array((np.ones(len(words), np.float32), (pages, words)), shape=(n_pages, N_WORDS))
    return table.tocsr()
