"""Law 5: which data is used is an assertion: training, choosing and measuring each look where they should.

Every query carries a mark, the value of its first feature, so that a spy sees from which queries documents came.
"""

from __future__ import annotations

import json
from contextlib import closing
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from goldens.variants import make
from laws.tasks import later_first
from ordino import Dataset, LinearRegressionRanker, evaluate, load, write_letor
from ordino.backends import local_backend
from ordino.data.folds import Fold, Folds
from ordino.data.prepare import binarize_labels
from ordino.data.scaling import make_scaler
from ordino.data.source import canonical
from ordino.ensemble import choosing, combining
from ordino.ensemble.trials import Trial
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.run.task import _open_part
from ordino.judge import Choice, Judge, values_of_part
from ordino.metrics import parse_metric
from ordino.networks.training import QualityByMetric
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class
from shell import ordino

TRAIN_MARKS, VALID_MARKS, TEST_MARKS = range(1, 9), range(21, 27), range(41, 46)


def marked(marks, seed=0, n_docs=10):
    """Queries whose first feature is their mark; the labels follow the others, differently for each seed."""
    marks, rng = list(marks), np.random.default_rng(seed)
    X = rng.random((len(marks) * n_docs, 4))
    y = np.digitize(X[:, 1] + 0.5 * X[:, 2] + rng.normal(0, 0.3, len(X)), [0.6, 0.9, 1.2])
    X[:, 0] = np.repeat(marks, n_docs)
    return Dataset(X, y, np.repeat(marks, n_docs))


TRAIN, VALID, TEST = (canonical(marked(marks, i)) for i, marks in enumerate((TRAIN_MARKS, VALID_MARKS, TEST_MARKS)))
OTHER_VALID = VALID.replace(X=VALID.X * 1000, y=VALID.y[::-1].copy())
INNER = {"nested-ranker": {"ranker": "rank-boost"}, "rank-aggregation": {"ranker": "ranknet"}}


def fitted(name, valid, **more):
    return make(name, INNER.get(name, {}) | more).fit(TRAIN, valid=valid)


# fit


@pytest.mark.parametrize(
    "name", [name for name in RANKERS if "scaling" in parameters_of(ranker_class(name)) and name != "auto"]
)
def test_scaling_is_learned_from_the_training_part_alone(name):
    """Validation data a thousand times as large moves no scaled feature of a test document."""
    scaled = [fitted(name, valid, scaling="quantile").prepared(TEST).X for valid in (None, VALID, OTHER_VALID)]
    expected, wrong = (make_scaler("quantile").fit(data).transform(TEST).X for data in (TRAIN, VALID))
    for found in scaled:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert not np.allclose(expected, wrong)


LISTENS = ("valid", "restart", "comparisons", "new", "known", "rate")
"""Parts of the names of columns that speak of validation data or follow it."""


def histories(name):
    """What training says of itself with one set of validation data and with another, as far as both go."""
    one, other = (fitted(name, valid).history_ for valid in (VALID, OTHER_VALID))
    for a, b in zip(one, other, strict=False):
        yield from ((key, a[key], b[key]) for key in a if key in b and not any(word in key for word in LISTENS))


STAGED = {"sortnet", "nested-ranker", "iesr-rank"}  # later steps start from what validation data chose
NO_HISTORY = {"single-feature", "random-ranker", "rank-aggregation", "rank-fusion", "auto"}
UNTOLD = {"coordinate-ascent"}  # whose history has no column for validation data


@pytest.mark.parametrize("name", [name for name in RANKERS if name not in STAGED | NO_HISTORY])
def test_training_does_not_look_at_validation_data(name):
    for key, one, other in histories(name):
        assert one == other or (one != one and other != other), key


@pytest.mark.parametrize("metric", [None, "map"])  # its own, and another, which trees measure in another way
@pytest.mark.parametrize("name", [name for name in RANKERS if name not in NO_HISTORY | UNTOLD])
def test_the_value_on_validation_data_is_that_of_the_ranker_that_is_kept(name, metric):
    ranker = fitted(name, VALID, **{} if metric is None else {"metric": metric})
    quality = parse_metric(ranker.metric).quality
    best = max(quality(row["valid"]) for row in ranker.history_ if "valid" in row)
    assert ranker.score(VALID) == pytest.approx(best, abs=1e-6)
    assert ranker.score(TRAIN) != pytest.approx(best, abs=1e-6)
    kept = next(row for row in ranker.history_ if "valid" in row and quality(row["valid"]) == best)
    assert told_of_itself(ranker, kept) == {}


def told_of_itself(ranker, row):
    """What an attribute says of the row of the history that was kept, where it is not what the row says."""
    names = [(key, name) for key in row for name in (f"{key}_", f"best_{key}_") if hasattr(ranker, name)]
    return {name: getattr(ranker, name) for key, name in names if getattr(ranker, name) != row[key]}


KEPT = {
    "rank-boost": lambda ranker: len(ranker.stumps_),
    "ada-rank": lambda ranker: np.count_nonzero(ranker.coef_),
    "nested-ranker": lambda ranker: len(ranker.rankers_),
}
"""How much of its history is in a ranker that has no number of what it kept."""


@pytest.mark.parametrize(
    "name",
    ["ranknet", "deepnet", "sortnet", "lambda-mart", "mc-rank", "prank", "oap-bpm", "rank-svm", "coordinate-ascent",
     "linear-regression-ranker", *KEPT],
)  # fmt: skip
def test_of_equally_good_ones_the_first_is_kept(name):
    """Validation data whose documents are all alike, so that every step is as good as the one before."""
    more = {"rank-svm": {"C": (0.1, 1.0)}, "nested-ranker": {"sizes": (None, 4, 2)}}
    ranker = fitted(name, VALID.replace(X=np.ones_like(VALID.X)), **more.get(name, {}))
    assert len(ranker.history_) > 1
    assert told_of_itself(ranker, ranker.history_[0]) == {}
    assert KEPT.get(name, lambda _: 1)(ranker) == 1


@pytest.mark.parametrize("name", [name for name in RANKERS if hasattr(ranker_class(name), "fit_pairs")])
def test_what_learns_from_pairs_keeps_what_is_best_on_validation_data(name):
    rows = np.array([(a, b) for a in range(20) for b in range(20) if TRAIN.y[a] > TRAIN.y[b]])
    ranker = make(name, {"scaling": None, "epochs": 8}).fit_pairs(TRAIN.X, rows, valid=VALID)
    kept = max(ranker.history_, key=lambda row: row["valid"])
    assert ranker.score(VALID) == pytest.approx(kept["valid"], abs=1e-6)
    assert told_of_itself(ranker, kept) == {}


@pytest.mark.parametrize("unknown", [0, slice(None)])
def test_a_score_that_is_no_number_is_worse_than_anything_wherever_the_data_lies(unknown):
    scores = VALID.y.astype(float)
    scores[unknown] = np.nan
    quality = QualityByMetric(Judge("map", "standard"), VALID, lambda _: scores)
    assert quality(SimpleNamespace(layers=list)) == -np.inf
    bench = SimpleNamespace(data={"valid": VALID})
    found = values_of_part(bench, "valid", "map", "standard", lambda _: scores)
    assert found.tolist() == [-np.inf] * VALID.n_queries


def test_kept_account_is_of_each_step_and_of_the_best_so_far():
    choice = Choice(VALID, "mrr", "standard")
    taken = [choice.takes_value(value) for value in (0.5, 0.7, 0.6, 0.7, 0.8)]
    assert taken == [True, True, False, False, True]
    told = []
    choice = Choice(VALID, "mrr", "standard")
    for value in (0.5, 0.7, 0.6):
        choice.takes_value(value)
        told.append((choice.last["valid"], choice.figures["best"], choice.figures["now"]))
    assert told == [(0.5, 0.5, 0.5), (0.7, 0.7, 0.7), (0.6, 0.7, 0.6)]


# an ensemble that is chosen by folds


def test_an_ensemble_is_measured_on_queries_that_chose_nothing_of_it(monkeypatch):
    """Members, steps and weights come from the other folds, and so do weights that are tried on a fold."""
    calls, masks = [], []
    real, real_weights = choosing.Choice.ensemble, combining.greedy_weights

    def ensemble(self, which):
        masks.append([])
        calls.append((self, which.copy(), real(self, which)))
        return calls[-1][2]

    def greedy_weights(members, measure, which):
        masks[-1].append(which.copy())
        return real_weights(members, measure, which)

    monkeypatch.setattr(choosing.Choice, "ensemble", ensemble)
    monkeypatch.setattr(combining, "greedy_weights", greedy_weights)
    ranker = ranker_class("auto")(trials=3, folds=3).fit(TRAIN)
    choice, first, _ = calls[0]
    bench, values = choice.bench, np.full(TRAIN.n_queries, np.nan)
    assert first.all()
    for fold, (_, which, found) in enumerate(calls[1:]):
        own = bench.fold == fold
        assert (which == ~own).all()
        scores = [
            weight * combining.standardized(choice.trials[one.trial].unseen(one.step), bench.data.offsets)
            for one, weight in zip(found.members, found.weights, strict=True)
        ]
        values[own] = bench.judge.per_query(bench.data, sum(scores))[own]
    assert ranker.quality_["mean"] == pytest.approx(values.mean())
    for (_, which, found), tried in zip(calls, masks, strict=True):
        expected = [which & (bench.fold != fold) for fold in np.unique(bench.fold[which])]
        expected += [which] if found.greedy_share else []
        assert [one.tolist() for one in tried] == [one.tolist() for one in expected]


def test_the_step_of_a_member_is_chosen_by_the_queries_that_are_asked():
    trial, steps = Trial(None, None), np.arange(30)[:, None]
    trial._curve = -np.abs(steps - np.array([[8, 8, 20, 20, 25]])) / 30.0
    for which, best in (([1, 1, 0, 0, 0], 8), ([0, 0, 1, 1, 0], 20), ([0, 0, 0, 0, 1], 25)):
        assert trial.best_step(np.array(which, bool)) == best


# bench and search


@pytest.fixture
def seen(monkeypatch):
    """The marks of the queries that were fitted on, chosen on and scored, in the order of the calls."""
    calls, real_fit, real_scores = [], LinearRegressionRanker._fit, LinearRegressionRanker._scores_of

    def fit(self, data, valid):
        calls.append(("fit", set(data.X[:, 0]), set() if valid is None else set(valid.X[:, 0])))
        real_fit(self, data, valid)

    def score(self, data):
        calls.append(("score", set(data.X[:, 0]), set()))
        return real_scores(self, data)

    monkeypatch.setattr(LinearRegressionRanker, "_fit", fit)
    monkeypatch.setattr(LinearRegressionRanker, "_scores_of", score)
    _open_part.cache_clear()
    return calls


def one_fold():
    return {"marked": Folds(["Fold1"], lambda _: Fold("Fold1", TRAIN, VALID, TEST))}


PROFILE = "sklearn"  # another one than by default, whose values differ
MARKED = {"ranker": "linear-regression-ranker", "params": {"scaling": None}}  # so that it sees the marks
ENTRIES = {
    "bench": MARKED,
    "grid": MARKED | {"grid": {"alpha": [0.1, 10.0]}},
    "search": MARKED | {"trials": 3},
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_every_part_of_a_fold_has_its_task(kind, seen, tmp_path):
    how = {"measures": ("map", "ndcg@5"), "parts": ("train", "valid"), "profile": PROFILE}
    plan = Plan(data=one_fold(), rankers=[ENTRIES[kind]], **how)
    [trial] = run(plan, tmp_path / "s.sqlite", n_jobs=1)
    train, valid, test = (set(map(float, marks)) for marks in (TRAIN_MARKS, VALID_MARKS, TEST_MARKS))
    fits = [(a, b) for what, a, b in seen if what == "fit"]
    assert all(a <= train and b <= valid for a, b in fits)
    assert (train, valid) in fits
    scored = [a for what, a, _ in seen if what == "score"]
    assert all(a <= train or a <= valid or a == test for a in scored)
    first = scored.index(test)
    n_fits_before = sum(what == "fit" for what, *_ in seen[: seen.index(("score", test, set()))])
    assert n_fits_before == len(fits), "test data is looked at when nothing is left to choose"
    assert scored[first:].count(test) == 1
    ranker = LinearRegressionRanker(**{"metric": plan.selection} | trial.params).fit(TRAIN, valid=VALID)
    for metric in ("map", "ndcg@5"):
        for data, found in (
            (TEST, trial.test[metric]),
            (VALID, trial.valid[metric]),
            (TRAIN, np.nanmean(trial.parts["train"][metric])),
            (VALID, np.nanmean(trial.parts["valid"][metric])),
        ):
            expected = evaluate(data, ranker.predict(data), metrics=metric, profile=PROFILE)[metric]
            assert found == pytest.approx(expected)
            assert metric == "map" or found != evaluate(data, ranker.predict(data), metrics=metric)[metric]
    assert set(map(float, trial.query_ids)) == test


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_result_belongs_to_its_task_whichever_is_ready_first(n_jobs):
    with closing(local_backend(n_jobs)) as backend:
        found = dict(backend.map(later_first, list(range(6))))
    assert found == {number: number * number for number in range(6)}


# the commands


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in (("train", TRAIN), ("valid", VALID), ("test", TEST)):
        write_letor(data, f"{name}.txt")
    return tmp_path


@pytest.mark.parametrize("binarize", [None, 2])
@pytest.mark.parametrize("share", [None, "0.25"])
def test_train_learns_from_one_part_and_tells_both(files, capsys, binarize, share):
    words = ["--valid", share or "valid.txt", *(["--binarize", str(binarize)] if binarize else [])]
    assert ordino("train", "train.txt", "-r", "rank-boost", "-p", "rounds=5", *words, "-o", "m.ordino", "--json") == 0
    card = json.loads(capsys.readouterr().out)
    train, valid = (TRAIN, VALID) if share is None else (None, None)
    if share is None:
        if binarize:
            train, valid = binarize_labels(train, threshold=binarize), binarize_labels(valid, threshold=binarize)
        model, told = load("m.ordino"), card["notes"]["reached"]["ndcg@10"]
        expected = ranker_class("rank-boost")(rounds=5).fit(train, valid=valid)
        assert model.predict(TEST).tolist() == expected.predict(TEST).tolist()
        assert told == pytest.approx({"train": model.score(train), "valid": model.score(valid)})
        assert told["train"] != pytest.approx(told["valid"])
    assert card["data"]["queries"] == (8 if share is None else 6)
    assert card["valid"]["queries"] == (6 if share is None else 2)
    labels = {"levels": 2} if binarize else {"levels": 4}
    assert {"levels": card["data"]["labels"]["levels"]} == labels
    assert {"levels": card["valid"]["labels"]["levels"]} == labels


def test_parts_of_a_split_share_no_query_and_lose_none():
    for shares in ((0.5,), (0.6, 0.2), (0.5, 0.25, 0.25)):
        parts = [set(part.X[:, 0]) for part in TRAIN.split(*shares)]
        assert set.union(*parts) == set(map(float, TRAIN_MARKS))
        assert sum(map(len, parts)) == len(TRAIN_MARKS)
        assert all(a.isdisjoint(b) for a, b in pairwise(parts))
