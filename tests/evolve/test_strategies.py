"""Strategies on standard test functions, against scipy and DEAP, and the laws of ask and tell."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import differential_evolution

from ordino.errors import ParameterError
from ordino.evolve import (
    BASES,
    CMA,
    MUTATIONS,
    DifferentialEvolution,
    EvolutionStrategy,
    Formula,
    GeneticProgramming,
    ParticleSwarm,
    evolve,
    uniform_population,
)
from ordino.evolve.differential import distinct_from_self
from ordino.evolve.genetic_programming import run_over

FUNCTIONS: dict[str, Callable[[Any], Any]] = {  # of (n, L) or (L,), lowest value 0
    "sphere": lambda x: (x**2).sum(axis=-1),
    "rosenbrock": lambda x: (100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2).sum(axis=-1),
    "rastrigin": lambda x: (x**2 - 10 * np.cos(2 * np.pi * x) + 10).sum(axis=-1),
    "ackley": lambda x: (
        20 - 20 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=-1))) + np.e - np.exp(np.cos(2 * np.pi * x).mean(axis=-1))
    ),
}
L, P, GENERATIONS, SEEDS = 5, 30, 150, range(7)


def start(seed: int) -> np.ndarray:
    return uniform_population(P, L, low=-4, high=4, seed=seed)


SEARCHES: dict[str, Callable[[int], Any]] = {
    **{f"de {name}": lambda seed, m=name: DifferentialEvolution(start(seed), mutation=m, seed=seed) for name in BASES},
    "de adaptive": lambda seed: DifferentialEvolution(start(seed), self_adaptive=True, seed=seed),
    "swarm": lambda seed: ParticleSwarm(start(seed), seed=seed),
    "cma": lambda seed: CMA(start(seed)[0], sigma=2.0, population=P, seed=seed),
    **{
        f"es {name}": lambda seed, m=name: EvolutionStrategy(start(seed)[0], mutation=m, seed=seed)
        for name in MUTATIONS
    },
}


def reached(make: Callable[[int], Any], function: Callable[[Any], Any], generations: int = GENERATIONS) -> float:
    """The median over seeds of the lowest value found."""
    return float(np.median([-evolve(make(s), lambda W: -function(W), generations=generations).fitness for s in SEEDS]))


SEED = "rng" if "rng" in signature(differential_evolution).parameters else "seed"  # before scipy 1.15


@cache
def scipy_reached(function: Callable[[Any], Any]) -> float:
    """The same by scipy's rand1bin with the same start, F, CR and number of evaluations."""
    return float(
        np.median(
            [
                differential_evolution(
                    lambda x: function(x.T), [(-4, 4)] * L, strategy="rand1bin", mutation=0.5, recombination=0.5,
                    maxiter=GENERATIONS, tol=0, init=start(s), polish=False, updating="deferred", vectorized=True,
                    **{SEED: s},
                ).fun
                for s in SEEDS
            ]
        )
    )  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_differential_evolution_is_not_worse_than_scipy(function: str) -> None:
    ours, theirs = reached(SEARCHES["de rand/1"], FUNCTIONS[function]), scipy_reached(FUNCTIONS[function])
    assert ours <= 3 * theirs + 1e-12, f"{ours} against {theirs}"  # medians of seven runs of a random search


@pytest.mark.parametrize("search", ["de best/1", "de current-to-best/1", "de adaptive", "swarm", "cma"])
@pytest.mark.parametrize("function", ["sphere", pytest.param("ackley", marks=pytest.mark.slow)])
def test_the_other_populations_are_not_worse_than_scipy(search: str, function: str) -> None:
    limit = max(scipy_reached(FUNCTIONS[function]), 1e-2)
    assert reached(SEARCHES[search], FUNCTIONS[function]) <= limit


def test_one_child_with_as_many_trials_comes_close() -> None:
    """A (1+1) strategy without a step size beats blind search by far, and the heavy tails refine where others stall."""
    trials = P * GENERATIONS // 3
    blind = float(
        np.median([FUNCTIONS["sphere"](uniform_population(trials, L, low=-4, high=4, seed=s)).min() for s in SEEDS])
    )
    for name in MUTATIONS:
        assert reached(SEARCHES[f"es {name}"], FUNCTIONS["sphere"], trials) < blind / 4
    assert reached(SEARCHES["es exp-cauchy"], FUNCTIONS["sphere"], trials) < 1e-3


def test_cma_is_the_package_itself() -> None:
    import cmaes

    ours, theirs = CMA([1.0, 2.0], sigma=0.3, seed=4), cmaes.CMA(mean=np.array([1.0, 2.0]), sigma=0.3, seed=4)
    for _ in range(5):
        population = ours.ask()
        known = np.array([theirs.ask() for _ in range(theirs.population_size)])
        np.testing.assert_array_equal(population, known)
        ours.tell(-FUNCTIONS["sphere"](population))
        theirs.tell([(x, float(FUNCTIONS["sphere"](x))) for x in known])


@pytest.mark.parametrize("search", SEARCHES)
def test_best_never_falls_and_the_seed_decides(search: str) -> None:
    runs = [evolve(SEARCHES[search](s), lambda W: -FUNCTIONS["rastrigin"](W), generations=30) for s in (1, 1, 2)]
    best = [row["best"] for row in runs[0].history]
    assert len(best) == 31
    assert best == sorted(best)
    assert best == [row["best"] for row in runs[1].history]
    assert best != [row["best"] for row in runs[2].history]
    assert runs[0].fitness == -FUNCTIONS["rastrigin"](runs[0].best)


@pytest.mark.parametrize("search", SEARCHES)
def test_nan_is_the_worst_and_wrong_shapes_are_refused(search: str) -> None:
    strategy = SEARCHES[search](0)
    n = len(strategy.ask())
    with pytest.raises(ParameterError, match="one for each individual"):
        strategy.tell(np.zeros(n + 1))
    fitness = np.full(n, np.nan)
    fitness[-1] = 0.0
    strategy.tell(fitness)
    assert strategy.best_fitness == 0.0


@given(st.integers(4, 30), st.integers(0, 1000))
def test_partners_are_all_different(n: int, seed: int) -> None:
    drawn = distinct_from_self(n, 3, np.random.default_rng(seed))
    together = np.column_stack((np.arange(n), drawn))
    assert drawn.min() >= 0
    assert drawn.max() < n
    assert all(len(set(row)) == 4 for row in together.tolist())


def test_partners_are_equally_likely() -> None:
    drawn = distinct_from_self(5, 3, np.random.default_rng(0))
    counts = np.zeros((5, 5))
    rng = np.random.default_rng(0)
    for _ in range(2000):
        drawn = distinct_from_self(5, 3, rng)
        for j in range(3):
            counts[np.arange(5), drawn[:, j]] += 1
    others = counts[~np.eye(5, dtype=bool)]
    assert (np.diag(counts) == 0).all()
    assert abs(others - 1500).max() < 150  # 3 of 4 others in 2000 draws; the deviation is about 19


def test_a_child_is_made_of_its_parent_and_a_mutant() -> None:
    """With F = 0 and rand/1 a mutant is another parent; at least one weight comes from it even with CR = 0."""
    population = np.arange(5)[:, None] * np.ones(4)
    search = DifferentialEvolution(population, F=0.0, CR=0.0, seed=2)
    search.tell(search.ask()[:, 0])
    children = search.ask()
    assert ((children != population).sum(axis=1) == 1).all()
    assert set(children.ravel()) <= set(range(5))


def test_a_child_that_is_only_as_good_does_not_take_over() -> None:
    search = DifferentialEvolution(uniform_population(6, 2), seed=0)
    search.tell(np.zeros(len(search.ask())))
    before = search.population.copy()
    search.ask()
    search.tell(np.zeros(6))
    assert (search.population == before).all()
    swarm = ParticleSwarm(uniform_population(6, 2), seed=0)
    for _ in range(2):
        swarm.ask()
        swarm.tell(np.zeros(6))
        swarm.velocity = np.ones((6, 2))  # so that they move on
    assert (swarm.own_best == before).all()


def test_asking_twice_before_telling_gives_the_start_again() -> None:
    for search in (DifferentialEvolution(uniform_population(5, 2)), ParticleSwarm(uniform_population(5, 2))):
        assert search.ask() is search.ask()


def test_speed_is_limited() -> None:
    swarm = ParticleSwarm(uniform_population(5, 2, low=-100, high=100), max_speed=0.5)
    for _ in range(4):
        before = swarm.population
        swarm.tell(-FUNCTIONS["sphere"](swarm.ask()))
        assert abs(swarm.population - before).max() <= 0.5


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: DifferentialEvolution(np.zeros((3, 2))), "needs 4 or more"),
        (lambda: DifferentialEvolution(np.zeros((4, 0))), "one row for each individual"),
        (lambda: DifferentialEvolution([[0.0], [1.0], [2.0], [np.inf]]), "NaN or inf"),
        (lambda: DifferentialEvolution(np.zeros((4, 2)), mutation="rand/2"), "unknown mutation 'rand/2'"),
        (lambda: EvolutionStrategy([0.0], mutation="gauss"), "did you mean 'gaussian'"),
        (lambda: CMA([1.0]), "at least two weights"),
        (lambda: GeneticProgramming(2, functions=("+", "pow")), "unknown function 'pow'"),
        (lambda: GeneticProgramming(2, crossover_rate=0.9, mutation_rate=0.2), "sum to at most 1"),
        (lambda: evolve(DifferentialEvolution(np.zeros((4, 2))), len, generations=-1), "at least one generation"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        make()


def test_validation_keeps_the_best_there_and_patience_stops() -> None:
    """On the training set more is better without end; on the validation set the best is near 3."""
    search = EvolutionStrategy([0.0], mutation="gaussian", seed=1)
    held_out = lambda W: -abs(np.asarray(W)[:, 0] - 3.0)  # noqa: E731
    run = evolve(search, lambda W: W[:, 0], generations=5000, valid=held_out, patience=40)
    values = [row["valid"] for row in run.history]
    assert len(values) - 1 - values.index(max(values)) == 40  # generations without a better one
    assert run.fitness == max(row["valid"] for row in run.history)
    assert abs(run.best[0] - 3.0) == -run.fitness < 1.0 < search.best[0] - 3.0


def test_a_search_that_goes_on_knows_the_held_out_measure_of_its_best() -> None:
    """Generation 3 has no better one, so that nothing is measured there."""
    search = EvolutionStrategy([0.0, 0.0], seed=1)
    measures: dict[str, Any] = {"fitness": lambda W: np.zeros(len(W)), "valid": lambda W: np.full(len(W), 0.25)}
    first = evolve(search, **measures, generations=2)
    whole = evolve(search, **measures, generations=2, before=first)
    assert [row["valid"] for row in whole.history] == [0.25] * 5


def test_interrupted_keeps_the_best_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    calls = []

    def fitness(W: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return -FUNCTIONS["sphere"](W)

    run = evolve(DifferentialEvolution(start(0)), fitness, generations=100, label="test")
    assert run.interrupted
    assert len(run.history) == 4
    assert "stopped at 4 of 101" in capsys.readouterr().err


def test_a_run_continues_where_it_stopped() -> None:
    whole = evolve(DifferentialEvolution(start(0), seed=3), lambda W: -FUNCTIONS["ackley"](W), generations=40)
    search = DifferentialEvolution(start(0), seed=3)
    part = evolve(search, lambda W: -FUNCTIONS["ackley"](W), generations=15)
    rest = evolve(search, lambda W: -FUNCTIONS["ackley"](W), generations=25, before=part)
    assert [row["best"] for row in rest.history] == [row["best"] for row in whole.history]
    assert rest.best.tolist() == whole.best.tolist()


X_LINE = np.linspace(-1, 1, 21).astype(np.float32)[:, None]
QUARTIC = (X_LINE**4 + X_LINE**3 + X_LINE**2 + X_LINE)[:, 0].astype(float)


def our_error(seed: int) -> float:
    """Koza's quartic: the mean absolute error that 200 formulas reach in 20 generations."""
    search = GeneticProgramming(1, population=200, constants=None, tournament=3, max_depth=12, seed=seed)
    errors = lambda trees: np.array([-abs(run_over(tree, X_LINE) - QUARTIC).mean() for tree in trees])  # noqa: E731
    return -evolve(search, errors, generations=20).fitness


def deap_error(seed: int) -> float:
    """The same by DEAP's eaSimple, with its usual operators and the same sizes."""
    gp = pytest.importorskip("deap.gp")
    from deap import algorithms, base, creator, tools

    def divide(a: float, b: float) -> float:
        return a / b if abs(b) > 1e-9 else 1.0

    primitives = gp.PrimitiveSet("MAIN", 1)
    for function, arity in ((np.add, 2), (np.subtract, 2), (np.multiply, 2)):
        primitives.addPrimitive(function, arity)
    primitives.addPrimitive(np.vectorize(divide, otypes=[float]), 2, name="divide")
    if not hasattr(creator, "OrdinoTree"):
        creator.create("OrdinoFitness", base.Fitness, weights=(-1.0,))
        creator.create("OrdinoTree", gp.PrimitiveTree, fitness=creator.OrdinoFitness)
    box = base.Toolbox()
    box.register("expr", gp.genHalfAndHalf, pset=primitives, min_=1, max_=4)
    box.register("individual", tools.initIterate, creator.OrdinoTree, box.expr)
    box.register("population", tools.initRepeat, list, box.individual)
    box.register("evaluate", lambda t: (float(abs(gp.compile(t, primitives)(X_LINE[:, 0]) - QUARTIC).mean()),))
    box.register("select", tools.selTournament, tournsize=3)
    box.register("mate", gp.cxOnePoint)
    box.register("mutate", gp.mutUniform, expr=lambda pset, type_: gp.genFull(pset, 0, 2, type_), pset=primitives)
    for name in ("mate", "mutate"):
        box.decorate(name, gp.staticLimit(key=lambda tree: tree.height, max_value=12))
    state = random.getstate()
    try:
        random.seed(seed)
        best = tools.HallOfFame(1)
        algorithms.eaSimple(box.population(n=200), box, 0.9, 0.1, 20, halloffame=best, verbose=False)
    finally:
        random.setstate(state)
    return float(best[0].fitness.values[0])


@pytest.mark.slow
def test_genetic_programming_is_not_worse_than_deap() -> None:
    ours = [our_error(seed) for seed in SEEDS]
    theirs = [deap_error(seed) for seed in SEEDS]
    assert np.median(ours) <= np.median(theirs) + 1e-6, f"{ours} against {theirs}"  # features are single precision


def test_formulas_stay_within_their_depth_and_the_fittest_lives() -> None:
    search = GeneticProgramming(3, population=40, max_depth=3, seed=1)
    for _ in range(15):
        trees = search.ask()
        assert max(tree.depth for tree in trees) <= 4  # the first ones may be as deep as they were made
        search.tell(np.array([float(len(tree)) for tree in trees]))
    assert search.best in search.ask()
    assert isinstance(search.best, Formula)


def test_children_reach_the_depth_that_is_allowed_and_no_more() -> None:
    search, deepest = GeneticProgramming(3, population=60, max_depth=6, seed=1), []
    for _ in range(12):
        trees = search.ask()
        deepest.append(max(tree.depth for tree in trees))
        search.tell(np.array([float(tree.depth) for tree in trees]))
    assert max(deepest) == deepest[-1] == 6


def test_of_equally_fit_formulas_the_shortest_is_the_best() -> None:
    search = GeneticProgramming(3, population=30, seed=1)
    trees = search.ask()
    search.tell(np.zeros(30))
    assert len(search.best) == min(map(len, trees)) < max(map(len, trees))
    search = GeneticProgramming(3, population=30, seed=1)
    best = [tree for i, tree in enumerate(search.ask()) if i % 8 > 1]  # without the first two, which are short anyway
    search.tell([float(i % 8 > 1) for i in range(30)])
    assert len(search.best) == min(map(len, best)) < len(best[0])
    search.tournament = 500  # in which everybody meets
    assert len(search._select()) == len(search.best)


def test_without_crossover_and_mutation_parents_live_on() -> None:
    search = GeneticProgramming(2, population=6, crossover_rate=0.0, mutation_rate=0.0, seed=1)
    first = set(search.ask())
    search.tell(np.zeros(6))
    assert set(search.ask()) <= first
