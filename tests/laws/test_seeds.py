"""Law 2: every seed has an effect; two seeds differ, one seed twice does not. Those of rankers: test_parameters.py.

What a seed draws is recorded, and does not change from version to version. The walk over the modules finds every public
function and class that takes a seed; one that is not in the table fails.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ordino
from laws.draws import RECORD, digest
from order.comparators import random_network
from ordino import LinearRegressionRanker, OrdinalClassifier, RankNet, synthetic
from ordino.data import folds
from ordino.data import synthetic as made
from ordino.data.web.distillation import distillation
from ordino.evolve import DifferentialEvolution, genetic_programming, strategies
from ordino.experiment.compare import comparison, significance
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.explain import paths, permutation_importance
from ordino.order import audit, sort_queries
from ordino.order.audit import sampled_share
from ordino.order.sorting import start_order
from ordino.streams import spawn_seed, spawned, stream
from ordino.testing import easy_data

DATA = easy_data(n_queries=10)
LINEAR, NETWORK = LinearRegressionRanker().fit(DATA), RankNet(hidden=(4,), epochs=2).fit(DATA)
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(2, 30))
CIRCLES = random_network(4, (8,), scale=5)
START = RNG.random((6, 3))


def parts(several: Any) -> list[Any]:
    return [sorted(map(str, one.query_ids)) for one in several]


def asked(search: Any) -> list[Any]:
    for _ in range(2):
        found = search.ask()
        search.tell(np.arange(len(found), dtype=float))
    return [str(one) for one in search.ask()]


def folds_of(several: Any) -> list[Any]:
    return [parts([fold.train, fold.test]) for fold in several]


SEEDED: dict[str, Callable[[int], Any]] = {
    "data.dataset.Dataset.split": lambda seed: parts(DATA.split(0.5, seed=seed)),
    "data.folds.make_folds": lambda seed: folds_of(folds.make_folds(DATA, 3, seed=seed)),
    "data.folds.QueryKFold": lambda seed: [
        test.tolist() for _, test in folds.QueryKFold(3, seed=seed).split(DATA.X, DATA.y, DATA.qid)
    ],
    **{
        f"data.synthetic.{name}": lambda seed, make=make: make(seed=seed, queries=2, docs=5).X.tolist()
        for name, make in vars(made).items()
        if inspect.isfunction(make) and {"seed", "queries", "docs"} <= set(inspect.signature(make).parameters)
    },
    "data.synthetic.synthetic": lambda seed: synthetic("mq", queries=2, seed=seed).X.tolist(),
    "data.synthetic.td_folds": None,
    "data.web.distillation.distillation": lambda seed: distillation(2, 40, seed).X.tolist(),
    "evolve.strategies.uniform_population": lambda seed: strategies.uniform_population(3, 2, seed=seed).tolist(),
    **{
        f"evolve.strategies.{kind.__name__}": lambda seed, kind=kind: asked(kind(START, seed=seed))
        for kind in (strategies.ParticleSwarm, strategies.EvolutionStrategy)
    },
    "evolve.differential.DifferentialEvolution": lambda seed: asked(DifferentialEvolution(START, seed=seed)),
    "evolve.strategies.CMA": lambda seed: asked(strategies.CMA(START[0], seed=seed)),
    "evolve.genetic_programming.GeneticProgramming": lambda seed: [
        tree.text() for tree in genetic_programming.GeneticProgramming(3, population=5, seed=seed).ask()
    ],
    "experiment.compare.comparison.bootstrap_interval": lambda seed: comparison.bootstrap_interval(
        NUMBERS[0], samples=50, seed=seed
    ),
    "experiment.compare.significance.fisher": lambda seed: significance.fisher(*NUMBERS, samples=3000, seed=seed).p,
    "experiment.plan.plan.Plan": lambda seed: Plan(data=DATA, rankers=["ranknet"], repeats=3, seed=seed).seeds_of(
        Plan(data=DATA, rankers=["ranknet"], repeats=3, seed=seed).entries()[0]
    ),
    "experiment.plan.plan.repeat_seeds": lambda seed: repeat_seeds(seed, 3),
    "explain.importance.permutation_importance": lambda seed: [
        one.importance for one in permutation_importance(LINEAR, DATA, repeats=2, seed=seed)
    ],
    "explain.paths.in_random_orders": lambda seed: paths.in_random_orders(
        lambda rows: np.prod(rows, axis=1), np.arange(1.0, 9.0), np.arange(9.0, 1.0, -1.0), orders=2, seed=seed
    ).tolist(),
    "order.audit.audit": lambda seed: str(audit(CIRCLES, DATA, seed=seed).moves),
    "order.audit.sampled_share": lambda seed: sampled_share(CIRCLES, DATA.X, 40, seed),
    "order.sorting.sort_queries": lambda seed: sort_queries(
        CIRCLES, DATA.X, DATA.offsets, seed=seed
    ).comparisons.tolist(),
    "order.sorting.start_order": lambda seed: start_order(DATA.offsets, seed).tolist(),
    "ordinal.OrdinalClassifier": lambda seed: (
        OrdinalClassifier("linear-regression-ranker", seed=seed).fit(DATA.X, DATA.y).slope_
    ),
    "streams.spawned": lambda seed: spawned(seed, "a").entropy,
    "streams.stream": lambda seed: stream(seed, "a").random(),
    "streams.spawn_seed": lambda seed: spawn_seed(seed, "a"),
    "testing.easy_data": lambda seed: easy_data(3, 4, seed).X.tolist(),
}
ELSEWHERE = {
    "data.synthetic.td_folds": "makes a thousand documents for each query; tests/data/test_td.py",
    "evolve.evolved.EvolvedRanker": "test_parameters.py",
    "evolve.strategies.WeightSearch": "what the strategies share",
    "explain.why.why": "draws only where there are many features; tests/explain/test_why.py",
    "metrics.block.Block.pairs": "draws only where there are many pairs; tests/metrics",
    "data.dataset.split_numbers": "what Dataset.split asks",
    "distilling.door.distill": "the seed of the student, a ranker; test_parameters.py",
    "ensemble.paths.Part": "made by AutoRanker; tests/rankers/test_auto.py",
    "ensemble.trials.Bench": "made by AutoRanker; tests/rankers/test_auto.py",
    "ranker.Ranker.with_seed": "test_parameters.py",
}
OUTSIDE = ("cli", "rankers", "networks", "experiment.papers", "experiment.run", "experiment.store", "boosting")
"""Commands have their own law; rankers and what they are made of are met through their parameter ``seed``; a paper's
request in test_protocols.py."""


def takes_a_seed(value: Any) -> bool:
    try:
        return (inspect.isfunction(value) or inspect.isclass(value)) and "seed" in inspect.signature(value).parameters
    except ValueError:  # exceptions have no signature
        return False


def seeded_names() -> set[str]:
    found = set()
    for module in pkgutil.walk_packages(ordino.__path__, "ordino."):
        short = module.name.removeprefix("ordino.")
        if short.startswith(OUTSIDE) or short.rpartition(".")[2].startswith("_"):
            continue
        loaded = importlib.import_module(module.name)
        for name, one in vars(loaded).items():
            if name.startswith("_") or getattr(one, "__module__", "") != module.name:
                continue
            places = {name: one}
            if inspect.isclass(one):
                places |= {f"{name}.{key}": value for key, value in vars(one).items() if not key.startswith("_")}
            found |= {f"{short}.{place}" for place, value in places.items() if takes_a_seed(value)}
    return found


def test_every_function_with_a_seed_is_in_the_table():
    assert seeded_names() - set(SEEDED) - set(ELSEWHERE) == set()


@pytest.mark.parametrize("name", [name for name in SEEDED if name not in ELSEWHERE])
def test_a_seed_has_an_effect(name):
    use = SEEDED[name]
    first, again, others = use(1), use(1), [use(seed) for seed in (2, 3)]
    assert repr(first) == repr(again)
    assert all(repr(one) != repr(first) for one in others)


ROUNDED = {"evolve.strategies.CMA", "ordinal.OrdinalClassifier"}
"""Whose result follows the last digits of eigenvectors, or of an optimizer."""
RECORDED = [name for name in SEEDED if name not in {*ELSEWHERE, *ROUNDED}]


def test_no_draw_moves():
    """What is drawn from a seed is recorded in draws.json, by ``python tests/laws/draws.py``."""
    known = json.loads(RECORD.read_text(encoding="utf-8"))
    assert {name: digest(SEEDED[name](0)) for name in RECORDED} == known


def test_no_seed_is_made_by_adding():
    sums = [
        f"{path.name}:{node.lineno}"
        for path in Path(ordino.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and any(names_a_seed(side) for side in (node.left, node.right))
    ]
    assert sums == []


def names_a_seed(node: ast.AST) -> bool:
    return {getattr(node, "id", ""), getattr(node, "attr", "")} & {"seed", "random_state"} != set()
