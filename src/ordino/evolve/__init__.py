"""Search without gradients: ask/tell strategies that know nothing of ranking, and the fitness of rankers.

A strategy is asked for individuals, something gives each a fitness, and the strategy is told: larger is better.

>>> from ordino.evolve import DifferentialEvolution, evolve, uniform_population
>>> start = uniform_population(20, 3, seed=1)
>>> run = evolve(DifferentialEvolution(start, seed=1), lambda W: -(W**2).sum(axis=1), generations=80)
>>> bool(run.fitness > -1e-6)
True
"""

from ordino.evolve.differential import ADAPTATIONS, BASES, DifferentialEvolution
from ordino.evolve.fitness import LinearFitness, Objective, weigh
from ordino.evolve.formula import FUNCTIONS, Formula
from ordino.evolve.genetic_programming import FormulaFitness, GeneticProgramming
from ordino.evolve.loop import Run, Strategy, evolve
from ordino.evolve.strategies import (
    CMA,
    MUTATIONS,
    EvolutionStrategy,
    ParticleSwarm,
    uniform_population,
)

__all__ = [
    "ADAPTATIONS", "BASES", "CMA", "FUNCTIONS", "MUTATIONS", "DifferentialEvolution", "EvolutionStrategy", "Formula",
    "FormulaFitness", "GeneticProgramming", "LinearFitness", "Objective", "ParticleSwarm", "Run", "Strategy", "evolve",
    "uniform_population", "weigh",
]  # fmt: skip
