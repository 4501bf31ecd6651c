"""Slow, obvious measures: plain loops over one query, written from the papers and tools, sharing no code with Ordino.

``oracle(metric, k, y, s, profile)`` gives the value of one query; NaN if the profile leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import isnan, log2, nan, sqrt

import numpy as np

Numbers = Sequence[float]

EXPONENTIAL = {"standard", "letor3", "letor4", "lightgbm", "xgboost"}
LINEAR = {"trec", "sklearn", "catboost"}
BINARY = {"directranker", "rankde"}
RELEVANT_ABOVE = {"lightgbm": 0.5, "catboost": 0.5}
EMPTY = {"lightgbm": 1.0, "xgboost": 1.0, "catboost": 1.0, "directranker": nan}
TOP_K_MAP = {"lightgbm", "xgboost", "catboost"}


def is_relevant(label: float, profile: str) -> bool:
    return label > RELEVANT_ABOVE.get(profile, 0.0)


def gain(label: float, profile: str) -> float:
    if profile == "ranklib":
        return 2.0 ** int(label) - 1.0
    if profile in BINARY:
        return float(is_relevant(label, profile))
    return label if profile in LINEAR else 2.0**label - 1.0


def discount(rank: int, profile: str) -> float:
    if profile in ("letor3", "letor4"):
        return 1.0 if rank <= 2 else log2(rank)
    return log2(1 + rank)


def orders(y: Numbers, s: Numbers, profile: str) -> list[list[float]]:
    """The labels in rank order; all orders that equal scores allow if the profile takes their mean."""
    rows = list(range(len(y)))
    if profile == "trec":
        return [[y[i] for i in sorted(rows, key=lambda i: (-s[i], -i))]]
    if profile == "catboost":
        return [[y[i] for i in sorted(rows, key=lambda i: (-s[i], y[i]))]]
    if profile == "sklearn":
        best_first = sorted(s, reverse=True)
        return [[y[i] for i in order] for order in permutations(rows) if [s[i] for i in order] == best_first]
    return [[y[i] for i in sorted(rows, key=lambda i: -s[i])]]


def dcg(labels: Numbers, k: int, profile: str) -> float:
    return sum(gain(label, profile) / discount(rank, profile) for rank, label in enumerate(labels[:k], 1))


def ndcg(labels: Numbers, k: int | None, profile: str) -> float:
    n = len(labels)
    if profile in ("letor3", "letor4") and k is not None and k > n:
        return 0.0
    cut = n if k is None else k
    best = dcg(sorted(labels, reverse=True), cut, profile)
    if profile == "rankde":
        best = sum(1 / discount(rank, profile) for rank in range(1, cut + 1))
    return dcg(labels, cut, profile) / best if best > 0 else EMPTY.get(profile, 0.0)


def mean_ndcg(labels: Numbers, k: int | None, profile: str) -> float:
    return sum(ndcg(labels, cut, profile) for cut in range(1, len(labels) + 1)) / len(labels)


def precision(labels: Numbers, k: int, profile: str) -> float:
    hits = sum(is_relevant(label, profile) for label in labels[:k])
    if profile == "letor3" and k > len(labels):
        return 0.0
    by_length = profile in ("xgboost", "catboost", "ranklib", "directranker")
    return hits / (min(k, len(labels)) if by_length else k)


def recall(labels: Numbers, k: int, profile: str) -> float:
    relevant = sum(is_relevant(label, profile) for label in labels)
    hits = sum(is_relevant(label, profile) for label in labels[:k])
    return hits / relevant if relevant else EMPTY.get(profile, 0.0)


def average_precision(labels: Numbers, k: int | None, profile: str) -> float:
    cut = len(labels) if k is None else k
    relevant = sum(is_relevant(label, profile) for label in labels)
    if relevant == 0:
        return 0.0 if profile == "catboost" else EMPTY.get(profile, 0.0)
    precisions = []
    for rank, label in enumerate(labels[:cut], 1):
        if is_relevant(label, profile):
            precisions.append(sum(is_relevant(other, profile) for other in labels[:rank]) / rank)
    return sum(precisions) / (min(relevant, cut) if profile in TOP_K_MAP else relevant)


def average_precision_of_groups(y: Numbers, s: Numbers, k: int | None) -> float:
    """scikit-learn's way: the precision of a relevant document counts all documents with its score or a higher one."""
    relevant = sum(label > 0 for label in y)
    first = sorted(range(len(y)), key=lambda i: (-s[i], y[i]))[:k]
    total = 0.0
    for i in first:
        if y[i] > 0:
            above = [j for j in first if s[j] >= s[i]]
            total += sum(y[j] > 0 for j in above) / len(above)
    return total / relevant if relevant else 0.0


def reciprocal_rank(labels: Numbers, k: int | None, profile: str) -> float:
    for rank, label in enumerate(labels[:k], 1):
        if is_relevant(label, profile):
            return 1 / rank
    return 0.0


def hit(labels: Numbers, k: int, profile: str) -> float:
    return float(any(is_relevant(label, profile) for label in labels[:k]))


def err(labels: Numbers, k: int | None, profile: str) -> float:
    value, reader = 0.0, 1.0
    for rank, label in enumerate(labels[:k], 1):
        chance = (2.0**label - 1) / 16
        if profile == "catboost":
            chance = label
        elif profile in BINARY:
            chance = is_relevant(label, profile) / 2
        elif profile == "ranklib":
            chance = (2.0 ** int(label) - 1) / 16
        value += reader * chance / rank
        reader *= 1 - chance
    return value


def rbp(labels: Numbers, k: int | None, profile: str) -> float:
    return sum(0.2 * 0.8 ** (rank - 1) * is_relevant(label, profile) for rank, label in enumerate(labels[:k], 1))


def pairs(y: Numbers, s: Numbers) -> tuple[int, int, int]:
    """How many pairs with different labels are right, wrong, undecided."""
    right = wrong = undecided = 0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                right += s[i] > s[j]
                wrong += s[i] < s[j]
                undecided += s[i] == s[j]
    return right, wrong, undecided


def pairwise_accuracy(y: Numbers, s: Numbers) -> float:
    right, wrong, undecided = pairs(y, s)
    total = right + wrong + undecided
    return (right + undecided / 2) / total if total else nan


def kendall(y: Numbers, s: Numbers) -> float:
    right, wrong, undecided = pairs(y, s)
    if right + wrong + undecided == 0:
        return nan
    split = sum(a > b for a in s for b in s)
    return (right - wrong) / sqrt(split) / sqrt(right + wrong + undecided) if split else 0.0


def spearman(y: Numbers, s: Numbers) -> float:
    def ranks(values: Numbers) -> list[float]:
        return [sum(b < a for b in values) + sum(b == a for b in values) / 2 for a in values]

    a, b = ranks(y), ranks(s)
    mean = len(y) / 2
    square_a, square_b = sum((x - mean) ** 2 for x in a), sum((x - mean) ** 2 for x in b)
    if square_a == 0:
        return nan
    product = sum((p - mean) * (q - mean) for p, q in zip(a, b, strict=True))
    return product / sqrt(square_a) / sqrt(square_b) if square_b else 0.0


OF_LISTS: dict[str, Callable[..., float]] = {
    "p": precision, "recall": recall, "map": average_precision, "ndcg": ndcg, "dcg": dcg, "meanndcg": mean_ndcg,
    "mrr": reciprocal_rank, "err": err, "rbp": rbp, "hit": hit,
}  # fmt: skip
OF_PAIRS: dict[str, Callable[..., float]] = {
    "pairwise_accuracy": pairwise_accuracy,
    "pairwise_error": lambda y, s: 1 - pairwise_accuracy(y, s),
    "kendall": kendall,
    "spearman": spearman,
}
WORST_ORDER = ("mrr", "err", "hit")
"""Where of all orders of equal scores the worst counts, and not their mean."""


def oracle(metric: str, k: int | None, y: Numbers, s: Numbers, profile: str = "standard") -> float:
    """The value of one query."""
    if profile == "xgboost" and metric in ("ndcg", "map") and k is None:
        k = 32
    if isnan(EMPTY.get(profile, 0.0)) and not any(is_relevant(label, profile) for label in y):
        return nan
    if metric in OF_PAIRS:
        return OF_PAIRS[metric](y, s)
    if profile == "sklearn" and metric == "map":
        return average_precision_of_groups(y, s, k)
    if metric == "dcg" and k is None:
        k = len(y)
    values = [OF_LISTS[metric](labels, k, profile) for labels in orders(y, s, profile)]
    if metric in WORST_ORDER:
        return min(values)
    return sum(values) / len(values)


def hard_lists() -> dict[str, tuple[list[float], list[float]]]:
    """Lists (labels, scores) on which tools disagree; labels are whole, so that every tool takes them."""
    return {
        "plain": ([2, 0, 1, 0, 3], [5.0, 4.0, 3.0, 2.0, 1.0]),
        "best order": ([4, 3, 2, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]),
        "worst order": ([0, 1, 2, 3, 4], [5.0, 4.0, 3.0, 2.0, 1.0]),
        "ties": ([0, 2, 1, 0, 4, 0], [1.0, 1.0, 0.5, 0.5, 0.5, 0.0]),
        "tie across the cutoff": ([1, 0, 3, 0, 2, 0, 1], [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0]),
        "equal scores": ([0, 1, 0, 4, 2], [0.0, 0.0, 0.0, 0.0, 0.0]),
        "no relevant document": ([0, 0, 0, 0], [1.0, 4.0, 3.0, 2.0]),
        "no relevant document, equal scores": ([0, 0], [1.0, 1.0]),
        "one relevant document": ([3], [0.5]),
        "one irrelevant document": ([0], [0.5]),
        "fewer than k": ([0, 1], [2.0, 1.0]),
        "all relevant": ([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0]),
        "negative scores": ([0, 1, 2], [-1.0, -2.0, -3.0]),
        "far scores": ([1, 0, 2, 0], [1e30, -1e30, 0.0, 1e-30]),
        "long": ([(7 * i * i + i) % 5 for i in range(40)], [float((11 * i) % 17) for i in range(40)]),
    }


def random_lists(n: int, *, ties: bool = True) -> dict[str, tuple[list[float], list[float]]]:
    """Lists of 1 to 60 documents with labels 0 to 4; with ties there are about 20 different scores."""
    rng = np.random.default_rng(3)
    lists: dict[str, tuple[list[float], list[float]]] = {}
    for i, size in enumerate(rng.integers(1, 60, n)):
        scores = rng.integers(0, 20, size).astype(float) if ties else rng.permutation(size).astype(float)
        lists[f"random {i}"] = (rng.integers(0, 5, size).astype(float).tolist(), scores.tolist())
    return lists
