"""Losses written down a second time in torch, one query at a time, as the formulas read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
logsigmoid = torch.nn.functional.logsigmoid

Pair = Callable[[Any, float, float], Any]  # margin, target, label of the better -> loss


def _root(x: Any) -> Any:
    """The square root, flat at zero."""
    return x.clamp_min(1e-300).sqrt()


def _fidelity(m: Any, t: Any, _: float) -> Any:
    return 1 - _root(t * torch.sigmoid(m)) - _root((1 - t) * torch.sigmoid(-m))


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
            match pairs:
                case "neighbors":
                    higher = place[i] == place[j] + 1
                case "exact":
                    higher = y[i] - y[j] == 1
                case _:
                    higher = y[i] > y[j]
            if higher or (ties and place[i] == place[j] and i < j):
                chosen.append((i, j))
    return chosen


def pairwise(s: Any, y: np.ndarray, w: np.ndarray, name: str, **given: Any) -> tuple[Any, float]:
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


def listnet(s: Any, y: np.ndarray, k: int = 1) -> Any:
    """Every choice of the first k documents, in order, by the product of its paper's definition."""

    def log_probability(scores: Any, first: tuple[int, ...]) -> Any:
        chosen = [scores[j] for j in first]
        left = [[*first[t:], *(j for j in range(len(scores)) if j not in first)] for t in range(len(first))]
        return sum(one - torch.logsumexp(scores[rest], 0) for one, rest in zip(chosen, left, strict=True))

    labels, total = torch.tensor(y), s.sum() * 0
    for first in permutations(range(len(y)), min(k, len(y))):
        total = total - torch.exp(log_probability(labels, first)) * log_probability(s, first)
    return total


def softmax_loss(s: Any, y: np.ndarray, gain: str = "linear") -> Any:
    gains = torch.tensor(y if gain == "linear" else 2**y - 1)
    return -(gains / gains.sum() * torch.log_softmax(s, 0)).sum()


def listmle(s: Any, y: np.ndarray) -> Any:
    total = s.sum() * 0
    for i in range(len(y)):
        rivals = [i, *(j for j in range(len(y)) if y[j] < y[i])]
        total = total + torch.logsumexp(s[rivals], 0) - s[i]
    return total


def rankcosine(s: Any, y: np.ndarray, center: bool = False, smoothing: float = 0.01) -> Any:
    a, b = s, torch.tensor(y)
    if center:
        a, b = a - a.mean(), b - b.mean()
    return (1 - (a * b).sum() / ((a * a).sum() + smoothing).sqrt() / (b * b).sum().sqrt()) / 2


def approx_ndcg(s: Any, y: np.ndarray, gain: str = "exponential", alpha: float = 10.0) -> Any:
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
