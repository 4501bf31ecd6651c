"""The one loop that drives every strategy: ask, score, tell, look at the validation set, stop."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ordino.errors import ParameterError
from ordino.progress import Steps


class Strategy(Protocol):
    """What a search strategy offers; ``best`` and ``fitness`` exist after the first ``tell``."""

    fitness: NDArray[np.float64]
    """Of the present population, larger is better."""
    best: Any
    """The fittest individual seen so far."""
    best_fitness: float
    """Its fitness; minus infinity before the first ``tell``."""

    def ask(self) -> Any:
        """Individuals to be scored: a matrix with one weight vector a row, or a list of formulas."""

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """Take the fitness of the individuals that the last ``ask`` gave."""


class Run(NamedTuple):
    """What came out of :func:`evolve`."""

    best: Any
    """The fittest individual: on the validation set if there is one, else on the training set."""
    fitness: float
    """Its fitness on the set by which it was chosen."""
    history: list[dict[str, float]]
    """A row for each generation: its number, the highest fitness so far, the mean fitness, and, with a validation set,
    ``valid``, the fitness there of the best individual."""
    interrupted: bool


def evolve(
    strategy: Strategy,
    fitness: Callable[[Any], NDArray[np.float64]],
    *,
    generations: int,
    valid: Callable[[Any], NDArray[np.float64]] | None = None,
    patience: int | None = None,
    label: str = "evolving",
    verbose: bool = False,
    before: Run | None = None,
) -> Run:
    """Run a strategy for some generations, after generation 0, which is the start.

    Parameters
    ----------
    fitness
        The fitness of each individual that the strategy asks for; larger is better.
    valid
        The fitness on held-out data. Whenever a generation has a new best individual it is scored there as well, and
        the one that is best there is given back; the search itself never sees it.
    patience
        Stop after this many generations without a better best (on ``valid`` if given).
    before
        An earlier run of the same strategy, which this one continues.

    Notes
    -----
    Ctrl-C ends the run as if the generation before had been the last.
    """
    history = [] if before is None else list(before.history)
    chosen, reached = (None, -np.inf) if before is None else (before.best, before.fitness)
    held_out = history[-1].get("valid", np.nan) if history else np.nan
    waited = 0
    with Steps(label, generations + (before is None), verbose=verbose) as steps:
        for _ in steps:
            best_before = strategy.best_fitness
            strategy.tell(fitness(strategy.ask()))
            waited += 1
            if strategy.best_fitness > best_before or not history:
                here = strategy.best_fitness
                if valid is not None:
                    here = held_out = float(valid([strategy.best])[0])
                if here > reached or chosen is None:
                    chosen, reached, waited = strategy.best, here, 0
            figures = {"best": strategy.best_fitness, "mean": float(strategy.fitness.mean())}
            if valid is not None:
                figures["valid"] = held_out
            history.append({"generation": len(history)} | figures)
            steps.show(**figures)
            if patience is not None and waited >= patience:
                break
    if chosen is None:
        raise ParameterError(f"{label}: generations={generations}; at least one generation must run")
    return Run(chosen, reached, history, steps.interrupted)
