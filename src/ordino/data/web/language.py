"""The language of a synthetic web: common words, and the words that categories and topics prefer.

Words are numbers, the most common first. A topic belongs to a category and shares words with other topics, so that no
word tells a topic for certain.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, Ints

N_WORDS = 12_000
N_CATEGORIES = 12  # as many as the top of the directory by which topical link analysis classifies pages
N_CATEGORY_WORDS = 150
N_TOPIC_WORDS = 40
NAME_WORDS = 5  # the first words of a topic are what it is called by
TITLE_WORDS = 12  # the first words of a topic are used in titles and URLs
SIZES, PLAINNESS = 0.3, 0.2  # spread of the logarithms over the topics
COMMON = 100  # words that are too common to tell anything


class Language(NamedTuple):
    """Word lists of categories and topics, the most typical word first, and how common each word is everywhere."""

    topic_words: Ints  # (n_topics, N_TOPIC_WORDS)
    category_words: Ints  # (N_CATEGORIES, N_CATEGORY_WORDS)
    category: Ints  # of each topic
    size: Floats  # of each topic: how much of the web is about it
    plainness: Floats  # of each topic: how much its pages use its words

    @classmethod
    def make(cls, n_topics: int, rng: np.random.Generator) -> Self:
        """Choose the words of every category and topic; common words are chosen more often, but not the commonest."""
        weight = zipf(N_WORDS)[COMMON:] ** 0.3
        weight /= weight.sum()

        def lists(n_lists: int, size: int) -> Ints:
            chosen = [rng.choice(len(weight), size, replace=False, p=weight) for _ in range(n_lists)]
            return np.array(chosen, np.int64) + COMMON

        size, plainness = (np.exp(rng.normal(0, spread, n_topics)) for spread in (SIZES, PLAINNESS))
        category = np.arange(n_topics) % N_CATEGORIES
        topics = lists(n_topics, N_TOPIC_WORDS)
        return cls(topics, lists(N_CATEGORIES, N_CATEGORY_WORDS), category, size, plainness)

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.topic_words)

    def draw(
        self, topics: Ints, focus: Floats | float, rng: np.random.Generator, *, n_words: int = N_TOPIC_WORDS
    ) -> Ints:
        """A word for each entry: of its topic in a share ``focus``, half as often of the category, or any word.

        Of the topic's words, the first ``n_words`` are used.
        """
        u = rng.random(len(topics))
        words = drawn_ranks(zipf(N_WORDS), rng.random(len(topics)))
        topical = u < focus
        words[topical] = self._of(self.topic_words[:, :n_words], topics[topical], rng)
        related = ~topical & (u < np.multiply(focus, 1.5))
        words[related] = self._of(self.category_words, self.category[topics[related]], rng)
        return words

    def _of(self, lists: Ints, rows: Ints, rng: np.random.Generator) -> Ints:
        return lists[rows, drawn_ranks(zipf(lists.shape[1]), rng.random(len(rows)))]

    def category_shares(self) -> NDArray[np.float64]:
        """The probability of each category given a word, shape ``(N_WORDS, N_CATEGORIES)``."""
        shares = np.repeat(zipf(N_WORDS)[:, None], N_CATEGORIES, axis=1)  # a word that no list has tells nothing
        for topic, words in enumerate(self.topic_words):
            shares[words, self.category[topic]] += zipf(N_TOPIC_WORDS)
        for category, words in enumerate(self.category_words):
            shares[words, category] += zipf(N_CATEGORY_WORDS)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def zipf(n: int) -> NDArray[np.float64]:
    """Probabilities of the ranks 1 ... n: the first is most probable, with a long tail."""
    weight = 1 / (np.arange(n) + 3.0)
    return np.asarray(weight / weight.sum())


def drawn_ranks(probabilities: Floats, u: Floats) -> Ints:
    """The rank that each uniform number in [0, 1) stands for."""
    edges = np.cumsum(probabilities)[:-1]
    return np.searchsorted(edges, u, side="right")


def drawn_members(wanted: Ints, group: Ints, weight: Floats, rng: np.random.Generator) -> Ints:
    """The number of a member of each wanted group, drawn by weight; every wanted group must have a member."""
    order = np.argsort(group, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    start = np.searchsorted(group[order], wanted, side="left")
    stop = np.searchsorted(group[order], wanted, side="right")
    point = total[start] + rng.random(len(wanted)) * (total[stop] - total[start])
    return np.asarray(order[np.clip(np.searchsorted(total, point, side="right") - 1, start, stop - 1)])
