"""Losses written down a second time: torch and plain loops, one query at a time, as the formulas read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn.functional import logsigmoid, softmax, softplus

Pair = Callable[[torch.Tensor, float, float], torch.Tensor]  # margin, target, label of the better -> loss


def _fidelity(m: torch.Tensor, t: float, _: float) -> torch.Tensor:
    return 1 - (t * torch.sigmoid(m)).sqrt() - ((1 - t) * torch.sigmoid(-m)).clamp_min(1e-300).sqrt()


PAIR: dict[str, Pair] = {
    "ranknet": lambda m, t, _: -t * logsigmoid(m) - (1 - t) * logsigmoid(-m),  # eq. 1
    "fidelity": _fidelity,
    "squared": lambda m, t, _: (t - torch.sigmoid(m)) ** 2,
    "absolute": lambda m, t, _: (t - torch.sigmoid(m)).abs(),
    "hinge": lambda m, t, _: torch.relu(1 - m),
    "squared-hinge": lambda m, t, _: torch.relu(1 - m) ** 2,
    "exponential": lambda m, t, _: torch.exp(-m),
    "directranker": lambda m, t, r: r * (1 - m) ** 2,
}
TAU = {
    "identity": lambda m: m,
    "tanh": torch.tanh,
    "half-tanh": lambda m: torch.tanh(m / 2),
    "softsign": torch.nn.functional.softsign,
}


def pairs_of(y: np.ndarray, *, pairs: str = "all", ties: bool = False) -> list[tuple[int, int]]:
    """Better document first; each tie once."""
    levels = sorted(set(y))
    place = [levels.index(label) for label in y]
    chosen = []
    for i in range(len(y)):
        for j in range(len(y)):
            higher = place[i] == place[j] + 1 if pairs == "neighbors" else place[i] > place[j]
            if higher or (ties and place[i] == place[j] and i < j):
                chosen.append((i, j))
    return chosen


def pairwise(s: torch.Tensor, y: np.ndarray, w: np.ndarray, name: str, **given: Any) -> tuple[torch.Tensor, float]:
    """Sum over the pairs of one query, and the sum of their weights."""
    pairs = given.get("pairs", "neighbors" if name == "directranker" else "all")
    target, by_step = given.get("target", 1.0), given.get("target_by") == "step"
    total, weight = s.sum() * 0, 0.0
    for i, j in pairs_of(y, pairs=pairs, ties=given.get("ties", False)):
        t = 0.5 if y[i] == y[j] else target
        if by_step and target < 1:
            odds = (target / (1 - target)) ** (y[i] - y[j])
            t = odds / (1 + odds)
        m = s[i] - s[j]
        if name == "directranker":
            m = TAU[given.get("activation", "identity")](m)
        total = total + w[i] * w[j] * PAIR[name](m, t, float(y[i]))
        weight += w[i] * w[j]
    return total, weight


def listnet(s: torch.Tensor, y: np.ndarray) -> torch.Tensor:
    return -(softmax(torch.tensor(y), 0) * torch.log_softmax(s, 0)).sum()


def softmax_loss(s: torch.Tensor, y: np.ndarray, gain: str = "linear") -> torch.Tensor:
    gains = torch.tensor(y if gain == "linear" else 2**y - 1)
    return -(gains / gains.sum() * torch.log_softmax(s, 0)).sum()


def listmle(s: torch.Tensor, y: np.ndarray) -> torch.Tensor:
    total = s.sum() * 0
    for i in range(len(y)):
        rivals = [i, *(j for j in range(len(y)) if y[j] < y[i])]
        total = total + torch.logsumexp(s[rivals], 0) - s[i]
    return total


def rankcosine(s: torch.Tensor, y: np.ndarray, center: bool = False, smoothing: float = 0.01) -> torch.Tensor:
    a, b = s, torch.tensor(y)
    if center:
        a, b = a - a.mean(), b - b.mean()
    return (1 - (a * b).sum() / ((a * a).sum() + smoothing).sqrt() / (b * b).sum().sqrt()) / 2


def approx_ndcg(s: torch.Tensor, y: np.ndarray, gain: str = "exponential", alpha: float = 10.0) -> torch.Tensor:
    gains = torch.tensor(y if gain == "linear" else 2**y - 1)
    ranks = 0.5 + torch.sigmoid(alpha * (s[None, :] - s[:, None])).sum(1)
    ideal = (gains.sort(descending=True)[0] / torch.log2(torch.arange(len(y), dtype=torch.float64) + 2)).sum()
    return 1 - (gains / torch.log2(1 + ranks)).sum() / ideal


LIST = {
    "listnet": listnet,
    "softmax": softmax_loss,
    "listmle": listmle,
    "rankcosine": rankcosine,
    "approx-ndcg": approx_ndcg,
}


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
    relevant = given.get("relevant", 1.0)
    order = np.lexsort((y, -s))  # of equal scores the lower label first
    grade = y if name.startswith("ndcg") else (y >= relevant).astype(float)
    before = measure(name, y[order], **given)
    value, gradient = 0.0, np.zeros(len(s))
    for a in range(len(s)):
        for b in range(len(s)):
            i, j = order[a], order[b]
            if grade[i] > grade[j]:
                swapped = order.copy()
                swapped[[a, b]] = swapped[[b, a]]
                delta = abs(measure(name, y[swapped], **given) - before)
                value += delta * float(softplus(torch.tensor(-(s[i] - s[j]))))
                push = delta / (1 + math.exp(s[i] - s[j]))
                gradient[i] -= push
                gradient[j] += push
    return value, gradient
