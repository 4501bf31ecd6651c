"""What check_ranker says of rankers that break the contract, each in one way alone."""

import ast
import inspect
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.linear import LinearRanker
from ordino.ranker import Ranker
from ordino.testing import CHECKS, check_learns_easy_data, check_ranker


class Slopes(LinearRanker):
    """A ranker that keeps the contract: each weight is the covariance of a feature with the label."""

    def __init__(self, *, power: float = 1.0, seed: int = 0, n_jobs: int | None = None, scaling: str | None = None):
        self.power = power
        self.seed = seed
        self.n_jobs = n_jobs
        self.scaling = scaling

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        self.seen_valid_ = valid
        self.coef_ = (data.y - data.y.mean()) @ (data.X - data.X.mean(axis=0)) * self.power / data.n_docs


def test_a_ranker_that_keeps_the_contract_passes():
    check_ranker(Slopes())
    check_ranker(Slopes(scaling="minmax"))


# ---------------------------------------------------------------------------------------------------------------------
# Rankers that break the contract, each in one way


class ForgetsToReturn(Slopes):
    def fit(self, X, y=None, *, qid=None, valid=None):
        super().fit(X, y, qid=qid, valid=valid)


class ChangesItsParameters(Slopes):
    def _fit(self, data, valid):
        self.power = self.power / 2
        super()._fit(data, valid)


class Remembers(Slopes):
    def _fit(self, data, valid):
        earlier = getattr(self, "coef_", 0.0)
        super()._fit(data, valid)
        self.coef_ = self.coef_ + earlier


class LearnsOnce(Slopes):
    def _fit(self, data, valid):
        if not hasattr(self, "coef_"):
            super()._fit(data, valid)


class ScoresUnfitted(Slopes):
    def predict(self, X, *, qid=None):
        return np.zeros(X.n_docs) if not hasattr(self, "coef_") else super().predict(X, qid=qid)


class Cheats(Slopes):
    def _predict(self, data):
        return super()._predict(data) + data.y


class Unseeded(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        self.coef_ = self.coef_ + np.random.default_rng().random(len(self.coef_))


class ThreadsMatter(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        self.coef_ = self.coef_ * (1 + 1e-12 * (self.n_jobs or 2))


class ReadsGlobalState(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        state = random.getstate()
        self.coef_ = self.coef_ * (1 + random.random())
        random.setstate(state)


class ChangesGlobalState(Slopes):
    def _fit(self, data, valid):
        np.random.seed(self.seed)  # noqa: NPY002
        super()._fit(data, valid)


class FirstRowMatters(Slopes):
    """Learns from the rows as they came, the first one twice."""

    def fit(self, X, y=None, *, qid=None, valid=None):
        first = np.asarray(X.X[0] if isinstance(X, Dataset) else X[0], float)
        super().fit(X, y, qid=qid, valid=valid)
        self.coef_ = self.coef_ + first
        return self


class GivesItsOwnRowOrder(Slopes):
    def predict(self, X, *, qid=None):
        return self._predict(self.documents(X, qid))


class GivesUpOnLargeLabels(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        self.coef_ = self.coef_ * (np.nan if data.y.max() > 30 else 1)


class OneScoreTooFew(Slopes):
    def _predict(self, data):
        return super()._predict(data)[: -1 if data.X.shape[1] > 4 else None]


class SwallowsNaN(Slopes):
    def _check_nan(self, data, name):
        pass


class Pools(Slopes):
    def score(self, X, y=None, *, qid=None):
        return 1.0


class RanksBackwards(Slopes):
    def rank(self, X, *, qid=None):
        return super().rank(X, qid=qid)[::-1]


class ForgetsWhenSaved(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        self._hidden = 2.0

    def _predict(self, data):
        return super()._predict(data) * getattr(self, "_hidden", 1.0)


class LearnsNothing(Slopes):
    def _fit(self, data, valid):
        self.coef_ = np.zeros(data.n_features)


class ReturnsItselfFromDataAlone(Slopes):
    def fit(self, X, y=None, *, qid=None, valid=None):
        super().fit(X, y, qid=qid, valid=valid)
        return self if isinstance(X, Dataset) else None


class AnswersUnfitted(Slopes):
    def __init__(self, *, question: str = "rank"):
        super().__init__()
        self.question = question

    def rank(self, X, *, qid=None):
        return None if self.question == "rank" and not hasattr(self, "coef_") else super().rank(X, qid=qid)

    def score(self, X, y=None, *, qid=None):
        return 0.0 if self.question == "score" and not hasattr(self, "coef_") else super().score(X, y, qid=qid)


class TurnsOneQuery(Slopes):
    """Scores one of several queries upside down."""

    def __init__(self, *, place: int = 0):
        super().__init__()
        self.place = place

    def _predict(self, data):
        scores = super()._predict(data)
        place = self.place % data.n_queries
        start, stop = data.offsets[place : place + 2]
        scores[start:stop] *= 1 if data.n_queries == 1 else -1
        return scores


class TwoThreadsMatter(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        self.coef_ = self.coef_ * (1 + 1e-12 * (self.n_jobs == 2))


class ReadsNumpysState(Slopes):
    def _fit(self, data, valid):
        super()._fit(data, valid)
        state = np.random.get_state()  # noqa: NPY002
        self.coef_ = self.coef_ * (1 + np.random.random())  # noqa: NPY002
        np.random.set_state(state)  # noqa: NPY002


class ChangesPythonsState(Slopes):
    def _predict(self, data):
        random.random()
        return super()._predict(data)


class FirstQueryMatters(Slopes):
    """Learns from the query that comes first, the more."""

    def fit(self, X, y=None, *, qid=None, valid=None):
        rows, ids = (X.X, X.qid) if isinstance(X, Dataset) else (np.asarray(X), np.asarray(qid))
        super().fit(X, y, qid=qid, valid=valid)
        self.coef_ = self.coef_ + rows[ids == ids[0]].max(axis=0)
        return self


def has_a_flat_query(data: Dataset) -> bool:
    return any(len(query.y) > 1 and np.ptp(query.y) == 0 for query in data) and np.ptp(data.y) > 0


HARD: dict[str, Callable[[Dataset], bool]] = {
    "fractions": lambda data: bool((data.y % 1).any()),
    "one document": lambda data: data.counts.min() == 1,
    "a constant feature": lambda data: bool((np.ptp(data.X, axis=0) == 0).any()),
    "a flat query": has_a_flat_query,
    "nothing to learn": lambda data: np.ptp(data.y) == 0,
}


class GivesUp(Slopes):
    def __init__(self, *, on: str = "fractions"):
        super().__init__()
        self.on = on

    def _fit(self, data, valid):
        super()._fit(data, valid)
        self.coef_ = self.coef_ * (np.nan if HARD[self.on](data) else 1)


class TakesFewerFeatures(Slopes):
    def predict(self, X, *, qid=None):
        if not isinstance(X, Dataset):
            X = np.pad(X, ((0, 0), (0, self.n_features_in_ - X.shape[1])))
        return super().predict(X, qid=qid)


class TakesAnything(Slopes):
    def __init__(self, *, lacks: str = "qid"):
        super().__init__()
        self.lacks = lacks

    def fit(self, X, y=None, *, qid=None, valid=None):
        if not isinstance(X, Dataset) and self.lacks == "rows" and not len(X):
            return self
        alone = not isinstance(X, Dataset) and qid is None and self.lacks == "qid"
        return super().fit(X, y, qid=np.zeros(len(X)) if alone else qid, valid=valid)


CAUGHT: list[tuple[str, Ranker, str]] = [
    ("fit_returns_self", ForgetsToReturn(), "fit(dataset) must return self"),
    ("fit_returns_self", ReturnsItselfFromDataAlone(), "fit(X, y, qid=...) must return self"),
    ("parameters_untouched", ChangesItsParameters(), "fit() must not change parameters"),
    ("refit_forgets", Remembers(), "fit() must forget an earlier fit()"),
    ("refit_forgets", LearnsOnce(), "fit() must forget an earlier fit()"),
    ("unfitted_says_so", ScoresUnfitted(), "predict() before fit() must raise NotFittedError"),
    ("unfitted_says_so", AnswersUnfitted(question="rank"), "rank() before fit() must raise NotFittedError"),
    ("unfitted_says_so", AnswersUnfitted(question="score"), "score() before fit() must raise NotFittedError"),
    ("queries_kept_apart", TurnsOneQuery(place=0), "must not depend on other queries"),
    ("queries_kept_apart", TurnsOneQuery(place=-1), "must not depend on other queries"),
    ("labels_ignored_in_predict", Cheats(), "predict() must not look at the labels"),
    ("same_seed_same_result", Unseeded(), "the same seed must give the same scores"),
    ("same_seed_same_result", ThreadsMatter(), "n_jobs=1 must not change the scores"),
    ("same_seed_same_result", TwoThreadsMatter(), "n_jobs=2 must not change the scores"),
    ("no_global_random_state", ReadsGlobalState(), "must not read global random state"),
    ("no_global_random_state", ReadsNumpysState(), "must not read global random state"),
    ("no_global_random_state", ChangesGlobalState(), "must not change global random state"),
    ("no_global_random_state", ChangesPythonsState(), "must not change global random state"),
    ("row_order_is_free", FirstRowMatters(), "the order of the rows must not change what is learned"),
    ("row_order_is_free", FirstQueryMatters(), "the order of the rows must not change what is learned"),
    ("row_order_is_free", GivesItsOwnRowOrder(), "predict() must give scores in the order of its rows"),
    ("hard_data", OneScoreTooFew(), "predict() must give one score for each row"),
    ("hard_data", GivesUpOnLargeLabels(), "scores must be finite"),
    *(("hard_data", GivesUp(on=on), "scores must be finite") for on in HARD),
    ("hard_data", GivesUp(on="nothing to learn"), "scores must be finite when all labels are equal"),
    ("bad_data_is_refused", SwallowsNaN(), "NaN in fit() must raise DataError"),
    ("bad_data_is_refused", TakesFewerFeatures(), "too few features in predict() must raise DataError"),
    ("bad_data_is_refused", Pools(), "score() without qid after fit() with many queries must raise DataError"),
    ("bad_data_is_refused", TakesAnything(lacks="qid"), "fit() without qid must raise DataError"),
    ("bad_data_is_refused", TakesAnything(lacks="rows"), "fit() without a document must raise DataError"),
    ("rank_agrees_with_predict", RanksBackwards(), "rank() must give each query's rows by falling score"),
    ("saved_and_loaded", ForgetsWhenSaved(), "load() must give a ranker with the same scores"),
    ("learns_easy_data", LearnsNothing(), "NDCG@10 on easy data is"),
]
"""Rankers that break a check in one way alone, and what is said of it."""


@pytest.mark.parametrize(("check", "ranker", "sentence"), CAUGHT, ids=repr)
def test_what_is_broken_is_said(check: str, ranker: Ranker, sentence: str):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        CHECKS[check](ranker)


def test_every_check_has_a_ranker_that_it_catches():
    assert {check for check, *_ in CAUGHT} == set(CHECKS)
    for ranker in (RanksBackwards(), LearnsNothing()):
        with pytest.raises(AssertionError):
            check_ranker(ranker)


def test_every_sentence_of_the_checks_has_a_ranker_of_which_it_is_said():
    tree = ast.parse(Path(inspect.getfile(check_ranker)).read_text(encoding="utf-8"))
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    told = [call.args[1] for call in calls if call.func.id in ("_expect", "_refused") and len(call.args) > 1]
    fixed = [max((p.value for p in ast.walk(one) if isinstance(p, ast.Constant)), key=len).strip(";. ") for one in told]
    assert len(fixed) > 20
    unsaid = [one for one in fixed if not any(part in one or one in part for *_, part in CAUGHT)]
    assert unsaid == ["load() must give the parameters"]  # which the model file has tests of


def test_the_expected_quality_can_be_set():
    check_learns_easy_data(LearnsNothing(), least_ndcg=0.3)
    with pytest.raises(AssertionError, match=r"NDCG@10 on easy data is 0\.\d+; 1\.1 or more was expected"):
        check_ranker(Slopes(), least_ndcg=1.1)
