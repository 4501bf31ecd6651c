"""Every entry of LOSSES agrees with the same formula in torch and its autograd."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_variants import each_variant_but, some_queries

from loss_oracles import LIST, torch
from loss_oracles import pairwise as sum_of_pairs
from ordino.losses import LOSSES, make_loss


@each_variant_but(lambda name, _: name == "lambdarank")  # which has an oracle of its own
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.5, 3.0]))
def test_agrees_with_torch(name, parameters, seed, spread):
    scores, y, offsets = some_queries(seed, spread=spread)
    s = torch.tensor(scores, requires_grad=True)
    sums, totals = [], []
    for start, stop in pairwise(offsets):
        part = s[start:stop], y[start:stop]
        if LOSSES[name].family == "pairwise":
            value, weight = sum_of_pairs(*part, np.ones(stop - start), name, **parameters)
        else:
            weight = float(len(set(part[1])) > 1)
            value = LIST[name](*part, **parameters) if weight else part[0].sum() * 0
        sums.append(value)
        totals.append(weight)
    if not sum(totals):
        return
    average = parameters.get("average", make_loss(name).average)
    if average == "sum":
        expected = sum(sums)
    elif average == "pairs":
        expected = sum(sums) / sum(totals)
    else:
        expected = sum(v / t for v, t in zip(sums, totals, strict=True) if t) / sum(t > 0 for t in totals)
    expected.backward()
    value, gradient = make_loss(name, **parameters).value_and_gradient(scores, y, offsets)
    assert value == pytest.approx(expected.item(), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(gradient, s.grad.numpy(), rtol=1e-7, atol=1e-11)


@pytest.mark.parametrize("name", [name for name, entry in LOSSES.items() if entry.family == "pairwise"])
@pytest.mark.parametrize("n_labels", [5, 200])
def test_many_labels(name, n_labels):
    """Labels to 100, and fractions: the sort that takes over from counting gives the same."""
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, n_labels, 60) / 2, rng.normal(size=60)
    s = torch.tensor(scores, requires_grad=True)
    total, weight = sum_of_pairs(s, y, np.ones(60), name)
    (total / weight).backward()
    _, gradient = make_loss(name).value_and_gradient(scores, y, [0, 60])
    np.testing.assert_allclose(gradient, s.grad.numpy(), rtol=1e-7, atol=1e-11)
