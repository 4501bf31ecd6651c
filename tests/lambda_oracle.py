"""LambdaRank written down a second time, as plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def measure(name: str, y: np.ndarray, *, gain: str = "exponential", relevant: float = 1.0) -> float:
    """NDCG@k, MAP or MRR@k of labels in rank order, from the definitions."""
    kind, _, cut = name.partition("@")
    k = int(cut) if cut else len(y)
    if kind == "ndcg":
        gains = y if gain == "linear" else 2**y - 1
        discounts = 1 / np.log2(np.arange(len(y)) + 2)
        ideal = np.sort(gains)[::-1]
        return float((gains * discounts)[:k].sum() / (ideal * discounts)[:k].sum())
    hit = y >= relevant
    if kind == "mrr":
        return next((1 / (r + 1) for r in range(min(k, len(y))) if hit[r]), 0.0)
    return sum(hit[: r + 1].mean() for r in range(len(y)) if hit[r]) / hit.sum()


def lambdarank(s: np.ndarray, y: np.ndarray, name: str, **given: Any) -> tuple[float, np.ndarray]:
    """Swap the two documents of every pair, measure again, and push them apart by what changed."""
    relevant, pairs = given.get("relevant", 1.0), given.pop("pairs", "all")
    normalize = given.pop("normalize", False)
    number = {"all": None, "exact": y, "neighbors": np.unique(y, return_inverse=True)[1]}[pairs]
    order = np.lexsort((y, -s))  # of equal scores the lower label first
    grade = y if name.startswith("ndcg") else (y >= relevant).astype(float)
    before = measure(name, y[order], **given)
    value, gradient, total = 0.0, np.zeros(len(s)), 0.0
    for a in range(len(s)):
        for b in range(len(s)):
            i, j = order[a], order[b]
            if grade[i] > grade[j] and (number is None or abs(number[i] - number[j]) == 1):
                swapped = order.copy()
                swapped[[a, b]] = swapped[[b, a]]
                delta = abs(measure(name, y[swapped], **given) - before)
                if normalize and len(set(s)) > 1:
                    delta /= 0.01 + abs(s[i] - s[j])
                value += delta * np.logaddexp(0, s[j] - s[i])
                push = delta / (1 + math.exp(s[i] - s[j]))
                gradient[i] -= push
                gradient[j] += push
                total += 2 * push
    scale = math.log2(1 + total) / total if normalize and total else 1.0
    return scale * value, scale * gradient
