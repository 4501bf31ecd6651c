"""What AutoRanker tries: the members it begins with, and what further minutes are spent on.

The first members are of different families and see different features. Few queries call for stronger penalties, more
bags and two more members that cannot overfit much. Everything here was chosen out of fold.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ordino.ensemble.trials import Kind
from ordino.errors import ParameterError
from ordino.losses.families import parse_measure
from ordino.ranker import Ranker
from ordino.rankers import make_ranker, ranker_class
from ordino.streams import stream

FEW_QUERIES = 300

NETWORK = MappingProxyType(
    {"hidden": (100, 100), "dropout": 0.5, "l2": 0.01, "learning_rate": 3e-3, "batch": 32, "epochs": 30}
)
TREES = MappingProxyType({"query_share": 0.5, "feature_share": 0.5, "rounds": 200, "bags": 2})
UNTOLD: Mapping[str, Mapping[str, Any]] = MappingProxyType({"lambda-mart": {"leaves": 15, "learning_rate": 0.05}})
"""What members of a family have unless their kind says otherwise, for any number of queries."""

SECONDS: Mapping[str, float] = MappingProxyType(
    {
        "rank-svm": 4e-7,
        "linear-regression-ranker": 4e-8,
        "rank-boost": 4e-7,
        "lambda-mart": 9e-7,
        "mc-rank": 2e-6,
    }
)
"""About what a cell (a feature of a document) costs on one processor, all rounds together; see ``NETWORK_SECONDS``."""
NETWORK_SECONDS = 6e-7

VIEWS = ("z", "z+rank", "z+qlog", "rank+qlog", "z+rank+qlog", "z+rank+qlog+hinge")
NETWORKS: Mapping[str, Sequence[Any]] = MappingProxyType(
    {
        "features": VIEWS,
        "hidden": ((64,), (200,), (100, 100), (200, 100), (64, 32, 16)),
        "dropout": (0.3, 0.5, 0.7),
        "l2": (0.001, 0.01, 0.1),
        "learning_rate": (1e-3, 3e-3),
        "batch": (16, 32),
        "epochs": (40,),
    }
)
SPACE: Mapping[str, Mapping[str, Sequence[Any]]] = MappingProxyType(
    {
        "rank-svm": {"features": VIEWS, "C": (0.001, 0.003, 0.01, 0.03, 0.1), "pair_weights": ("query",)},
        "lambdarank": NETWORKS,
        "listmle": NETWORKS,
        "ranknet": NETWORKS,
        "listnet": NETWORKS,
        "lambda-mart": {
            "features": ("raw", "raw+rank", "raw+z", "rank", "raw+rank+qlog"),
            "leaves": (6, 10, 15, 31),
            "min_leaf": (20, 50, 100),
            "l2": (0.0, 1.0, 5.0),
            "learning_rate": (0.03, 0.05, 0.08),
            "query_share": (0.5,),
            "feature_share": (0.3, 0.5),
            "truncation": (10, 30),
            "rounds": (300,),
            "bags": (2,),
        },
        "rank-boost": {"features": ("raw", "rank", "raw+rank"), "rounds": (60, 120, 240)},
        "linear-regression-ranker": {"features": VIEWS, "alpha": (10.0, 100.0, 1000.0)},
    }
)
"""Families that further trials are drawn from, and the values of their parameters."""
FAMILIES = ("lambda-mart", "lambdarank", "rank-svm", "ranknet", "listmle", "listnet", "rank-boost", "lambda-mart")
"""In turn; a family may come twice."""


def first_kinds(n_queries: int) -> list[Kind]:
    """The members to begin with, the cheap ones first."""
    few = n_queries < FEW_QUERIES
    trees = dict(TREES) | ({"l2": 5.0, "bags": 4, "min_leaf": 20} if few else {})
    more = [
        Kind("linear-regression-ranker", {"alpha": 100.0}, "z+rank+qlog"),
        Kind("rank-boost", {"rounds": 100}, "raw"),
    ]
    return [
        Kind("rank-svm", {"C": 0.01, "pair_weights": "query"}, "z+rank+qlog+hinge"),
        *(more if few else ()),
        Kind("lambdarank", dict(NETWORK), "z+rank+qlog"),
        Kind("lambda-mart", trees, "raw+rank"),
        Kind("listmle", dict(NETWORK), "z+rank+qlog"),
    ]


def drawn_kinds(seed: int, bracket: int, n: int = 6) -> list[Kind]:
    """The trials of a bracket: a few families in turn, with features and parameters that are drawn."""
    rng = stream(seed, "bracket", bracket)
    kinds = []
    for i in range(n):
        family = FAMILIES[(bracket * n + i) % len(FAMILIES)]
        drawn = {name: values[int(rng.integers(len(values)))] for name, values in SPACE[family].items()}
        kinds.append(
            Kind(family, {name: value for name, value in drawn.items() if name != "features"}, drawn["features"])
        )
    return kinds


def make_member(kind: Kind, *, metric: str, profile: str, n_jobs: int | None) -> Ranker:
    """The unfitted ranker of a kind; it scales nothing, since its features come scaled."""
    known = ranker_class(kind.ranker)().get_params(deep=False)
    shared = {"scaling": None, "metric": _learnable(metric), "profile": profile, "n_jobs": n_jobs}
    return make_ranker(
        kind.ranker,
        {name: value for name, value in shared.items() if name in known}
        | dict(UNTOLD.get(kind.ranker, {}))
        | dict(kind.params),
    )


def _learnable(metric: str) -> str:
    """The metric, if LambdaRank can learn it; else NDCG@10."""
    try:
        parse_measure(metric)
    except ParameterError:
        return "ndcg@10"
    return metric


def seconds_of(kind: Kind, n_docs: int, width: int, n_folds: int) -> float:
    """About how long a trial takes on one processor."""
    bags = int(kind.params.get("bags", 1))
    return 0.05 + SECONDS.get(kind.ranker, NETWORK_SECONDS) * bags * n_docs * width * (n_folds - 1)
