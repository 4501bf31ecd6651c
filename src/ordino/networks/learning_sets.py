"""Which pairs of documents a comparator learns from: DeepNet's configurations, every query with an equal share.

A pair stands in random order, [better, worse] or [worse, better]: a dense net would otherwise learn that the first of
two always wins. Two documents of equal label have the target 1/2.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.data.columns import offsets_of
from ordino.errors import ParameterError
from ordino.parameters import param

Labels = NDArray[np.float64]
Rows = NDArray[np.intp]

CONFIGURATIONS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "A": {"any": 1},
        "B": {"different": 1, "relevant": 1, "irrelevant": 1},
        "C": {"different": 1},
        "D": {"different": 1, "relevant": 1},
        "E": {"different": 1, "irrelevant": 1},
        "B66": {"different": 4, "relevant": 1, "irrelevant": 1},
        "B75": {"different": 6, "relevant": 1, "irrelevant": 1},
        "D66": {"different": 2, "relevant": 1},
        "D75": {"different": 3, "relevant": 1},
        "E66": {"different": 2, "irrelevant": 1},
        "E75": {"different": 3, "irrelevant": 1},
    }
)
"""DeepNet, 3.3: the kinds of pairs that are drawn, and their shares. "different" are pairs of different labels (its
R-I), "relevant" and "irrelevant" pairs of equal labels above 0 (R-R) and not above 0 (I-I), "any" all of them alike.
The thesis also tried B, D and E with 66 % and 75 % of pairs of different labels."""

MOST_PAIRS = 20_000_000  # more would not fit the memory of a usual machine several times over


def pairs_param() -> Any:
    """Which pairs are drawn."""
    return param(
        "C",
        "Which pairs, by the configurations of the thesis: A (any two documents), B (equal numbers of pairs of "
        "different labels, of equal labels above 0, and of equal labels not above 0), C (different labels), D "
        "(different labels, and equal ones above 0) or E (different labels, and equal ones not above 0). B66, B75, "
        "D66, D75, E66 and E75 are B, D and E with 66 % or 75 % of pairs of different labels. Equal labels have the "
        "target 1/2.",
        choices=CONFIGURATIONS,
    )


def n_pairs_param(default: int, part: str) -> Any:
    """How many pairs are drawn from a part of the data."""
    text = f"Pairs of the {part} data, in equal shares for each query; None takes all."
    return param(default, text, low=1, brief=2)


def distinct_pairs_param() -> Any:
    """Whether a pair is drawn once at most."""
    return param(
        False,
        "Take no pair twice: a query with fewer pairs than its share gives each of them once, and the other queries "
        "share what is missing. Otherwise it gives them several times, in random orders.",
    )


class LearningSet(NamedTuple):
    """Pairs of rows, ``a * n_docs + b`` each, and the probability that a comes first.

    Examples
    --------
    >>> some = LearningSet.of(np.array([[0, 1], [2, 3]]), np.array([1.0, 0.5]), 4).take(np.array([1]))
    >>> some, some.rows(4).tolist()
    (LearningSet(codes=array([11]), target=array([0.5])), [[2], [3]])
    """

    codes: NDArray[np.int64]  # (n_pairs,)
    target: Labels  # (n_pairs,)

    @classmethod
    def of(cls, pairs: Rows, target: Labels, n_docs: int) -> LearningSet:
        """The set of these pairs, shape ``(n_pairs, 2)``, of n_docs documents."""
        return cls(pairs[:, 0].astype(np.int64) * n_docs + pairs[:, 1], target)

    @property
    def n_pairs(self) -> int:
        """How many there are."""
        return len(self.codes)

    def take(self, chosen: Rows) -> LearningSet:
        """These of the pairs."""
        return LearningSet(self.codes[chosen], self.target[chosen])

    def rows(self, n_docs: int) -> NDArray[np.int64]:
        """The first and the second document of each pair, shape ``(2, n_pairs)``."""
        return np.stack(np.divmod(self.codes, n_docs))


def draw_pairs(
    y: Labels, offsets: NDArray[np.int64], configuration: str, n_pairs: int | None, rng: np.random.Generator,
    *, distinct: bool = False,
) -> LearningSet:  # fmt: skip
    """Pairs of documents of the same query, ``n_pairs`` at most, of the kinds of a name of ``CONFIGURATIONS``.

    Each query that has such pairs gives an equal share; one with fewer pairs than its share gives all of them equally
    often. If ``distinct``, it gives each of them once, and the other queries share what is missing. ``n_pairs=None``
    takes every pair once.

    Examples
    --------
    Labels 2, 1, 1 and labels 0, 1, one pair from each query: of the second there is only one.

    >>> y, offsets = np.array([2.0, 1.0, 1.0, 0.0, 1.0]), np.array([0, 3, 5])
    >>> drawn = draw_pairs(y, offsets, "C", 2, np.random.default_rng(0))
    >>> sorted(sorted(pair) for pair in drawn.rows(5).T.tolist())[1]
    [3, 4]
    """
    kinds, by_label = CONFIGURATIONS[configuration], _ByLabel(y, offsets)
    counts = np.array([by_label.count(kind) for kind in kinds])
    if n_pairs is None and counts.sum() > MOST_PAIRS:
        raise ParameterError(f"n_pairs=None takes all {counts.sum():,} pairs; give a number, say 100,000")
    wanted = counts.sum() if n_pairs is None else min(n_pairs, counts.sum())
    parts = np.cumsum([0, *kinds.values()])
    drawn = []
    for number, kind in enumerate(kinds):
        share = int(wanted * parts[number + 1] // parts[-1] - wanted * parts[number] // parts[-1])
        if n_pairs is None:
            shares = counts[number]
        elif distinct:
            shares = _limited_shares(counts[number], share, rng)
        else:
            shares = _equal_shares(counts[number] > 0, share, rng)
        drawn.append(by_label.draw(kind, shares, rng))
    pairs = np.concatenate(drawn)
    return in_random_order(pairs, (1 + np.sign(y[pairs[:, 0]] - y[pairs[:, 1]])) / 2, len(y), rng)


def in_random_order(pairs: Rows, target: Labels, n_docs: int, rng: np.random.Generator) -> LearningSet:
    """The pairs with about half of them turned around, their targets too."""
    turned = rng.random(len(pairs)) < 0.5
    pairs, target = np.where(turned[:, None], pairs[:, ::-1], pairs), np.where(turned, 1 - target, target)
    return LearningSet.of(pairs, target, n_docs)


def _equal_shares(willing: NDArray[np.bool_], n_pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many pairs each query gives that has any; chance decides which queries give one more."""
    shares = np.zeros(len(willing), np.int64)
    givers = rng.permutation(np.flatnonzero(willing))
    if len(givers):
        shares[givers] = n_pairs // len(givers)
        shares[givers[: n_pairs % len(givers)]] += 1
    return shares


def _limited_shares(counts: NDArray[np.int64], n_pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many pairs each query gives if none gives more than it has, as equal as that allows."""
    shares = np.zeros(len(counts), np.int64)
    while (missing := n_pairs - int(shares.sum())) and (shares < counts).any():
        shares = np.minimum(shares + _equal_shares(shares < counts, missing, rng), counts)
    return shares


class _ByLabel:
    """The documents of each query by falling label: each document's partners then stand side by side."""

    def __init__(self, y: Labels, offsets: NDArray[np.int64]) -> None:
        self._query = query_numbers(offsets)
        self._rows = np.lexsort((-y, self._query))  # stable: rows of equal label keep their order
        self._y, self._offsets = y[self._rows], offsets
        begins = np.ones(len(y), bool)  # a query, or a lower label in it
        begins[1:] = (self._y[1:] != self._y[:-1]) | (self._query[1:] != self._query[:-1])
        self._level_end = np.append(np.flatnonzero(begins), len(y))[np.cumsum(begins)]  # one past the last of its label

    def _partners(self, kind: str) -> tuple[Rows, Rows]:
        """First partner of each document and how many it has."""
        after = np.arange(1, len(self._y) + 1)
        match kind:
            case "different":
                return self._level_end, self._offsets[self._query + 1] - self._level_end
            case "any":
                return after, self._offsets[self._query + 1] - after
        asked = (self._y > 0) == (kind == "relevant")
        return after, np.where(asked, self._level_end - after, 0)

    def count(self, kind: str) -> NDArray[np.int64]:
        """How many pairs of this kind each query has."""
        return np.diff(offsets_of(self._partners(kind)[1])[self._offsets])

    def draw(self, kind: str, shares: NDArray[np.int64], rng: np.random.Generator) -> Rows:
        """So many pairs of each query, (better or equal, worse or equal): each as often as any other, give or take one.

        The pairs of a query are numbered: all of them are taken as often as its share allows, and the rest is drawn.
        """
        first, counts = self._partners(kind)
        ends = offsets_of(counts)  # of the pairs of each document, counted through all queries
        before, totals = ends[self._offsets[:-1]], np.maximum(np.diff(ends[self._offsets]), 1)
        rests = shares % totals
        drawn = [
            rng.choice(n, rest, replace=False) for n, rest in zip(totals.tolist(), rests.tolist(), strict=True) if rest
        ]
        query = np.repeat(np.arange(len(shares)), shares)
        places = np.arange(len(query)) - offsets_of(shares)[query]
        numbers = places % totals[query]
        numbers[places >= (shares - rests)[query]] = np.concatenate([np.zeros(0, np.int64), *drawn])
        numbers += before[query]
        better = np.searchsorted(ends[1:], numbers, side="right")
        worse = first[better] + numbers - ends[better]
        return np.column_stack((self._rows[better], self._rows[worse]))
