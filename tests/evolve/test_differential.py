"""What differential evolution learned after RankDE: each step against a slow transcription."""

import numpy as np
import pytest

from ordino import RankDE
from ordino.errors import ParameterError
from ordino.evolve import DifferentialEvolution, evolve, uniform_population
from ordino.evolve.differential import distinct_from_self
from ordino.testing import easy_data

START = uniform_population(8, 3, seed=4)


def sphere(W):
    return -((np.asarray(W) - [0.5, -0.25, 0.75]) ** 2).sum(axis=1)


def shade_by_hand(x, fitness, F_means, CR_means, seed):
    """A generation of SHADE's mutation and crossover, individual by individual, from the same random numbers."""
    rng = np.random.default_rng(seed)
    n, n_weights = x.shape
    place = rng.integers(len(F_means), size=n)
    normal = rng.standard_normal(n)
    CR = [min(max(CR_means[place[i]] + 0.1 * normal[i], 0.0), 1.0) for i in range(n)]
    F = [F_means[place[i]] + 0.1 * c for i, c in enumerate(rng.standard_cauchy(n))]
    while any(f <= 0 for f in F):
        low = [i for i in range(n) if F[i] <= 0]
        for i, c in zip(low, rng.standard_cauchy(len(low)), strict=True):
            F[i] = F_means[place[i]] + 0.1 * c
    F = [min(f, 1.0) for f in F]
    others = distinct_from_self(n, 3, rng)
    best_first = sorted(range(n), key=lambda i: -fitness[i])
    share = rng.uniform(min(2 / n, 0.2), 0.2, n)
    drawn = rng.random(n)
    crossed, forced = None, None
    mutants = []
    for i in range(n):
        many = max(round(share[i] * n), 1)
        p = best_first[int(drawn[i] * many)]
        mutants.append(x[i] + F[i] * (x[p] - x[i]) + F[i] * (x[others[i][1]] - x[others[i][2]]))
    crossed, forced = rng.random((n, n_weights)), rng.integers(n_weights, size=n)
    children = [
        [mutants[i][j] if crossed[i][j] <= CR[i] or j == forced[i] else x[i][j] for j in range(n_weights)]
        for i in range(n)
    ]
    return np.array(children), np.array(F), np.array(CR)


def test_a_generation_of_shade_is_that_of_the_slow_loop():
    search = DifferentialEvolution(START, mutation="current-to-pbest/1", self_adaptive="shade", seed=9)
    search.tell(sphere(search.ask()))
    before, fitness = search.population.copy(), search.fitness.copy()
    children, F, CR = shade_by_hand(before, fitness, [0.5] * 8, [0.5] * 8, 9)
    np.testing.assert_allclose(search.ask(), children, rtol=1e-12)
    given = sphere(children)
    search.tell(given)
    won = given > fitness
    assert won.any()
    weights = (given - fitness)[won] / (given - fitness)[won].sum()
    lehmer = sum(w * f * f for w, f in zip(weights, F[won], strict=True)) / sum(
        w * f for w, f in zip(weights, F[won], strict=True)
    )
    assert search.memory[0].tolist() == pytest.approx([lehmer, *[0.5] * 7])
    assert search.memory[1, 0] == pytest.approx(float((weights * CR[won]).sum()))
    np.testing.assert_array_equal(search.archive, before[won])
    np.testing.assert_array_equal(search.population, np.where(won[:, None], children, before))


def test_pbest_is_one_of_the_share():
    search = DifferentialEvolution(START, mutation="current-to-pbest/1", top=0.25, seed=2)
    search.tell(sphere(search.ask()))
    best_two = set(np.argsort(-search.fitness)[:2].tolist())
    drawn = {int(i) for _ in range(40) for i in search._one_of_the_best()}
    assert drawn == best_two


def test_the_population_falls_in_a_line_and_keeps_the_fittest():
    search = DifferentialEvolution(START, shrink_to=4, shrink_over=4, seed=1)
    sizes = []
    for _ in range(6):
        search.tell(sphere(search.ask()))
        sizes.append(len(search.population))
        assert search.fitness.max() == search.best_fitness
    assert sizes == [7, 6, 5, 4, 4, 4]


def test_local_steps_change_one_weight_of_the_best_and_follow_their_success():
    search = DifferentialEvolution(START, local_search=3, seed=1)
    search.tell(sphere(search.ask()))
    step, best = search.step, search.best.copy()
    asked = search.ask()
    assert asked.shape == (11, 3)
    assert ((asked[8:] != best).sum(axis=1) == 1).all()
    fitness = np.full(11, -10.0)
    search.tell(fitness)
    assert search.step == pytest.approx(0.9 * step)
    near = search.ask()[9].copy()
    fitness[9] = 5.0
    search.tell(fitness)
    assert search.best_fitness == 5.0
    np.testing.assert_array_equal(search.best, near)
    assert search.step == pytest.approx(0.9 * 1.5 * step)


@pytest.mark.parametrize(
    "options",
    [
        {"mutation": "current-to-pbest/1"},
        {"mutation": "current-to-pbest/1", "self_adaptive": "shade"},
        {"mutation": "current-to-pbest/1", "self_adaptive": "shade", "shrink_to": 4, "shrink_over": 60},
        {"self_adaptive": "jde", "local_search": 2},
    ],
    ids=str,
)
def test_each_finds_the_top_of_a_hill(options):
    start = uniform_population(12, 3, seed=1)
    assert evolve(DifferentialEvolution(start, seed=1, **options), sphere, generations=80).fitness > -1e-3


@pytest.mark.parametrize(
    "options",
    [
        {"self_adaptive": "shade", "mutation": "current-to-pbest/1"},
        {"top": 0.5, "mutation": "current-to-pbest/1"},
        {"shrink_to": 4},
        {"local_search": 4},
    ],
    ids=str,
)
def test_the_ranker_has_them_and_they_have_an_effect(options):
    data = easy_data()
    plain = {key: value for key, value in options.items() if key == "mutation"}
    common = {"generations": 12, "population": 10, "metric": "ndcg@10"}
    with_it, without = RankDE(**common, **options).fit(data), RankDE(**common, **plain).fit(data)
    assert with_it.history_ != without.history_
    again = RankDE(**common, **options, n_jobs=2).fit(data)
    np.testing.assert_array_equal(again.coef_, with_it.coef_)


def test_true_is_jde_and_other_names_are_refused():
    data = easy_data()
    common = {"generations": 5, "population": 8}
    one, other = (RankDE(self_adaptive=name, **common).fit(data) for name in (True, "jde"))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    with pytest.raises(ParameterError, match="self_adaptive"):
        RankDE(self_adaptive="sade").fit(data)
