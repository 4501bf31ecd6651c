"""Every ranker in every form it has: loss, model, output, base ranker. Goldens and the contract run over this table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class

QUICK: Mapping[str, Any] = MappingProxyType(
    {
        "rounds": 8,
        "generations": 6,
        "population": 8,
        "epochs": 4,
        "pretraining": 2,
        "max_iter": 3,
        "restarts": 2,
        "sweeps": 2,
        "n_perceptrons": 5,
        "n_components": 12,
        "hidden": (8,),
        "min_leaf": 5,
        "n_pairs": 400,
        "n_valid_pairs": 200,
    }
)
"""What makes a ranker quick, by the name of the parameter."""

PUBLISHED = "as_published"  # in place of a parameter: the settings of the paper

CHANGES: Mapping[str, tuple[Mapping[str, Any], ...]] = MappingProxyType(
    {
        "ranknet": (
            {"ties": True},
            {"target": 0.9},
            {"target": 0.7, "target_by": "step"},
            {"average": "pairs"},
            {"hidden": ()},
            {"hidden": (8, 4), "activation": "tanh", "initializer": "glorot", "dropout": 0.25},
            {"activation": "sigmoid", "initializer": "uniform", "optimizer": "adam", "l2": 0.01},
            {"activation": "softplus", "optimizer": "descent", "rate": "halve", "l1": 0.001},
            {"activation": "identity", "optimizer": "descent", "rate": "adaptive", "batch": None},
            {"scaling": None},
            {"scaling": "zscore", "patience": 1},
            {PUBLISHED: True},
        ),
        "kernel-ranknet": ({"kernel": "polynomial"}, {"gamma": 0.1}),
        "directranker": (
            {"output": "tanh"},
            {"output": "half-tanh"},
            {"output": "softsign"},
            {"loss": "ranknet"},
            {"average": "pairs"},
            {"pairs": "exact"},
            {"loss": "lambdarank"},
            {"loss": "lambdarank", "pairs": "exact", "metric": "map"},
            {PUBLISHED: True},
        ),
        "listnet": ({"k": 2}, {PUBLISHED: True}),
        "lambdarank": ({"metric": "map"}, {"metric": "mrr"}),
        "rankprop": ({"period": 1, "hidden": ()}, {PUBLISHED: True}),
        "scorer": (
            *({"loss": loss, "model": "linear"} for loss in ("ranknet", "fidelity", "squared", "absolute")),
            *({"loss": loss, "model": "linear"} for loss in ("directranker", "hinge", "exponential", "listnet")),
            *({"loss": loss, "model": "linear"} for loss in ("listmle", "rankcosine", "softmax", "approx-ndcg")),
            {"loss": "squared-hinge", "model": "linear", "loss_options": {"average": "queries"}},
            {"loss": "lambdarank", "model": "linear", "loss_options": {"metric": "map"}},
            {"loss": "fidelity", "model": "network"},
            *({"loss": loss, "model": "trees"} for loss in ("ranknet", "approx-ndcg", "lambdarank")),
        ),
        "sortnet": (
            {"warm_start": True, "dropout": 0.0},
            {"algorithm": "quick", "loss": "squared"},
            {"algorithm": "heap", "loss": "absolute"},
            {"algorithm": "insertion", "loss": "fidelity"},
            *({"choose": way} for way in ("margin", "uncertain", "uniform", "curriculum")),
            {PUBLISHED: True},
        ),
        "deepnet": (
            *({"pairs": kind} for kind in "ABDE"),
            {"select": "pairs", "activation": "relu"},
            {"hidden": (8, 4), "initializer": "autoencoders", "activation": "softplus"},
            {"initializer": "unit", "activation": "sigmoid", "optimizer": "descent", "rate": "adaptive", "batch": None},
            {"record_activations": True, "l1": 0.001},
            {PUBLISHED: True},
        ),
        "dense-comparator": ({"asked": "once"},),
        "rankde": (
            {"mutation": "best/1"},
            {"mutation": "current-to-best/1"},
            {"self_adaptive": True},
            {"mutation": "current-to-pbest/1", "top": 0.3, "local_search": 2},
            {"mutation": "current-to-pbest/1", "self_adaptive": "shade", "shrink_to": 4},
            {"metric": "ndcg@5"},
            {PUBLISHED: True},
        ),
        "swarm-rank": ({"max_speed": 0.1},),
        "gp-rank": ({"functions": ("+", "min", "max", "sqrt")},),
        "es-rank": ({"mutation": "gaussian"}, {"mutation": "cauchy"}, {"mutation": "levy"}),
        "iesr-rank": ({"start": "rank-svm"},),
        "rank-svm": ({"loss": "hinge"}, {"pairs": "mean", "C": 100.0}, {"pairs": "query"}, {"C": (0.1, 0.01)}),
        "prank": ({"quadratic": True},),
        "oap-bpm": ({"averaging": "steps"},),
        "rank-boost": ({"thresholds": None},),
        "ada-rank": ({"reweighting": "sum"}, {"metric": "map"}),
        "frank": ({"thresholds": None},),
        "coordinate-ascent": ({"metric": "map"},),
        "lambda-mart": (
            {"bags": 2, "query_share": 0.5},
            {"gain": "linear", "feature_share": 0.5},
            {"metric": "map", "options": {"max_bin": 31}},
        ),
        "mc-rank": ({"form": "ordinal"}, {"value": "exponential"}),
        "linear-regression-ranker": ({"alpha": 5.0, "scaling": "minmax"},),
        "single-feature": ({"feature": 3, "sign": -1},),
        "random-ranker": ({"seed": 3},),
        "rank-fusion": (
            *({"method": method} for method in ("isr", "combsum", "combmnz", "combmax", "borda", "zscore", "kemeny")),
            {"k": 10.0, "features": ("f2", "f4")},
        ),
        "nested-ranker": (
            {"ranker": "rank-boost", "sizes": (None, 10, 5)},
            {"ranker": ("linear-regression-ranker", "rank-svm"), "sizes": (None, 10)},
            {"ranker": "rank-svm", "sizes": (None, 10, 5), "stages": "all", "scaling": "querymax"},
        ),
        "auto": ({"metric": "map", "trials": 6}, {"max_score_ms": 1e9, "seed": 3}),
        "rank-aggregation": (
            *({"ranker": "linear-regression-ranker", "n": 3, "resample": "queries", "method": method}
              for method in ("rrf", "median", "score_mean", "kemeny")),
            {"ranker": "rank-svm", "n": 3, "resample": "documents"},
            {"ranker": ("rank-svm", "rank-boost", "lambda-mart")},
        ),
    }
)  # fmt: skip
"""What is changed beside the defaults, by ranker."""

SMALL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        **{name: {"algorithm": "merge"} for name in ("deepnet", "dense-comparator")},  # as recorded
        "sortnet": {"algorithm": "merge", "max_iter": 2},
        "nested-ranker": {"sizes": (None, 10)},
        "rank-aggregation": {"n": 3},
        "auto": {"trials": 2, "folds": 2},
    }
)


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """By a readable name the ranker's name and the parameters that are not its defaults."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in RANKERS:
        for changes in ({}, *CHANGES.get(name, ())):
            text = ",".join(f"{key}={value}" for key, value in changes.items())
            found[f"{name}({text})"] = name, dict(changes)
    return found


def make(name: str, changes: Mapping[str, Any], **more: Any) -> Ranker:
    """A quick ranker with these changes."""
    cls = ranker_class(name)
    own = cls().get_params(deep=False)
    quick = {key: value for key, value in QUICK.items() if key in own}
    params = quick | dict(SMALL.get(name, {})) | dict(changes) | more
    if isinstance(params.get("ranker", own.get("ranker")), str):
        inner = params.get("ranker", own["ranker"])
        params["ranker"] = make(inner, {})
    elif "ranker" in params:
        params["ranker"] = [make(inner, {}) for inner in params["ranker"]]
    if params.pop(PUBLISHED, False):
        return cls.as_published(**{key: value for key, value in params.items() if key != "population"})
    return cls(**{cls.renamed.get(key, key): value for key, value in params.items()})  # recorded by their old names
