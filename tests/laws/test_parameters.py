"""Law 1: every parameter of every ranker has an effect on what is learned. Law 2: so has its seed, and only the seed.

Values come from the parameter's own field. Where a parameter matters only beside another, CONTEXTS says beside which; a
ranker or a parameter that is added later is met here by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from goldens.variants import make
from ordino import Dataset, threads
from ordino.data.scaling import SCALERS
from ordino.ensemble.trials import Kind
from ordino.order import meetings
from ordino.parameters import Choices, Parameter, Range, parameters_of
from ordino.rankers import RANKERS, auto, ranker_class

FREE = {"verbose", "n_jobs"}
"""Without effect on the result, which other tests show."""

INNER = {
    "nested-ranker": {"ranker": "rank-boost"},
    "rank-aggregation": {"ranker": "linear-regression-ranker"},
    "auto": {"trials": 2, "folds": 2},
}
"""What the rankers that are made of others are made of here."""

TREES = {"model": "trees"}
LONGER = {"epochs": 40, "learning_rate": 0.05, "max_iter": 4}  # so that another comparator than the first is kept
EARLY = {"start": "zeros", "generations": 30}  # where a search still finds better weights
CONTEXTS: dict[tuple[str, str], dict[str, Any]] = {
    **{("", name): {"epochs": 30, "rounds": 60, "generations": 60} for name in ("patience",)},
    ("", "rate"): {"learning_rate": 0.5, "epochs": 8},
    ("", "optimizer"): {"l2": 0.5},
    ("", "algorithm"): {"algorithm": "borda"},
    ("", "top"): {"algorithm": "copeland"},
    ("", "profile"): {"metric": "ndcg@3"},
    ("", "pretraining"): {"initializer": "autoencoders"},
    ("", "n_valid_pairs"): {"select": "pairs"},
    ("", "share"): {"resample": "queries"},
    ("", "bags"): {"query_share": 0.5},
    ("", "sign"): {"feature": 1},
    ("", "mutation_rate"): {"crossover_rate": 0.5},
    ("", "distinct_pairs"): {"n_pairs": 2000},
    ("", "target_by"): {"target": 0.7},
    ("", "falling"): {"epochs": 210, "batch": None},
    ("", "tol"): {"max_iter": 50, "sweeps": 20},
    **{("scorer", name): TREES for name in ("rounds", "leaves", "min_leaf", "n_jobs")},
    ("sortnet", "pretraining"): {"initializer": "autoencoders", "warm_start": False},
    ("sortnet", "patience"): {"epochs": 60, "learning_rate": 0.1},
    **{(name, one): EARLY for name in ("es-rank", "iesr-rank", "iesvm-rank") for one in ("mutation", "seed")},
    **{("rank-aggregation", name): {"resample": "queries"} for name in ("n", "method", "ranker", "seed", "n_jobs")},
    ("rank-aggregation", "resample"): {"ranker": "oap-bpm"},
    **{("rank-svm", name): {"C": (0.001, 10.0)} for name in ("metric", "profile")},
    **{("sortnet", name): LONGER for name in ("dropout", "input_dropout", "l2")},
    ("sortnet", "falling"): LONGER | {"epochs": 260, "batch": None, "patience": None},
    **{(name, "rate"): {"learning_rate": 3.0, "epochs": 15} for name in ("deepnet", "dense-comparator")},
    ("single-feature", "profile"): {"metric": "ndcg@2"},
    ("rankcosine", "rate"): {"learning_rate": 3.0, "epochs": 8},
    ("kernel-ranknet", "rate"): {"learning_rate": 5.0, "epochs": 8},
    ("kernel-ranknet", "kernel"): {"scaling": "minmax"},
    ("rankde", "top"): {"mutation": "current-to-pbest/1"},
    ("lambda-mart", "seed"): {"query_share": 0.5},
    ("mc-rank", "seed"): {"query_share": 0.5},
}
"""By ranker (or any) and parameter: what must be set so that the parameter can matter."""

VALUES: dict[tuple[str, str], list[Any]] = {
    ("", "metric"): ["map"],
    ("", "profile"): ["sklearn"],
    ("", "hidden"): [(4,)],
    ("", "l1"): [0.1],
    ("", "l2"): [0.9],
    ("", "patience"): [1],
    ("", "tol"): [0.9],
    ("", "C"): [1.0],
    ("", "alpha"): [100.0],
    ("", "thresholds"): [2],
    ("", "functions"): [("min", "max")],
    ("", "feature"): [2, 3],
    ("", "batch"): [2],
    ("", "leaves"): [3],
    ("", "min_leaf"): [20],
    ("", "max_depth"): [1],
    ("", "truncation"): [1],
    ("", "sign"): [-1],
    ("", "start"): ["zeros", "linear-regression-ranker", "rank-svm"],
    ("", "loss_options"): [{"average": "queries", "ties": True}],
    ("", "options"): [{"max_bin": 3}],
    ("", "mutation_rate"): [0.5],
    ("", "crossover_rate"): [0.1],
    ("", "max_speed"): [0.05],
    ("", "gamma"): [0.9],
    ("", "sizes"): [(None, 5)],
    ("", "ranker"): ["single-feature"],
    ("", "top"): [3],
    ("rankde", "metric"): ["ndcg@3"],
    ("rankde", "self_adaptive"): ["jde", "shade"],
    ("rankde", "top"): [0.9],
    ("rankde", "shrink_to"): [4],
    ("rankde", "local_search"): [3],
    ("rank-fusion", "features"): [("f1",), "f2"],
    ("single-feature", "metric"): ["ndcg@1"],
    ("auto", "trials"): [1],
    ("auto", "folds"): [3],
}
"""Other legal values, where the field does not say any that must matter on a small set."""


def documents(seed: int, n_queries: int = 8, n_docs: int = 12) -> Dataset:
    """Noisy queries with labels 0 to 4, of which each query lacks some."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 5)).astype(np.float32)
    hidden = X @ np.array([3.0, 1.0, 0.0, -1.0, 0.5]) + rng.normal(0, 0.7, len(X))
    y = np.digitize(hidden, np.quantile(hidden, [0.4, 0.6, 0.75, 0.9])).astype(float)
    qid = np.repeat(np.arange(n_queries), n_docs)
    y[(qid % 2 == 0) & (y == 2)] = 3.0
    return Dataset(X, y, qid)


TRAIN, VALID, TEST = documents(0), documents(1), documents(2, 4)


def look_up(table: dict[tuple[str, str], Any], name: str, parameter: str) -> Any:
    return table.get((name, parameter), table.get(("", parameter)))


def others(name: str, parameter: str, known: Parameter) -> list[Any]:
    """Legal values that are not the default."""
    found = look_up(VALUES, name, parameter)
    if found is None and parameter == "scaling":
        found = [one for one in SCALERS if one in ("zscore", "rank", "minmax")][:2]
    if found is None and known.choices:
        found = known.choices
    if found is None and "bool" in known.kinds:
        found = [not known.default]
    if found is None and isinstance(known.space, Choices):
        found = known.space.values
    if found is None and isinstance(known.space, Range):
        found = [known.space.low, known.space.high]
    if found is None and known.default is not None:
        found = [type(known.default)(max(known.default * factor, known.low or 0)) for factor in (0.5, 2)]
        found = [one for one in found if known.high is None or one <= known.high]
    assert found, f"say in VALUES what {parameter} of {name} may be"
    return [one for one in found if repr(one) != repr(known.default)]


@cache
def settings_of(name: str, parameter: str) -> dict[str, Any]:
    """The context of a parameter, as far as the ranker knows it."""
    given = INNER.get(name, {}) | (look_up(CONTEXTS, name, parameter) or {})
    return {key: value for key, value in given.items() if key in parameters_of(ranker_class(name))}


def learned(name: str, changes: dict[str, Any], *, again: bool = False) -> list[Any]:
    """What a quick ranker says after learning: scores of other documents, and its history."""
    ranker = make(name, changes).fit(TRAIN, valid=VALID)
    if again:
        ranker.fit(TRAIN, valid=VALID)
    return [ranker.predict(TEST).tolist(), repr(getattr(ranker, "history_", None))]


@cache
def plainly(name: str, settings: str, again: bool) -> list[Any]:
    return learned(name, dict(eval(settings)), again=again)


CASES = [
    (name, parameter) for name in RANKERS for parameter in parameters_of(ranker_class(name)) if parameter not in FREE
]


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=str)
def test_every_parameter_has_an_effect(name: str, parameter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = parameters_of(ranker_class(name))[parameter]
    context = settings_of(name, parameter)
    if parameter == "missing":
        check_missing(lambda **missing: make(name, context | missing))
        return
    if parameter == "hold_out":
        check_hold_out(name)
        return
    if name == "auto" and parameter in SEEN_FROM_OUTSIDE:
        SEEN_FROM_OUTSIDE[parameter](monkeypatch)
        return
    if parameter == "top":
        for limit, n_docs in (("LONG", 4), ("SAMPLE", 1)):  # documents of a query from which on it matters
            monkeypatch.setattr(meetings, limit, n_docs)
    again = parameter == "warm_start" and name != "sortnet"
    before = learned(name, context) if parameter == "top" else plainly(name, repr(context), again)
    for value in others(name, parameter, known):
        if repr(value) == repr(context.get(parameter, known.default)):
            continue
        assert learned(name, context | {parameter: value}, again=again) != before, f"{parameter}={value!r} of {name}"


def check_hold_out(name: str) -> None:
    """Without validation data, a part of enough queries is held out: what is learned from all of them is another."""
    many = documents(3, n_queries=60, n_docs=5)
    held, all_of_them = (make(name, changes).fit(many) for changes in ({}, {"hold_out": None}))
    assert (held.n_queries_in_, all_of_them.n_queries_in_) == (48, 60)
    assert (held.predict(TEST).tolist(), held.history_) != (all_of_them.predict(TEST).tolist(), all_of_them.history_)


def check_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long AutoRanker may learn, and by which clock, is what its clock is told."""
    made = []
    real = auto.Clock

    def clock(*told: Any) -> Any:
        made.append(told)
        return real(None)

    monkeypatch.setattr(auto, "Clock", clock)
    monkeypatch.setattr(auto, "first_kinds", lambda _: [Kind("linear-regression-ranker", {}, "z")])
    monkeypatch.setattr(auto, "drawn_kinds", lambda *_: [])
    for given in ({}, {"minutes": 3.0}, {"clock": "processor"}, {"trials": 1}):
        ranker_class("auto")(folds=2, **given).fit(TRAIN)
    assert made == [(60.0, "wall"), (180.0, "wall"), (60.0, "processor"), (None, "wall")]


def check_plan(_: pytest.MonkeyPatch) -> None:
    """A plan decides what is tried, on which folds, with which seed."""
    other = make("auto", {"trials": 1, "folds": 3, "seed": 7}).fit(TRAIN, valid=VALID)
    replayed = make("auto", {"trials": 2, "folds": 2, "plan": other.plan_}).fit(TRAIN, valid=VALID)
    assert replayed.predict(TEST).tolist() == other.predict(TEST).tolist()
    assert replayed.predict(TEST).tolist() != learned("auto", INNER["auto"])[0]


def check_store(_: pytest.MonkeyPatch) -> None:
    """A store keeps every trial."""
    with TemporaryDirectory() as folder:
        make("auto", INNER["auto"] | {"store": folder}).fit(TRAIN)
        assert [path for path in Path(folder).rglob("*") if path.is_file()]


def check_max_score_ms(_: pytest.MonkeyPatch) -> None:
    """Where nothing is cheap enough, the cheapest member scores, and that is said."""
    with pytest.warns(UserWarning, match="and no trial is cheaper"):
        found = learned("auto", INNER["auto"] | {"max_score_ms": 1e-9})
    assert found != learned("auto", INNER["auto"])


SEEN_FROM_OUTSIDE = {
    "max_score_ms": check_max_score_ms,
    "minutes": check_clock,
    "clock": check_clock,
    "plan": check_plan,
    "store": check_store,
}
"""Parameters of AutoRanker of which scores cannot tell, or not alone."""


@pytest.mark.parametrize("name", [name for name in RANKERS if "n_jobs" in parameters_of(ranker_class(name))])
def test_the_number_of_threads_arrives_where_work_is_shared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes no result, so that only who counts threads can tell."""
    asked: set[int | None] = set()
    real = threads.check_n_jobs
    monkeypatch.setattr(threads, "check_n_jobs", lambda n_jobs: asked.add(n_jobs) or real(n_jobs))
    make(name, settings_of(name, "n_jobs") | {"n_jobs": 2}).fit(TRAIN, valid=VALID)
    assert 2 in asked


def check_missing(make_ranker: Callable[..., Any]) -> None:
    """NaN becomes the median of the training data, before anything else is done to it."""
    holes = TRAIN.X.copy()
    holes[::7, 0] = np.nan
    by_median, by_zero = (np.where(np.isnan(holes), value, holes) for value in (np.nanmedian(holes[:, 0]), 0.0))
    made = [
        make_ranker(missing=missing).fit(data).prepared(data).X
        for data, missing in (
            (TRAIN.replace(X=holes), "median"),
            (TRAIN.replace(X=by_median), None),
            (TRAIN.replace(X=by_zero), None),
        )
    ]
    np.testing.assert_allclose(made[0], made[1], rtol=1e-5, atol=1e-6)
    assert not np.allclose(made[0], made[2], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", RANKERS)
def test_a_seed_has_an_effect_or_there_is_none(name: str) -> None:
    """Two seeds differ and one seed twice does not; a ranker that says that nothing is random has no use for one."""
    context = settings_of(name, "seed")
    ranker = make(name, context)
    assert learned(name, context) == learned(name, context)
    seeds = [ranker.with_seed(seed).fit(TRAIN, valid=VALID).predict(TEST).tolist() for seed in (0, 1)]
    assert (seeds[0] != seeds[1]) == ranker.is_random


FOR_HOW_LONG = {"patience", "n_jobs"}
"""Parameters of a search that do not say which search it is, beside generations and those that only tell."""
SEARCHES = [name for name in RANKERS if {"generations", "warm_start"} <= {*parameters_of(ranker_class(name))}]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_goes_on_only_where_it_is_the_same_search(name: str) -> None:
    """With another value of any other parameter, or other data to choose by, it begins anew."""
    fields = parameters_of(ranker_class(name))
    known = {"generations": 2, "warm_start": True} | ({"start": "zeros"} if "start" in fields else {})
    begun = make(name, known | settings_of(name, "crossover_rate")).fit(TRAIN)
    for parameter in fields.keys() - {"generations", "warm_start", "verbose"}:
        tried = {"n_jobs": [2], "seed": [5], "metric": ["ndcg@3"], "mutation_rate": [0.05]}.get(parameter)
        values = [*(tried or others(name, parameter, fields[parameter])), fields[parameter].default]
        value = next(one for one in values if repr(one) != repr(getattr(begun, parameter)))
        ranker = deepcopy(begun).set_params(**{parameter: value}).fit(TRAIN)
        assert (len(ranker.history_) > 3) == (parameter in FOR_HOW_LONG), parameter
    for valid in (None, VALID):
        assert len(deepcopy(begun).fit(TRAIN, valid=valid).history_) == (3 if valid else 5)
