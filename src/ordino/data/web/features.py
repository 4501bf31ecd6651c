"""The 44 features of LETOR 2.0, under its names and in its order, of a query's documents.

The list is LETOR's own (also Table A.1 of Huybrechts, 2016, which prints the name of feature 13 for feature 27 too).
HITS and what spreads along links is computed among the documents of the query, as topic distillation systems do; the
other links count in the whole web.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ordino.arrays import Floats, Ints
from ordino.data.web.language import Language
from ordino.data.web.link_features import hits, hostrank, link_table, topical_hits, topical_pagerank
from ordino.data.web.links import Links
from ordino.data.web.propagation import along_links, from_children, link_weights
from ordino.data.web.sites import Sites
from ordino.data.web.term_features import Field, bm25, idf, lmir_abs, lmir_dir, lmir_jm, tf_idf
from ordino.data.web.texts import Texts

FIELDS = ("body", "anchor", "title", "URL")

FEATURES = (
    "BM25", *(f"dl of {field}" for field in FIELDS), "HITS authority", "HITS hub", "HostRank",
    *(f"idf of {field}" for field in FIELDS), "Sitemap based feature propagation", "PageRank",
    *(
        f"{model} of {field}"
        for field in ("anchor", "extracted title", "title")
        for model in ("LMIR.ABS", "BM25", "LMIR.DIR", "LMIR.JM")
    ),
    "Sitemap based score propagation", *(f"tf of {field}" for field in FIELDS),
    *(f"tfidf of {field}" for field in FIELDS), "Topical PageRank", "Topical HITS authority", "Topical HITS hub",
    *(
        f"Hyperlink base {what} propagation: {way}"
        for what in ("score", "feature")
        for way in ("weighted in-link", "weighted out-link", "uniform out-link")
    ),
)  # fmt: skip
"""Names of the features in the order of LETOR 2.0."""


class Corpus(NamedTuple):
    """A web with all that is computed of it before a query is asked."""

    fields: dict[str, Field]
    whole: Field
    sites: Sites
    links: sparse.csr_array
    pagerank: Floats
    hostrank: Floats
    word_shares: Floats  # of categories, for each word
    page_shares: Floats  # of categories, for each page: the mean over the words of its body
    topical_pagerank: Floats  # for each page and category

    @classmethod
    def of(cls, sites: Sites, links: Links, texts: Texts, language: Language) -> Self:
        """Compute what does not depend on a query."""
        tables = (texts.body, texts.anchor, texts.title, texts.url, texts.extracted_title)
        fields = {name: Field.of(table) for name, table in zip((*FIELDS, "extracted title"), tables, strict=True)}
        table = link_table(links.source, links.target, len(sites.site))
        word_shares = language.category_shares()
        page_shares = (texts.body @ word_shares) / fields["body"].length[:, None]
        topical = topical_pagerank(table, page_shares)
        return cls(
            fields, Field.of(texts.whole), sites, table, topical.sum(axis=1), hostrank(table, sites), word_shares,
            page_shares, topical,
        )  # fmt: skip


def query_features(corpus: Corpus, pages: Ints, terms: Ints) -> NDArray[np.float64]:
    """The features of some pages for a query, shape ``(n_pages, 44)``."""
    columns: dict[str, Floats | float] = {"PageRank": corpus.pagerank[pages], "HostRank": corpus.hostrank[pages]}
    for name, field in corpus.fields.items():
        words = field.at(pages, terms)
        columns |= {
            f"tf of {name}": words.tf.sum(axis=1), f"idf of {name}": idf(words).sum(), f"dl of {name}": words.length,
            f"tfidf of {name}": tf_idf(words), f"BM25 of {name}": bm25(words), f"LMIR.ABS of {name}": lmir_abs(words),
            f"LMIR.DIR of {name}": lmir_dir(words), f"LMIR.JM of {name}": lmir_jm(words),
        }  # fmt: skip
    columns |= _by_links(corpus, pages, terms) | _by_propagation(corpus, pages, terms)
    X = np.empty((len(pages), len(FEATURES)))
    for j, name in enumerate(FEATURES):
        X[:, j] = columns[name]
    return X


def _by_links(corpus: Corpus, pages: Ints, terms: Ints) -> dict[str, Floats]:
    among = corpus.links[pages][:, pages]
    wanted = corpus.word_shares[terms].mean(axis=0)  # the categories of the query
    authority, hub = topical_hits(among, corpus.page_shares[pages])
    return {
        **dict(zip(("HITS authority", "HITS hub"), hits(among), strict=True)),
        "Topical PageRank": corpus.topical_pagerank[pages] @ wanted,
        "Topical HITS authority": authority @ wanted,
        "Topical HITS hub": hub @ wanted,
    }


def _by_propagation(corpus: Corpus, pages: Ints, terms: Ints) -> dict[str, Floats]:
    everywhere = corpus.whole.at(np.arange(len(corpus.pagerank)), terms)
    spread = everywhere._replace(tf=from_children(everywhere.tf, corpus.sites.parent))
    words = corpus.whole.at(pages, terms)
    score = bm25(words)
    found = {
        "BM25": score,
        "Sitemap based feature propagation": bm25(spread)[pages],
        "Sitemap based score propagation": from_children(bm25(everywhere), corpus.sites.parent)[pages],
    }
    links = corpus.links[pages][:, pages]
    back = sparse.csr_array(links.T)
    for way, weights in {
        "weighted in-link": link_weights(back, score),
        "weighted out-link": link_weights(links, score),
        "uniform out-link": link_weights(links, None),
    }.items():
        found[f"Hyperlink base score propagation: {way}"] = along_links(score, weights)
        found[f"Hyperlink base feature propagation: {way}"] = bm25(words._replace(tf=along_links(words.tf, weights, 1)))
    return found
