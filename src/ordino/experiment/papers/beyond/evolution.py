"""RankDE's open question, other settings and local search: fitness against evaluations, beside CMA-ES and ascent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import TrialInfo

COLLECTIONS = ("MQ2007", "MQ2008")
PAPER = "RankDE, published"
MAP, FITNESS, TEST = "map", "fitness", "MAP on test parts"
POPULATION, GENERATIONS, LOCAL = 30, 100, 6
BUDGETS = (300, 600, 1500, 3000)
COMMON: dict[str, Any] = {"metric": MAP, "generations": GENERATIONS}
QUICK = {"generations": 4, "population": 8}
TO_PBEST = {"mutation": "current-to-pbest/1"}


def _rankde(**params: Any) -> System:
    return System("rankde", COMMON | {"population": POPULATION} | params, quick=QUICK, repeats=10)


SYSTEMS: Mapping[str, System] = {
    PAPER: System("rankde", COMMON | {"population": POPULATION}, "published", QUICK, repeats=10),
    "current-to-pbest": _rankde(**TO_PBEST),
    "jde": _rankde(self_adaptive="jde"),
    "shade": _rankde(self_adaptive="shade", **TO_PBEST),
    "shade, shrinking": _rankde(self_adaptive="shade", shrink_to=10, **TO_PBEST),
    "published with local search": _rankde(local_search=LOCAL),
    "CMARank": System("cma-rank", COMMON | {"population": POPULATION}, quick=QUICK, repeats=10),
    "CoordinateAscent": System("coordinate-ascent", {"metric": MAP}, quick={"restarts": 1, "sweeps": 1}, repeats=10),
}
PROTOCOL = f"""\
On {{data}} ({{folds}}, {{repeats}}), MAP as fitness, populations of {POPULATION}, {GENERATIONS} generations. Fitness \
is the highest on the training part after so many weight vectors were measured; the test values are those at the end. \
CoordinateAscent does not count its evaluations and stands in the table with its test value alone. The individual that \
is kept is the best on the validation part, but in the published form, which keeps the best on the training part. A \
claim here is our question, not the paper's: "comes back" means that the gain is shown, "does not" that there is none \
of a size that matters."""


def plans(request: Request) -> list[Plan]:
    """All strategies."""
    how = {"measures": (MAP, "ndcg@10"), "profile": "standard"}
    found = request.collections(COLLECTIONS)
    return [request.plan({name: folds}, SYSTEMS.values(), **how) for name, folds in found.items()]


def sizes(params: Mapping[str, Any], n_generations: int) -> np.ndarray:
    """How many weight vectors are measured in each generation.

    Examples
    --------
    >>> sizes({"population": 8, "shrink_to": 4, "generations": 4}, 6).tolist()
    [8, 7, 6, 5, 4, 4]
    >>> sizes({"population": 8, "local_search": 2}, 3).tolist()
    [8, 10, 10]
    """
    first = int(params["population"])
    number = np.arange(n_generations)
    share = np.minimum(number / max(int(params.get("generations", 1)), 1), 1.0)
    last = params.get("shrink_to")
    many = np.full(n_generations, first) if last is None else np.rint(first + (last - first) * share).astype(int)
    return many + np.where(number > 0, int(params.get("local_search", 0) or 0), 0)


def curve(history: Sequence[Mapping[str, float]], params: Mapping[str, Any], budget: int) -> float:
    """The best fitness after so many evaluations."""
    spent = np.cumsum(sizes(params, len(history)))
    done = int(np.searchsorted(spent, budget, side="right"))
    return float(history[max(done - 1, 0)]["best"])


def view(request: Request, trials: Trials) -> Iterator[Number]:
    """Fitness at several budgets, and MAP on the test parts."""
    for name in request.collections(COLLECTIONS):
        for label, system in SYSTEMS.items():
            own = trials.of(name, system.label(request))
            if label != "CoordinateAscent":
                params = dict(system.params) | (dict(system.quick) if request.quick else {})
                for budget in BUDGETS:
                    reached = _by_seed(own, trials, params, budget)
                    yield Number((name, label, FITNESS, str(budget)), None, reached)
            values = trials.by_seed(name, system.label(request), MAP)
            if not any(trial.is_random for trial in own):
                values = values[:1] * request.at_most(system.repeats)
            yield Number((name, label, TEST, str(BUDGETS[-1])), None, values)


def _by_seed(own: list[TrialInfo], trials: Trials, params: Mapping[str, Any], budget: int) -> tuple[float, ...]:
    seeds = dict.fromkeys(trial.seed for trial in own)
    found = {
        seed: [curve(trials.store.history(t.key), params, budget) for t in own if t.seed == seed] for seed in seeds
    }
    return tuple(float(np.mean(values)) for values in found.values())


def _claims() -> list[Claim]:
    rivals = [label for label in SYSTEMS if label not in (PAPER, "CoordinateAscent")]
    fitness = {"measure": FITNESS, "evaluations": str(BUDGETS[2])}
    test = {"measure": TEST, "evaluations": str(BUDGETS[-1])}
    made = [
        Claim(
            says=f"{label} is fitter than the published form after {BUDGETS[2]:,} evaluations",
            better={"strategy": label} | fitness, worse={"strategy": PAPER} | fitness,
        )
        for label in rivals
    ]  # fmt: skip
    return made + [
        Claim(
            says=f"{label} beats the published form in MAP on test data",
            better={"strategy": label} | test, worse={"strategy": PAPER} | test,
        )
        for label in (*rivals, "CoordinateAscent")
    ]  # fmt: skip


AXES = Axes("lines", "evaluations", "MAP", color="strategy", facet="measure", logarithmic=True)
TARGET = Target(
    shows="RankDE with other strategies", needs=", ".join(COLLECTIONS), takes="60 min", plans=plans, view=view,
    page=Result(
        "RankDE with other strategies, {data}", ("collection", "strategy", "measure", "evaluations"), protocol=PROTOCOL,
        claims=_claims(), digits=4, axes=AXES,
    ),
)  # fmt: skip
