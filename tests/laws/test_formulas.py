"""Law 4: every ranker learns by its own formula, shown by one step, one round or one draw, and not by a quality.

``SHOWN`` says where, ranker by ranker: in this file, or in a test elsewhere that works a step out by hand or against an
independent transcription. A ranker without an entry fails.
"""

from __future__ import annotations

import importlib
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lambda_oracle import lambdarank
from loss_oracles import LIST, torch
from loss_oracles import pairwise as sum_of_pairs
from networks.torch_oracle import TorchNet, distance
from ordino import Dataset
from ordino.data.source import canonical
from ordino.evolve.differential import BASES, DifferentialEvolution
from ordino.evolve.strategies import MUTATIONS, ParticleSwarm
from ordino.losses import LOSSES
from ordino.networks.supply import ComparedPairs
from ordino.rankers import RANKERS, ranker_class
from ordino.rankers.deepnet import drawn_pairs
from rankers.test_prank import slow_pass

STEP = "laws.test_formulas:test_a_step_follows_the_rankers_own_loss"
PAIRS_STEP = "laws.test_formulas:test_a_step_of_a_comparator_is_that_of_both_outputs"
SHOWN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ranknet", "directranker", "lambdarank", "listnet", "listmle", "rankcosine", "scorer"), (STEP,)),
    "kernel-ranknet": (
        "rankers.test_transcriptions:test_kernel_ranknet_minimizes_equation_17_over_the_functions_of_equation_18",
    ),
    "rankprop": ("rankers.test_transcriptions:test_rankprop_alternates_between_ranks_and_regression",),
    "deepnet": (PAIRS_STEP,),
    "dense-comparator": (PAIRS_STEP,),
    "sortnet": (PAIRS_STEP, "rankers.test_transcriptions:test_sortnet_is_algorithm_3_1_line_by_line"),
    "rankde": ("laws.test_formulas:test_a_mutant_is_its_equation",),
    "swarm-rank": ("laws.test_formulas:test_a_particle_moves_by_its_equation",),
    **dict.fromkeys(("es-rank", "iesr-rank", "iesvm-rank"), ("laws.test_formulas:test_steps_have_their_distribution",)),
    "rank-fusion": ("order.test_fusion:test_reciprocal_rank_fusion_by_hand",),
    "auto": (
        "rankers.test_auto:test_greedy_weights_take_what_is_good",
        "rankers.test_auto:test_a_member_behind_the_best_goes_unless_the_others_miss_it",
    ),
    "cma-rank": ("evolve.test_strategies:test_cma_is_the_package_itself",),
    "gp-rank": ("evolve.test_strategies:test_formulas_stay_within_their_depth_and_the_fittest_lives",),
    "rank-svm": ("rankers.test_ranksvm:test_objective_of_an_explicit_pair_solver",),
    "prank": ("rankers.test_prank:test_updates_are_those_of_the_paper",),
    "oap-bpm": ("laws.test_formulas:test_oap_bpm_averages_perceptrons_that_each_saw_a_part",),
    "rank-boost": ("rankers.test_boosting:test_rounds_of_rankboost_are_those_of_listed_pairs",),
    "ada-rank": ("rankers.test_boosting:test_rounds_of_adarank_are_those_of_a_slow_form",),
    "frank": ("rankers.test_boosting:test_rounds_of_frank_are_those_of_listed_pairs",),
    "coordinate-ascent": ("rankers.test_coordinate_ascent:test_moves_are_measured_as_they_are_made",),
    "lambda-mart": ("rankers.test_trees:test_scores_are_those_of_bare_lightgbm",),
    "mc-rank": ("rankers.test_trees:test_probabilities_are_a_softmax_over_the_trees",),
    "linear-regression-ranker": ("rankers.test_simple:test_weights_are_those_of_scikit_learn",),
    "single-feature": ("rankers.test_simple:test_the_best_feature_and_direction_are_found",),
    "random-ranker": ("rankers.test_simple:test_scores_are_even_and_seeds_apart",),
    "nested-ranker": (
        "rankers.test_transcriptions:test_nested_stages_see_features_that_were_scaled_once_over_the_query",
    ),
    "rank-aggregation": ("rankers.test_combined:test_the_orders_of_the_members_become_one_by_the_rule_asked_for",),
}


@pytest.mark.parametrize("name", RANKERS)
def test_the_formula_of_every_ranker_is_shown(name: str) -> None:
    assert SHOWN.get(name), f"work one step of {name} out by hand, and say in SHOWN where"
    for place in SHOWN[name]:
        module, _, test = place.partition(":")
        assert callable(getattr(importlib.import_module(module), test))


# networks that score


PLAIN = {"hidden": (), "optimizer": "descent", "batch": None, "scaling": None, "l2": 0.0, "epochs": 1}
RATE = 0.05
OWN: dict[str, list[tuple[dict[str, Any], str, dict[str, Any]]]] = {
    "ranknet": [
        ({}, "ranknet", {}),
        ({"ties": True}, "ranknet", {"ties": True}),
        ({"target": 0.8, "average": "pairs"}, "ranknet", {"target": 0.8, "average": "pairs"}),
        ({"target": 0.7, "target_by": "step"}, "ranknet", {"target": 0.7, "target_by": "step"}),
        ({"average": "sum"}, "ranknet", {"average": "sum"}),
    ],
    "directranker": [
        *(({"pairs": pairs}, "directranker", {"pairs": pairs}) for pairs in ("neighbors", "exact", "all")),
        *(({"output": one}, "directranker", {"activation": one}) for one in ("tanh", "half-tanh", "softsign")),
        ({"loss": "hinge"}, "hinge", {"pairs": "neighbors"}),
    ],
    "listnet": [({}, "listnet", {}), ({"k": 2}, "listnet", {"k": 2})],
    "listmle": [({}, "listmle", {})],
    "rankcosine": [({}, "rankcosine", {})],
    "lambdarank": [({"metric": metric}, "lambdarank", {"metric": metric}) for metric in ("ndcg@3", "map", "mrr@2")],
    "scorer": [
        *(({"loss": loss, "model": "linear"}, loss, {"average": "own"}) for loss in LOSSES),
        (
            {"loss": "ranknet", "model": "linear", "loss_options": {"ties": True}},
            "ranknet",
            {"ties": True, "average": "own"},
        ),
    ],
}
"""By ranker: its settings, the loss that its page names, and that loss's settings."""
LAMBDA = {"metric": "ndcg@10"}


def queries(seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    return Dataset(X, rng.choice([0.0, 1.0, 2.0, 4.0], 30), np.repeat(np.arange(5), 6))


def slopes(data: Dataset, w: np.ndarray, loss: str, given: dict[str, Any]) -> np.ndarray:
    """The gradient of a loss in the weights of a linear function, by autograd of the formula or by loops."""
    average = given.pop("average", "queries")
    if average == "own":
        average = "pairs" if LOSSES[loss].family == "pairwise" else "queries"
    parts = [(data.X[a:b].astype(float), data.y[a:b]) for a, b in pairwise(data.offsets)]
    if loss == "lambdarank":
        found = [X.T @ lambdarank(X @ w, y, (LAMBDA | given)["metric"])[1] for X, y in parts]
        return np.sum(found, axis=0) / sum(
            np.any(one != 0) for one in found
        )  # a query that teaches nothing is no query
    weights = torch.tensor(w, requires_grad=True)
    sums, totals = [], []
    for X, y in parts:
        scores = torch.tensor(X) @ weights
        if LOSSES[loss].family == "pairwise":
            value, total = sum_of_pairs(scores, y, np.ones(len(y)), loss, **given)
        else:
            value, total = LIST[loss](scores, y, **given), 1.0
        sums.append(value)
        totals.append(total)
    match average:
        case "sum":
            whole = sum(sums)
        case "pairs":
            whole = sum(sums) / sum(totals)
        case _:
            whole = sum(v / t for v, t in zip(sums, totals, strict=True) if t) / sum(t > 0 for t in totals)
    whole.backward()
    return weights.grad.numpy()


@pytest.mark.parametrize(
    ("name", "settings", "loss", "given"),
    [(name, *case) for name, cases in OWN.items() for case in cases],
    ids=[f"{name}-{settings}" for name, cases in OWN.items() for settings, _, _ in cases],
)
def test_a_step_follows_the_rankers_own_loss(name, settings, loss, given):
    data = queries()
    ranker = ranker_class(name)(**PLAIN | {"learning_rate": RATE} | settings)
    [layer] = ranker._fresh(data, ranker.seed).layers()
    w = layer.W[:, 0].astype(float)
    step = RATE * slopes(data, w, loss, dict(given))
    learned = ranker.fit(data).layers_[0].W[:, 0]
    assert np.linalg.norm(step) > 1e-3
    np.testing.assert_allclose(learned - w, -step, rtol=2e-3, atol=2e-6)


@pytest.mark.parametrize(("penalty", "slope"), [("l1", np.sign), ("l2", lambda w: w)])
def test_a_penalty_adds_its_own_slope(penalty, slope):
    data = queries()
    ranker = ranker_class("ranknet")(**PLAIN | {"learning_rate": RATE, penalty: 0.3})
    [layer] = ranker._fresh(data, ranker.seed).layers()
    w = layer.W[:, 0].astype(float)
    step = RATE * (slopes(data, w, "ranknet", {}) + 0.3 * slope(w))
    np.testing.assert_allclose(ranker.fit(data).layers_[0].W[:, 0] - w, -step, rtol=2e-3, atol=2e-6)


# networks that compare


@pytest.mark.parametrize("loss", ["squared", "absolute", "ranknet", "fidelity"])
@pytest.mark.parametrize("name", ["deepnet", "dense-comparator"])
def test_a_step_of_a_comparator_is_that_of_both_outputs(name, loss):
    data = canonical(queries())  # the order in which documents are drawn
    settings = {"hidden": (6,), "dropout": 0.0, "optimizer": "descent", "batch": None, "scaling": None, "l2": 0.0}
    ranker = ranker_class(name)(**settings, epochs=1, learning_rate=RATE, loss=loss, n_pairs=None)
    pairs = drawn_pairs(ranker, data, "n_pairs", ranker.seed)
    net = ranker._fresh(data.X, pairs, ranker.seed)
    twin = TorchNet(net)
    twin.pair_error(ComparedPairs(data.X, pairs, None).whole, loss).backward()
    expected = twin.vector() - RATE * twin.vector(slopes=True)
    fitted = ranker.fit(data)
    net.load([*_layers(fitted.network_)])
    assert distance(net.theta, expected) < 1e-5
    assert distance(twin.vector(), expected) > 1e-4


def _layers(network: Any) -> list[Any]:
    from ordino.layers import Layer

    return [Layer(np.concatenate((network.left, network.right)), network.bias), *network.deeper]


# searches


@pytest.mark.parametrize("mutation", [one for one in BASES if "pbest" not in one])  # which tests/evolve writes out
def test_a_mutant_is_its_equation(mutation):
    """With CR = 1 a child is the mutant itself: one that some three other individuals give."""
    rng, F = np.random.default_rng(0), 0.7
    x = rng.normal(size=(6, 3))
    search = DifferentialEvolution(x, F=F, CR=1.0, mutation=mutation, seed=1)
    fitness = x.sum(axis=1)
    search.ask()
    search.tell(fitness)
    best = x[fitness.argmax()]
    base = {
        "rand/1": lambda i, r: x[r],
        "best/1": lambda i, r: best,
        "current-to-best/1": lambda i, r: x[i] + F * (best - x[i]),
    }[mutation]
    for i, child in enumerate(search.ask()):
        others = [j for j in range(6) if j != i]
        possible = [base(i, r1) + F * (x[r2] - x[r3]) for r1, r2, r3 in permutations(others, 3)]
        assert min(np.abs(child - one).max() for one in possible) < 1e-12


def test_a_particle_moves_by_its_equation():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(8, 5))
    for factor in ("inertia", "cognitive", "social"):
        swarm = ParticleSwarm(start, **{"inertia": 0.0, "cognitive": 0.0, "social": 0.0, factor: 1.3}, seed=2)
        swarm.ask()
        swarm.tell(start.sum(axis=1))
        swarm.velocity = rng.normal(size=start.shape)
        swarm.own_best = start + 1.0
        before, velocity, best = swarm.population.copy(), swarm.velocity.copy(), swarm.best.copy()
        moved = swarm.ask() - before
        if factor == "inertia":
            np.testing.assert_allclose(moved, 1.3 * velocity)
            continue
        pull = (swarm.own_best if factor == "cognitive" else best) - before
        drawn = moved[pull != 0] / (1.3 * pull[pull != 0])  # the random numbers, one for each weight
        assert ((drawn >= 0) & (drawn <= 1)).all()
        assert len(np.unique(drawn.round(9))) == len(drawn)
        assert 0.3 < drawn.mean() < 0.7


def test_steps_have_their_distribution():
    n, rng = 4000, np.random.default_rng(0)
    drawn = {name: draw(n, np.random.default_rng(1)) for name, draw in MUTATIONS.items()}
    product = rng.normal(size=n) * np.exp(rng.standard_cauchy(n).clip(-50, 50))
    tests = {
        "gaussian": stats.kstest(drawn["gaussian"], "norm"),
        "cauchy": stats.kstest(drawn["cauchy"], "cauchy"),
        "levy": stats.kstest(np.abs(drawn["levy"]), "levy"),
        "exp-cauchy": stats.ks_2samp(drawn["exp-cauchy"], product),
    }
    assert set(tests) == set(MUTATIONS)
    for name, found in tests.items():
        assert found.pvalue > 0.001, name
        assert abs((drawn[name] > 0).mean() - 0.5) < 0.05, name


# perceptrons


def test_oap_bpm_averages_perceptrons_that_each_saw_a_part():
    data = canonical(queries())
    ranker = ranker_class("oap-bpm")(n_perceptrons=4, tau=0.6, epochs=1, scaling=None, n_jobs=1).fit(data)
    stream, *own = np.random.default_rng(0).spawn(5)
    order = stream.permutation(data.n_docs)
    level = np.searchsorted(np.unique(data.y), data.y)
    seen = [order[one.random(len(order)) < 0.6] for one in own]
    found = [slow_pass(data.X[rows].astype(float), level[rows], np.zeros(4), np.zeros(3)) for rows in seen]
    np.testing.assert_allclose(ranker.coef_, np.mean([w[-1] for w, _ in found], axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ranker.thresholds_, np.mean([b[-1] for _, b in found], axis=0), atol=1e-9)
