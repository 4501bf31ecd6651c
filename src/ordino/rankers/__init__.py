"""The algorithms: ``RANKERS`` names each, where it lives and what it is in one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ordino.errors import unknown_name

if TYPE_CHECKING:
    from ordino.ranker import Ranker


class RankerEntry(NamedTuple):
    """A line of the table of rankers."""

    cls: str
    module: str
    description: str


RANKERS: Mapping[str, RankerEntry] = MappingProxyType(
    {
        "ranknet": RankerEntry(
            "RankNet", "ordino.rankers.ranknet", "a network that learns pairs by cross entropy of score differences"
        ),
        "kernel-ranknet": RankerEntry(
            "KernelRankNet",
            "ordino.rankers.ranknet",
            "RankNet in the space of a kernel, through Nystroem features",
        ),
        "directranker": RankerEntry(
            "DirectRanker",
            "ordino.rankers.directranker",
            "a feature net and one odd neuron, learned from neighboring classes",
        ),
        "lambdarank": RankerEntry(
            "LambdaRank",
            "ordino.rankers.listwise",
            "a network whose pairs weigh what their swap changes in a measure",
        ),
        "listnet": RankerEntry(
            "ListNet", "ordino.rankers.listwise", "a network that learns the probability of being first"
        ),
        "listmle": RankerEntry(
            "ListMLE", "ordino.rankers.listwise", "a network that learns the likelihood of the whole order"
        ),
        "rankcosine": RankerEntry(
            "RankCosine", "ordino.rankers.listwise", "a network whose scores point in the direction of the labels"
        ),
        "rankprop": RankerEntry(
            "RankProp", "ordino.rankers.rankprop", "regression on targets that follow the network's own ranking"
        ),
        "scorer": RankerEntry("Scorer", "ordino.rankers.scorer", "any loss with a linear function, a network or trees"),
        "sortnet": RankerEntry(
            "SortNet",
            "ordino.rankers.sortnet",
            "a symmetric comparator that learns from the pairs its own sort gets wrong",
        ),
        "deepnet": RankerEntry(
            "DeepNet", "ordino.rankers.deepnet", "a deep symmetric comparator of two documents, inside a sort"
        ),
        "dense-comparator": RankerEntry(
            "DenseComparator",
            "ordino.rankers.deepnet",
            "a comparator without shared weights; DeepNet's baseline",
        ),
        "rankde": RankerEntry(
            "RankDE",
            "ordino.rankers.rankde",
            "differential evolution of a linear ranker that maximizes a measure itself",
        ),
        "swarm-rank": RankerEntry("SwarmRank", "ordino.rankers.swarm", "a particle swarm in search of a linear ranker"),
        "gp-rank": RankerEntry("GPRank", "ordino.rankers.gp", "genetic programming of a readable ranking formula"),
        "es-rank": RankerEntry(
            "ESRank",
            "ordino.rankers.evolution_strategies",
            "a (1+1) evolution strategy on the weights of a linear ranker",
        ),
        "iesr-rank": RankerEntry(
            "IESRRank", "ordino.rankers.evolution_strategies", "ES-Rank started from linear regression"
        ),
        "iesvm-rank": RankerEntry("IESVMRank", "ordino.rankers.evolution_strategies", "ES-Rank started from RankSVM"),
        "cma-rank": RankerEntry("CMARank", "ordino.rankers.cma", "CMA-ES on the weights of a linear ranker"),
        "rank-svm": RankerEntry(
            "RankSVM",
            "ordino.rankers.ranksvm",
            "large margins between documents of different labels, without explicit pairs",
        ),
        "prank": RankerEntry(
            "PRank", "ordino.rankers.perceptrons", "an online perceptron with a threshold for each level"
        ),
        "oap-bpm": RankerEntry(
            "OAPBPM", "ordino.rankers.perceptrons", "many PRank perceptrons on random parts, averaged to a Bayes point"
        ),
        "rank-boost": RankerEntry(
            "RankBoost", "ordino.rankers.rankboost", "boosted thresholds of single features on weighted pairs"
        ),
        "ada-rank": RankerEntry(
            "AdaRank", "ordino.rankers.adarank", "boosted single features on queries weighted by a measure"
        ),
        "frank": RankerEntry("FRank", "ordino.rankers.frank", "an additive model boosted on the fidelity of pairs"),
        "coordinate-ascent": RankerEntry(
            "CoordinateAscent", "ordino.rankers.coordinate_ascent", "one weight at a time, straight up a measure"
        ),
        "lambda-mart": RankerEntry(
            "LambdaMART", "ordino.rankers.lambdamart", "boosted trees on LambdaRank's gradients, grown by LightGBM"
        ),
        "mc-rank": RankerEntry(
            "McRank", "ordino.rankers.mcrank", "classification into levels by boosted trees; the expected level ranks"
        ),
        "linear-regression-ranker": RankerEntry(
            "LinearRegressionRanker", "ordino.rankers.baselines", "least squares on the labels"
        ),
        "single-feature": RankerEntry(
            "SingleFeature",
            "ordino.rankers.baselines",
            "one feature, given or the best on training data; BM25 is one",
        ),
        "random-ranker": RankerEntry(
            "RandomRanker",
            "ordino.rankers.baselines",
            "an order by chance, the same for the same document and seed",
        ),
        "nested-ranker": RankerEntry(
            "NestedRanker", "ordino.rankers.nested", "stages of rankers, each for the top of the one before"
        ),
        "rank-aggregation": RankerEntry(
            "RankAggregation", "ordino.rankers.aggregation", "many rankers whose orders are made one"
        ),
    }
)
"""Every ranker by its name on the command line."""


def ranker_class(name: str) -> type[Ranker]:
    """The class of a ranker by its name, written with or without dashes and capitals.

    Examples
    --------
    >>> ranker_class("rank-svm") is ranker_class("RankSVM") is ranker_class("ranksvm")
    True
    """
    for key, entry in RANKERS.items():
        if _letters(name) in (_letters(key), _letters(entry.cls)):
            found: type[Ranker] = getattr(import_module(entry.module), entry.cls)
            return found
    raise unknown_name("ranker", name, RANKERS)


def make_ranker(name: str, params: Mapping[str, Any]) -> Ranker:
    """A ranker by its name with these parameters; ``ranker__hidden`` reaches a parameter of a ranker inside it.

    Examples
    --------
    >>> make_ranker("nested-ranker", {"ranker": "ranknet", "ranker__epochs": 5}).ranker
    RankNet(epochs=5)
    """
    given = dict(params)
    if isinstance(given.get("ranker"), str):
        given["ranker"] = ranker_class(given["ranker"])()
    made: Ranker = ranker_class(name)(**{key: value for key, value in given.items() if "__" not in key})
    return made.set_params(**{key: value for key, value in given.items() if "__" in key})


def _letters(name: str) -> str:
    return name.replace("-", "").lower()
