"""Every loss with every parameter that matters, and queries to try them on."""

from __future__ import annotations

import numpy as np
import pytest

from ordino.losses import LOSSES

VARIANTS = [
    *((name, {}) for name in LOSSES),
    *((name, {"average": "queries"}) for name in LOSSES if LOSSES[name].family == "pairwise"),
    ("ranknet", {"ties": True, "target": 0.9}),
    ("ranknet", {"ties": True, "target": 0.8, "target_by": "step", "average": "queries"}),
    ("ranknet", {"pairs": "neighbors"}),
    ("fidelity", {"ties": True, "target": 0.9}),
    ("fidelity", {"target": 0.7, "target_by": "step"}),
    ("squared", {"ties": True, "target": 0.9, "pairs": "neighbors"}),
    ("absolute", {"target": 0.99}),
    ("directranker", {"activation": "tanh"}),
    ("directranker", {"activation": "half-tanh", "pairs": "all"}),
    ("directranker", {"activation": "softsign"}),
    ("ranknet", {"ties": True, "average": "queries"}),
    ("hinge", {"pairs": "neighbors"}),
    ("ranknet", {"pairs": "exact", "ties": True, "target": 0.9}),
    ("ranknet", {"average": "sum"}),
    ("directranker", {"pairs": "exact"}),
    ("squared", {"pairs": "exact", "target": 0.8, "target_by": "step"}),
    ("listnet", {"k": 2}),
    ("listnet", {"k": 3}),
    ("softmax", {"gain": "exponential"}),
    ("rankcosine", {"center": True}),
    ("approx-ndcg", {"gain": "linear", "alpha": 1.0}),
    ("lambdarank", {"metric": "ndcg", "gain": "linear"}),
    ("lambdarank", {"metric": "ndcg@3"}),
    ("lambdarank", {"metric": "map"}),
    ("lambdarank", {"metric": "mrr", "relevant": 2.0}),
    ("lambdarank", {"metric": "mrr@2"}),
]


def each_variant_but(*inapplicable):
    """Every variant to which a law applies; the others, told by functions of name and parameters, are no cases."""
    kept = [(name, parameters) for name, parameters in VARIANTS if not any(no(name, parameters) for no in inapplicable)]
    return pytest.mark.parametrize(("name", "parameters"), kept, ids=str)


each_variant = each_variant_but()
each_loss = pytest.mark.parametrize("name", LOSSES)


def some_queries(seed: int, *, n_queries: int = 5, spread: float = 2.0):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 12, n_queries))))
    n_docs = offsets[-1]
    return rng.normal(0, spread, n_docs), rng.integers(0, 5, n_docs).astype(float), offsets
