r"""Features of a query's words in a field of pages: tf, idf, tf*idf, BM25 and three smoothed language models.

All take the counts of the query's words, shape ``(n_pages, n_terms)``, and sum over the words. The parameters of BM25
and of the language models (LMIR) are those that LETOR used: k1 = 2.5, b = 0.8; delta = 0.7, mu = 2000, lambda = 0.1.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from ordino.arrays import Floats, Ints

K1, B = 2.5, 0.8
DELTA, MU, LAMBDA = 0.7, 2000.0, 0.1


class Field(NamedTuple):
    """What is known of one field of all pages, with counts of the words that queries ask for."""

    counts: sparse.csc_array  # (n_pages, n_words)
    length: Floats  # words in each page
    n_unique: Floats  # different words in each page
    df: Floats  # pages that have a word, for each word
    probability: Floats  # of each word in the whole collection; one is added to every count, so that none is 0

    @classmethod
    def of(cls, table: sparse.csr_array) -> Self:
        """The statistics of counts of words."""
        total = np.asarray(table.sum(axis=0), np.float64)
        df = np.bincount(table.indices, minlength=table.shape[1]).astype(np.float64)
        length = np.asarray(table.sum(axis=1), np.float64)
        n_unique = np.diff(table.indptr).astype(np.float64)
        return cls(table.tocsc(), length, n_unique, df, (total + 1) / (total + 1).sum())

    def tf(self, terms: Ints) -> Floats:
        """How often each page has each of the words, shape ``(n_pages, n_terms)``."""
        return np.asarray(self.counts[:, terms].toarray(), np.float64)

    def at(self, pages: Ints, terms: Ints) -> "Words":
        """What counts for a query, of some pages."""
        return Words(
            self.tf(terms)[pages], self.length[pages], self.n_unique[pages], self.df[terms], self.probability[terms],
            len(self.length), float(self.length.mean()),
        )  # fmt: skip


class Words(NamedTuple):
    """The words of a query in one field of some pages."""

    tf: Floats  # (n_pages, n_terms)
    length: Floats  # (n_pages,)
    n_unique: Floats
    df: Floats  # (n_terms,), as in the whole collection
    probability: Floats
    n_pages: int  # of the collection
    mean_length: float


def idf(words: Words) -> Floats:
    """Inverse document frequency log(N / df) of each word; a word of no page counts as a word of one."""
    return np.log(words.n_pages / np.maximum(words.df, 1))


def tf_idf(words: Words) -> Floats:
    """Sum of tf * idf."""
    return words.tf @ idf(words)


def bm25(words: Words) -> Floats:
    r"""Okapi BM25.

    .. math:: \sum_t \log\frac{N - df_t + 1/2}{df_t + 1/2} \cdot
        \frac{(k_1 + 1) tf_t}{tf_t + k_1 (1 - b + b\,dl / avdl)}
    """
    rare = np.log((words.n_pages - words.df + 0.5) / (words.df + 0.5))
    norm = K1 * (1 - B + B * words.length / max(words.mean_length, 1e-12))
    return ((K1 + 1) * words.tf / np.maximum(words.tf + norm[:, None], 1e-12)) @ rare


def lmir_abs(words: Words) -> Floats:
    """Log likelihood of the query with absolute discounting: delta of each different word goes to the collection."""
    length = np.maximum(words.length, 1)[:, None]
    seen = np.maximum(words.tf - DELTA, 0) / length
    unseen = np.where(words.length > 0, DELTA * words.n_unique / length[:, 0], 1)
    return _log_sum(seen + unseen[:, None] * words.probability)


def lmir_dir(words: Words) -> Floats:
    """Log likelihood of the query with a Dirichlet prior, as if the page had mu more words of the collection."""
    return _log_sum((words.tf + MU * words.probability) / (words.length + MU)[:, None])


def lmir_jm(words: Words) -> Floats:
    """Log likelihood of the query with Jelinek-Mercer smoothing; an empty page is the collection."""
    shares = words.tf / np.maximum(words.length, 1)[:, None]
    weight = np.where(words.length > 0, LAMBDA, 1)[:, None]
    return _log_sum((1 - weight) * shares + weight * words.probability)


def _log_sum(likelihoods: Floats) -> Floats:
    return np.asarray(np.log(likelihoods).sum(axis=1))
