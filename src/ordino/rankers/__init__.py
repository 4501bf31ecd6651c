"""The algorithms: ``RANKERS`` names each, where it lives and what it is in one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ordino.errors import ParameterError, import_extra, unknown_name

if TYPE_CHECKING:
    from ordino.ranker import Ranker


class RankerEntry(NamedTuple):
    """A line of the table of rankers."""

    cls: str
    module: str
    description: str


_LINES = (
    ("ranknet", "RankNet", "ranknet", "a network trained on pairs, by cross entropy of score differences"),
    ("kernel-ranknet", "KernelRankNet", "ranknet", "RankNet with a kernel, approximated by Nystroem features"),
    ("directranker", "DirectRanker", "directranker", "a feature net and an odd neuron, trained on neighboring classes"),
    ("lambdarank", "LambdaRank", "listwise", "a network with pairs weighted by how their swap changes a metric"),
    ("listnet", "ListNet", "listwise", "a network that learns the probability of being first"),
    ("listmle", "ListMLE", "listwise", "a network that learns the likelihood of the whole order"),
    ("rankcosine", "RankCosine", "listwise", "a network whose scores point in the direction of the labels"),
    ("rankprop", "RankProp", "rankprop", "regression on targets that follow the network's own ranking"),
    ("scorer", "Scorer", "scorer", "any loss with a linear function, a network or trees"),
    ("sortnet", "SortNet", "sortnet", "a symmetric comparator that learns from the pairs its own sort gets wrong"),
    ("deepnet", "DeepNet", "deepnet", "a deep symmetric comparator of two documents, used in a sort"),
    ("dense-comparator", "DenseComparator", "deepnet", "a comparator without shared weights; DeepNet's baseline"),
    ("rankde", "RankDE", "rankde", "differential evolution of a linear ranker that maximizes a metric itself"),
    ("swarm-rank", "SwarmRank", "evolution", "a particle swarm that searches for a linear ranker"),
    ("gp-rank", "GPRank", "gp", "genetic programming of a readable ranking formula"),
    ("es-rank", "ESRank", "evolution", "a (1+1) evolution strategy on the weights of a linear ranker"),
    ("iesr-rank", "IESRRank", "evolution", "ES-Rank started from linear regression"),
    ("iesvm-rank", "IESVMRank", "evolution", "ES-Rank started from RankSVM"),
    ("cma-rank", "CMARank", "evolution", "CMA-ES on the weights of a linear ranker"),
    ("rank-svm", "RankSVM", "ranksvm", "a linear ranker with large margins between documents of different labels"),
    ("prank", "PRank", "perceptrons", "an online perceptron with a threshold for each level"),
    ("oap-bpm", "OAPBPM", "perceptrons", "many PRank perceptrons on random parts of the data, averaged"),
    ("rank-boost", "RankBoost", "stump_boosting", "thresholds on single features, boosted on weighted pairs"),
    ("ada-rank", "AdaRank", "adarank", "single features, boosted on queries weighted by a metric"),
    ("frank", "FRank", "stump_boosting", "an additive model boosted on the fidelity of pairs"),
    ("coordinate-ascent", "CoordinateAscent", "coordinate_ascent", "linear weights tuned to a metric, one at a time"),
    ("lambda-mart", "LambdaMART", "lambdamart", "boosted trees on LambdaRank's gradients, grown by LightGBM"),
    ("mc-rank", "McRank", "mcrank", "boosted trees that predict the level; ranks by the expected level"),
    ("linear-regression-ranker", "LinearRegressionRanker", "baselines", "least squares on the labels"),
    ("single-feature", "SingleFeature", "baselines", "one feature, such as BM25; by default the best on training data"),
    ("random-ranker", "RandomRanker", "baselines", "random scores, the same for the same document and seed"),
    (
        "rank-fusion",
        "RankFusion",
        "fusion",
        "reciprocal rank fusion, CombSUM, Borda ...: runs combined, nothing learned",
    ),
    ("nested-ranker", "NestedRanker", "nested", "stages of rankers, each re-ranking the top of the one before"),
    ("rank-aggregation", "RankAggregation", "aggregation", "many rankers whose rankings are combined into one"),
    ("auto", "AutoRanker", "auto", "members of several families, trained out of fold and averaged; chooses by itself"),
)

RANKERS: Mapping[str, RankerEntry] = MappingProxyType(
    {name: RankerEntry(cls, f"ordino.rankers.{module}", text) for name, cls, module, text in _LINES}
)
"""Every ranker by its name on the command line."""

PEERS: Mapping[str, RankerEntry] = MappingProxyType(
    {
        "xgboost": RankerEntry("XGBoost", "ordino.rankers.peers", "XGBRanker by its defaults; only for comparison"),
        "catboost": RankerEntry(
            "CatBoost", "ordino.rankers.peers", "CatBoostRanker by its defaults; only for comparison"
        ),
        "lightgbm": RankerEntry("LightGBM", "ordino.rankers.peers", "LGBMRanker by its defaults; only for comparison"),
    }
)
"""Rankers of other libraries, which compete in ``ordino bench`` by the library's name and are not kept."""

CONTESTANTS: Mapping[str, RankerEntry] = MappingProxyType({**RANKERS, **PEERS})
"""Everything that can compete."""

NAMES: Mapping[str, str] = MappingProxyType({entry.cls: name for name, entry in CONTESTANTS.items()})
"""The name on the command line of each class."""

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        **{"1": "ranknet", "2": "rank-boost", "3": "ada-rank", "4": "coordinate-ascent", "6": "lambda-mart"},
        **{"7": "listnet", "9": "linear-regression-ranker", "0": "lambda-mart", "8": "lambda-mart"},
        **dict.fromkeys(("mart", "gbdt", "gbrank", "lgbmranker", "xgbranker", "randomforest"), "lambda-mart"),
        **dict.fromkeys(("svm", "svmrank", "rankingsvm"), "rank-svm"),
        **dict.fromkeys(("linear", "ridge", "regression"), "linear-regression-ranker"),
        **dict.fromkeys(("rrf", "fusion"), "rank-fusion"),
        **dict.fromkeys(("automl", "best"), "auto"),
    }
)
"""What a ranker, or the nearest to it, is called in other tools; numbers are RankLib's."""


def ranker_class(name: str) -> type[Ranker]:
    """The class of a ranker by its name, written with or without dashes, underscores and capitals.

    Examples
    --------
    >>> ranker_class("rank-svm") is ranker_class("RankSVM") is ranker_class("ranksvm")
    True
    """
    for key, entry in CONTESTANTS.items():
        if _letters(name) in (_letters(key), _letters(entry.cls)):
            if key in PEERS:
                import_extra(key, extra="peers", purpose=f"the ranker {key}")
            found: type[Ranker] = getattr(import_module(entry.module), entry.cls)
            return found
    if near := ELSEWHERE.get(_letters(name)):
        raise ParameterError(f"unknown ranker {name!r}; did you mean {near!r}?")
    raise unknown_name("ranker", name, CONTESTANTS)


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
    return name.replace("-", "").replace("_", "").lower()
