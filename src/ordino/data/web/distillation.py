"""Topic distillation on a synthetic web: queries for the entry pages of topics, with the 44 features of LETOR 2.0.

A query is two or three words that its topic is called by. Its documents are the pages with the largest BM25; relevant
are the entries of the topic that a judge finds good sources.
"""

from typing import NamedTuple

import numpy as np

from ordino.arrays import Ints
from ordino.data.columns import Groups
from ordino.data.dataset import Dataset
from ordino.data.web.features import FEATURES, Corpus, query_features
from ordino.data.web.language import NAME_WORDS, Language
from ordino.data.web.links import make_links
from ordino.data.web.sites import ASPECTS, Sites, make_sites
from ordino.data.web.term_features import bm25
from ordino.data.web.texts import Speech, make_texts
from ordino.streams import stream

REFERENCE = 5
"""Of the webs 0 to 7, the one on which the published baselines came nearest to their figures; it is seed 0."""


class Nature(NamedTuple):
    """What makes the collection hard or easy; the values are calibrated, see docs/synthetic.md."""

    speech: Speech = Speech(body=0.10, entry_body=0.17, title=0.12, entry_title=0.6, anchor=0.5, url=0.3, by_worth=0.4)
    links_by_worth: float = 0.3
    taste: float = 0.05  # share of the variance of a judge's opinion that no page shows
    n_relevant: float = 12.2  # entries that a judge takes for relevant, before the documents are chosen; the mean


def distillation(queries: int, docs: int, seed: int, nature: Nature = Nature()) -> Dataset:  # noqa: B008
    """Make a web, ask the queries and compute the features of each query's documents."""
    seed ^= REFERENCE  # 0 and 5 change places, and so on: different seeds stay different
    n_topics = max(queries + 10, 12)
    n_pages = 3 * docs + 740 * queries
    language = Language.make(n_topics, stream(seed, "language"))
    sites = make_sites(n_pages, language, stream(seed, "sites"))
    links = make_links(sites, nature.links_by_worth, stream(seed, "links"))
    texts = make_texts(sites, links, language, nature.speech, stream(seed, "texts"))
    corpus = Corpus.of(sites, links, texts, language)
    X = np.empty((queries * docs, len(FEATURES)), np.float32)
    y = np.empty(queries * docs)
    page = np.empty(queries * docs, np.int64)
    for topic in range(queries):
        rows, rng = slice(topic * docs, (topic + 1) * docs), stream(seed, "query", topic)
        terms = language.topic_words[topic, rng.permutation(NAME_WORDS)[: rng.integers(1, 5)]]
        page[rows] = candidates(corpus, terms, docs)
        X[rows] = query_features(corpus, page[rows], terms)
        y[rows] = np.isin(page[rows], _judged(topic, sites, nature, rng))
    groups = Groups(None, np.arange(queries + 1) * docs, np.arange(1, queries + 1))
    names = np.array([f"synthetic-{site}/{number}" for site, number in zip(sites.site[page], page, strict=True)])
    return Dataset.of_groups(X, y, groups, doc_ids=names, feature_names=FEATURES)


def candidates(corpus: Corpus, terms: Ints, docs: int) -> Ints:
    """The pages with the largest BM25, in the order of the web, which tells nothing about relevance."""
    score = bm25(corpus.whole.at(np.arange(len(corpus.pagerank)), terms))
    return np.sort(np.argsort(-score, kind="stable")[:docs])


def _judged(topic: int, sites: Sites, nature: Nature, rng: np.random.Generator) -> Ints:
    """The entries of a topic that a judge takes for relevant: the best, in an opinion that is partly taste."""
    entries = np.flatnonzero(sites.is_entry & (sites.topic == topic))
    worth = sites.worth[entries].sum(axis=1) / np.sqrt(len(ASPECTS))
    taste = rng.standard_normal(len(entries))
    opinion = np.sqrt(1 - nature.taste) * worth + np.sqrt(nature.taste) * taste
    n_relevant = 1 + int(rng.gamma(2.0, (nature.n_relevant - 1) / 2))  # judges differ in how many they find
    return entries[np.argsort(-opinion, kind="stable")[:n_relevant]]
