"""Law: what holds for the scores of a ranker holds for all else that it tells.

Each public method or property of a ranker is in ``METHODS``, with how it is asked; one that is added later must be
there too, or in ``OTHERWISE``. Before ``fit`` it says so; from a model file it is what it was; and documents with other
columns, or with the same in another order, are refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ordino
from goldens.variants import make
from laws.test_parameters import INNER, TEST, TRAIN
from laws.test_refit import told
from ordino import Dataset
from ordino.errors import DataError
from ordino.forms import Stumps, Trees, load_trees
from ordino.parameters import parameters_of
from ordino.ranker import NotFittedError
from ordino.rankers import RANKERS, ranker_class

NAMES = ("bm25", "age", "length", "links", "clicks")


def named(data: Dataset) -> Dataset:
    return data.replace(feature_names=NAMES)


def turned(data: Dataset) -> Dataset:
    """The same documents, whose columns stand the other way around."""
    return Dataset(data.X[:, ::-1], data.y, data.qid, feature_names=NAMES[::-1])


def alone(data: Dataset, first: int) -> Dataset:
    """Some documents, each in no query."""
    return Dataset(data.X[first : first + 4], np.zeros(4), feature_names=data.feature_names)


METHODS: dict[str, Callable[[Any, Dataset], Any]] = {
    "predict": lambda ranker, data: ranker.predict(data),
    "rank": lambda ranker, data: ranker.rank(data),
    "score": lambda ranker, data: ranker.score(data),
    "prepared": lambda ranker, data: ranker.prepared(data).X,
    "documents": lambda ranker, data: ranker.documents(data).X,
    "compare": lambda ranker, data: ranker.compare(alone(data, 0), alone(data, 4)),
    "preference": lambda ranker, data: ranker.preference(alone(data, 0), alone(data, 4)),
    "activations": lambda ranker, data: ranker.activations(data, [(0, 1), (2, 3)]),
    "predict_levels": lambda ranker, data: ranker.predict_levels(data),
    "predict_proba": lambda ranker, data: ranker.predict_proba(data),
    "pruning": lambda ranker, data: ranker.pruning(data),
    "prune": lambda ranker, _: ranker.prune(keep=2).coef_,
    "feature_weights": lambda ranker, _: ranker.feature_weights(),
    "weights_text": lambda ranker, _: ranker.weights_text(),
    "feature_gains": lambda ranker, _: ranker.feature_gains(),
    "feature_importances_": lambda ranker, _: ranker.feature_importances_,
    "booster_": lambda ranker, _: ranker.booster_.model_to_string(),
    "summary": lambda ranker, _: ranker.summary().to_dict(),
    "form": lambda ranker, _: type(ranker.form()).__name__,
    "feature_names": lambda ranker, _: ranker.feature_names(),
    "input_names": lambda ranker, _: ranker.input_names(),
    "n_inputs": lambda ranker, _: ranker.n_inputs,
}
OTHERWISE = {
    "fit", "fit_pairs", "fit_repeats", "as_published", "with_seed",  # they learn, or make what can
    "is_random", "allows_nan", "takes_categories",  # known before anything is learned
    "by_feature", "by_run", "run_scores", "explained_parts", "plot_weights",  # what other methods and why() show
}  # fmt: skip
TAKING = {"predict", "rank", "score", "prepared", "documents", "compare", "preference", "activations",
          "predict_levels", "predict_proba", "pruning"}  # fmt: skip
"""Those that are given documents."""


def public(name: str) -> set[str]:
    cls = ranker_class(name)
    found = {one for one in dir(cls) if not one.startswith("_") and not hasattr(BaseEstimator, one)}
    kinds = (property, classmethod, staticmethod)
    return {
        one
        for one in found
        if inspect.isfunction(static := inspect.getattr_static(cls, one)) or isinstance(static, kinds)
    }


def methods_of(name: str) -> dict[str, Callable[[Any, Dataset], Any]]:
    return {method: ask for method, ask in METHODS.items() if method in public(name)}


def settings(name: str) -> dict[str, Any]:
    """Settings by which two documents can be compared, and which are quick."""
    alone = {"scaling": "symlog"} if {"compare", "activations"} & public(name) else {}
    return INNER.get(name, {}) | alone | ({"resample": "queries"} if name == "rank-aggregation" else {})


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Any]]:
    home, known = tmp_path_factory.mktemp("models"), {}

    def get(name: str) -> tuple[Any, Any]:
        if name not in known:
            ranker = make(name, settings(name)).fit(named(TRAIN))
            ordino.save(ranker, home / name)
            known[name] = ranker, ordino.load(home / name)
        return known[name]

    return get


def test_every_public_method_is_in_the_table() -> None:
    assert set().union(*map(public, RANKERS)) == {*METHODS, *OTHERWISE}


@pytest.mark.parametrize("name", RANKERS)
def test_what_a_ranker_tells_it_tells_from_its_file(name: str, fitted: Any) -> None:
    ranker, loaded = fitted(name)
    for method, ask in methods_of(name).items():
        assert told(ask(loaded, named(TEST))) == told(ask(ranker, named(TEST))), method


@pytest.mark.parametrize("name", RANKERS)
def test_before_it_learned_it_says_so(name: str) -> None:
    for ask in methods_of(name).values():
        with pytest.raises(NotFittedError, match="is not fitted yet; call fit first"):
            ask(make(name, settings(name)), named(TEST))


@pytest.mark.parametrize("name", RANKERS)
def test_documents_with_other_columns_are_refused(name: str, fitted: Any) -> None:
    ranker, _ = fitted(name)
    for method in TAKING & {*methods_of(name)}:
        with pytest.raises(DataError, match="column 0 is 'clicks' but was 'bm25' in fit"):
            METHODS[method](ranker, turned(TEST))
        with pytest.raises(DataError, match="fitted with 5 features but the data has 3"):
            METHODS[method](ranker, Dataset(TEST.X[:, :3], TEST.y, TEST.qid))


WEIGHING = {"feature_weights", "feature_gains", "feature_importances_", "weights_text"}
WEIGHED = [
    name
    for name in RANKERS
    if WEIGHING & public(name) and "scaling" in parameters_of(ranker_class(name)) and name != "auto"
]


def parts_of(ranker: Any) -> np.ndarray:
    """What the form weighs each of its inputs by, summed over stumps and splits."""
    match ranker.form():
        case Stumps(stumps=stumps, n_features=n):
            return np.bincount([one.feature for one in stumps], [one.alpha for one in stumps], n)
        case Trees(model=model):
            gains = load_trees(model).feature_importance("gain")
            return gains / gains.sum()
        case form:
            return form.coef


@pytest.mark.parametrize("name", WEIGHED)
def test_weights_are_told_by_the_features_of_the_data_whatever_a_scaling_makes_of_them(name: str) -> None:
    ranker = make(name, {"scaling": "minmax+rank"}).fit(named(TRAIN))
    parts = parts_of(ranker)
    assert len(parts) == 2 * len(NAMES)
    expected = dict(zip(NAMES, parts.reshape(2, -1).sum(axis=0), strict=True))
    asked = {method: METHODS[method](ranker, TEST) for method in WEIGHING & public(name)}
    for method in ("feature_weights", "feature_gains"):
        if method in asked:
            found = dict(asked[method])
            assert len(asked[method]) == len(NAMES)
            assert found == pytest.approx(expected)
            assert list(found.values()) == sorted(found.values(), reverse=True)
    if "weights_text" in asked:
        assert len(asked["weights_text"].splitlines()) == 1 + len(NAMES)
    if "feature_importances_" in asked:
        shares = asked["feature_importances_"]
        assert shares.shape == (len(NAMES),)
        assert shares.sum() == pytest.approx(1.0)
        if "feature_gains" in asked:
            assert shares == pytest.approx([expected[one] for one in NAMES])
