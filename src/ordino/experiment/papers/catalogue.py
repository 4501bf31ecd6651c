"""Every table and figure of the five papers that can be run again: what it shows, what it needs, how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ordino.errors import unknown_name

if TYPE_CHECKING:
    from ordino.experiment.papers.request import Request
    from ordino.experiment.papers.result import Result

NOTHING = "nothing"
ANY_JUDGED = "any judged folder (the paper's data is private)"
TD2003 = "TD2003"
BOTH_TD = "TD2003, TD2004"
LETOR_4 = "MQ2007, MQ2008, MSLR-WEB10K"


class Target(NamedTuple):
    """A line of the catalogue."""

    shows: str
    needs: str
    """Data to name with ``--data``; any folder of the same shape will do."""
    takes: str
    """About how long on two cores."""
    module: str


def _paper(name: str, module: str, *targets: tuple[str, str, str, str]) -> dict[str, Target]:
    return {
        f"{name}.{key}": Target(shows, needs, takes, f"ordino.experiment.papers.{module}")
        for key, shows, needs, takes in targets
    }


TARGETS: Mapping[str, Target] = MappingProxyType(
    _paper(
        "ranknet",
        "ranknet",
        ("table1", "pairs in order on a random net and a random polynomial", NOTHING, "5 min"),
        ("table2", "training on ties", NOTHING, "1 min"),
    )
    | _paper(
        "ranknet",
        "ranknet_search",
        ("table3", "queries and documents used for training, validation and test", ANY_JUDGED, "10 min"),
        ("table4", "NDCG@15 of PRank, OAP-BPM, RankProp and RankNet with 95 % intervals", ANY_JUDGED, "10 min"),
        ("table5", "NDCG@15 of RankNet on its training queries", ANY_JUDGED, "10 min"),
        ("table6", "training times", ANY_JUDGED, "10 min"),
    )
    | _paper(
        "sortnet",
        "sortnet",
        ("table1", "10, 20 and 30 hidden neurons", BOTH_TD, "2 h"),
        ("table2", "SortNet beside six other methods", BOTH_TD, "2 h"),
        ("fig2", "MAP of all methods", BOTH_TD, "2 h"),
        ("fig3", "MAP on validation data at each iteration", BOTH_TD, "1 h"),
        ("shuffling", "how many documents move when the sort starts from another order", BOTH_TD, "1 h"),
    )
    | _paper(
        "deepnet",
        "deepnet",
        ("fig2.1", "share of relevant documents of each query", TD2003, "1 min"),
        ("table3.1", "a dense net and the comparator", TD2003, "1 h"),
        ("fig3.2", "four losses", TD2003, "2 h"),
        ("fig3.3", "five kinds of training pairs", TD2003, "3 h"),
        ("fig4.2", "1 to 4 hidden layers", TD2003, "5 h"),
        ("fig4.3", "1 to 4 hidden layers with dropout", TD2003, "5 h"),
        ("fig4.4", "MAP by dropout", TD2003, "11 h"),
        ("fig4.5", "mean activations with and without dropout", TD2003, "20 min"),
        ("fig4.6", "activations of each layer under a strong and a weak L2 penalty", TD2003, "20 min"),
        ("fig4.7", "MAP by L2 penalty", TD2003, "6 h"),
        ("fig4.8", "mean activations with and without L2 penalty", TD2003, "20 min"),
        ("table4.2", "one layer, and three layers with dropout", TD2003, "2 h"),
        ("table4.3", "sigmoid, and ReLU after stacked auto-encoders", TD2003, "3 h"),
        ("table4.4", "the three settings side by side", TD2003, "4 h"),
        ("fig4.10", "MAP of shallow and deep comparators", TD2003, "3 h"),
        ("table4.5", "MAP of all methods", TD2003, "5 h"),
        ("table4.6", "P@n of all methods", TD2003, "5 h"),
        ("table4.7", "NDCG@n of all methods", TD2003, "5 h"),
        ("table5.1", "ten times as many training pairs", TD2003, "16 h"),
        ("table5.2", "multiple nested ranker and rank aggregation", TD2003, "days"),
    )
    | _paper(
        "directranker",
        "directranker",
        ("table1", "NDCG@10 and MAP of eight methods", LETOR_4, "30 min"),
        ("table2", "training times", LETOR_4, "20 min"),
    )
    | _paper(
        "directranker",
        "directranker_synthetic",
        ("fig2a", "NDCG@20 by number of classes", NOTHING, "2 min"),
        ("fig2b", "NDCG@20 by number of features", NOTHING, "2 min"),
        ("fig2c", "NDCG@20 by noise on the labels", NOTHING, "2 min"),
        ("fig2d", "NDCG@20 by size of the training set", NOTHING, "1 min"),
    )
    | _paper(
        "rankde",
        "rankde",
        ("table3", "six methods on TD2003", TD2003, "2 h"),
        ("table4", "six methods on TD2004", "TD2004", "3 h"),
        ("table5", "the weights that RankDE learns", TD2003, "1 h"),
    )
)  # fmt: skip
"""Everything that ``ordino reproduce`` can run, by name."""


def reproduce(name: str, request: Request) -> Result:
    """Run a target; the time it takes is part of the result, with that of all training it needs, as if on one core."""
    if name not in TARGETS:
        raise unknown_name("target", name, TARGETS)
    module = import_module(TARGETS[name].module)
    trained = request.trained
    start, waited, n_used = time.perf_counter(), trained.waited, len(trained.used)
    result: Result = module.RUNS[name.partition(".")[2]](request)
    seconds = time.perf_counter() - start - (trained.waited - waited)
    seconds += sum(trained.repeats[key].seconds for key in set(trained.used[n_used:]))
    reduced = (
        [f"Reduced by `--repeats {request.repeats}`: at most so many repeats of everything."] if request.repeats else []
    )
    return replace(result, seconds=seconds, notes=[*result.notes, *reduced])
