"""Distillation: the student follows the teacher, never a label, and the loss is measured on other queries."""

import numpy as np
import pytest
from sklearn.base import clone

from ordino import Dataset, LambdaMART, RankAggregation, RankSVM, SortNet, distill, evaluate, export_model
from ordino.data.scaling import ZScore
from ordino.distilling import STUDENTS, door
from ordino.distilling.door import measure, relabeled
from ordino.errors import DataError, ParameterError
from ordino.rankers import make_ranker
from ordino.testing import easy_data

DATA = easy_data(n_queries=20)
QUICK = {
    "lambda-mart": {"rounds": 30, "learning_rate": 0.2},
    "ranknet": {"epochs": 50, "hidden": (8,), "learning_rate": 0.02},
    "rank-svm": {},
}


@pytest.fixture(scope="module")
def teacher():
    return SortNet(hidden=4, epochs=3, max_iter=1).fit(DATA)


@pytest.mark.parametrize("into", STUDENTS)
def test_even_a_comparator_reaches_solr(teacher, into):
    found = distill(teacher, into, easy_data(n_queries=24, seed=1), params=QUICK[into])
    assert found.pairs_kept > 0.8
    assert found.queries == 6
    assert found.loss.interval.low <= found.loss.difference <= found.loss.interval.high
    for to in ("solr", "opensearch", "onnx"):
        assert export_model(found.student, to, data=DATA).certificate.passed


@pytest.mark.parametrize("into", STUDENTS)
def test_a_student_is_chosen_on_queries_that_it_does_not_learn_from(teacher, into):
    student = distill(teacher, into, easy_data(n_queries=24, seed=1), params={**QUICK[into], **TWO[into]}).student
    values = [row["valid"] for row in student.history_]
    assert len(values) > 1
    assert KEPT[into](student) == KEPT[into](student.history_[values.index(max(values))])


TWO = {"rank-svm": {"C": [1e-6, 1.0]}, "ranknet": {"epochs": 3}, "lambda-mart": {"rounds": 3}}
KEPT = {
    "rank-svm": lambda one: one["C"] if isinstance(one, dict) else one.C_,
    "ranknet": lambda one: one["epoch"] if isinstance(one, dict) else one.best_epoch_,
    "lambda-mart": lambda one: one["round"] if isinstance(one, dict) else one.best_round_,
}
"""What was kept of a student's history, by the history and by the student."""


def test_the_loss_is_the_teachers_mean_less_the_students():
    test = easy_data(n_queries=8, seed=3)
    ranker = RankSVM().fit(DATA)
    found = distill(ranker, "lambda-mart", easy_data(n_queries=12, seed=1), test=test, params={"rounds": 1})
    means = [evaluate(test, one.predict(test), metrics="ndcg@10")["ndcg@10"] for one in (ranker, found.student)]
    assert [found.loss.mean_a, found.loss.mean_b] == pytest.approx(means)
    assert found.loss.difference == pytest.approx(means[0] - means[1])
    assert means[0] > means[1]


@pytest.mark.parametrize("into", STUDENTS)
def test_features_far_from_zero(into):
    """What is taken off and divided by in learning goes into the weights."""
    data = easy_data(n_queries=24, seed=1)
    far = data.replace(X=1000 + 5 * data.X)
    found = distill(RankSVM().fit(far), into, far, params=QUICK[into])
    assert found.pairs_kept > 0.85


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("into", ["ranknet", "rank-svm"])
def test_a_student_with_a_scaling_or_medians_of_its_own_learns_them_from_the_features_as_they_are(into, holes):
    data = easy_data(n_queries=24, seed=1)
    far = data.replace(X=1000 + 5 * data.X)
    teacher = RankSVM(missing="median").fit(far)
    holed = far.replace(X=np.where(np.random.default_rng(0).random(far.X.shape) < 0.02, np.nan, far.X))
    shown = holed if holes else far
    for own in ({"scaling": "zscore"}, {"missing": "median"}, {"scaling": "zscore", "missing": "median"}):
        found = distill(teacher, into, shown, test=far, params=QUICK[into] | own)
        assert found.pairs_kept > 0.85
        if holes or "missing" in own:
            medians = found.student.scaler_.medians_
            assert medians == pytest.approx(np.nanmedian(shown.X, axis=0), rel=1e-3)
    if not holes:
        assert type(distill(teacher, into, far, params={**QUICK[into], "scaling": "zscore"}).student.scaler_) is ZScore


@pytest.mark.parametrize("into", STUDENTS)
def test_labels_play_no_role_in_learning(teacher, into):
    data = easy_data(n_queries=16, seed=2)
    upside_down = data.replace(y=2 - data.y)
    one, two = (distill(teacher, into, some, params=QUICK[into]).student for some in (data, upside_down))
    np.testing.assert_array_equal(one.predict(DATA), two.predict(DATA))


def test_the_queries_that_measure_are_not_learned_from(teacher, monkeypatch):
    """A quarter of them is measured, and any other documents in these make no other student of the rest."""
    data, parts = easy_data(n_queries=16, seed=2), {}
    monkeypatch.setattr(door, "relabeled", lambda own, *a: parts.update(learned=own) or relabeled(own, *a))
    monkeypatch.setattr(door, "measure", lambda *a: parts.update(measured=a[2]) or measure(*a))
    student = distill(teacher, "rank-svm", data).student
    learned, measured = parts["learned"], parts["measured"]
    assert sorted([*learned.query_ids, *measured.query_ids]) == sorted(data.query_ids)
    assert measured.n_queries == 4
    alone = distill(teacher, "rank-svm", learned, test=easy_data(n_queries=4, seed=3)).student
    np.testing.assert_array_equal(alone.coef_, student.coef_)


def test_a_teacher_is_its_own_best_student():
    ranker = RankSVM().fit(DATA)
    found = distill(ranker, "rank-svm", easy_data(n_queries=30, seed=1), test=easy_data(n_queries=8, seed=3))
    assert found.pairs_kept > 0.97
    assert abs(found.loss.difference) < 0.02
    assert "lost" in str(found)


def test_what_is_asked_for_reaches_the_student_and_the_measuring(teacher):
    data = easy_data(n_queries=20, seed=2)
    assert distill(teacher, "rank-svm", data, hold_out=0.5).queries == 10
    for into, params in {
        "lambda-mart": {"rounds": 7},
        "ranknet": {"epochs": 3, "hidden": (5,)},
        "rank-svm": {"C": 7.0},
    }.items():
        student = distill(teacher, into, data, params=params).student
        assert {name: student.get_params()[name] for name in params} == params
    drawn = {"ranknet": {"epochs": 1, "hidden": (4,)}, "lambda-mart": {"rounds": 3, "query_share": 0.5}}
    for into, params in drawn.items():
        one, two, again = (distill(teacher, into, data, params=params, seed=seed).student for seed in (0, 1, 0))
        assert one.predict(DATA).tolist() == again.predict(DATA).tolist() != two.predict(DATA).tolist()
    test = easy_data(n_queries=8, seed=3)
    for metric, profile in (("map", "standard"), ("ndcg@10", "sklearn"), ("ndcg@10", "standard")):
        ranker = RankSVM(metric=metric, profile=profile).fit(DATA)
        loss = measure(ranker, ranker, test).loss
        assert loss.measure == metric
        assert loss.mean_a == evaluate(test, ranker.predict(test), metrics=metric, profile=profile)[metric]


def test_students_have_settings_of_their_own_that_params_change(monkeypatch):
    """The labels that a teacher's order makes are gains already, and every query has its say."""
    usual = {
        "lambda-mart": {
            "learning_rate": 0.05, "gain": "linear", "truncation": 100, "min_leaf": 10, "leaves": 31, "rounds": 500,
        },
        "ranknet": {"activation": "tanh", "dropout": 0.0, "epochs": 100, "scaling": None},
        "rank-svm": {"C": [0.001, 0.01, 0.1, 1.0], "pair_weights": "query"},
    }  # fmt: skip
    seen, data = {}, easy_data(n_queries=12, seed=2)
    monkeypatch.setattr(
        door, "make_ranker", lambda name, params: seen.update({name: params}) or make_ranker(name, params | QUICK[name])
    )
    for into, expected in usual.items():
        distill(RankSVM().fit(DATA), into, data, params={})
        assert {name: value for name, value in seen[into].items() if name != "seed"} == expected


def test_pairs_that_the_student_ties_are_not_kept(teacher):
    class Tied:
        def predict(self, data):
            return np.zeros(data.n_docs)

    found = measure(teacher, Tied(), DATA)
    assert found.pairs_kept == 0
    assert measure(teacher, teacher, DATA).pairs_kept == 1


def test_ensembles_and_missing_values():
    data = easy_data(n_queries=20, seed=1)
    holed = data.replace(X=np.where(np.random.default_rng(0).random(data.X.shape) < 0.1, np.nan, data.X))
    members = RankAggregation([RankSVM(missing="median"), RankSVM(missing="median", C=1.0)]).set_params(n=2)
    for into in STUDENTS:
        student = distill(RankSVM(missing="median").fit(holed), into, holed, params=QUICK[into]).student
        assert np.isfinite(student.predict(holed)).all()
        assert export_model(student, "solr", data=holed).certificate.passed
    found = distill(members.set_params(ranker=[RankSVM(), RankSVM(C=1.0)]).fit(DATA), "rank-svm", data)
    assert found.pairs_kept > 0.9


def test_refusals(teacher):
    with pytest.raises(ParameterError, match="unknown student"):
        distill(teacher, "magic", DATA)
    with pytest.raises(DataError, match="empty"):
        distill(teacher, "rank-svm", DATA.select_queries(np.array([0])))


@pytest.mark.parametrize("teacher", [LambdaMART(rounds=5, min_leaf=3), RankSVM()], ids=repr)
def test_neither_the_order_of_the_rows_nor_labels_change_what_is_taught(teacher):
    """Nor which queries are held out."""
    teacher = clone(teacher).fit(DATA)
    rows = np.random.default_rng(0).permutation(DATA.n_docs)
    shuffled = Dataset(DATA.X[rows], DATA.y[rows], DATA.qid[rows])
    one, other, unlabeled = (
        distill(teacher, "rank-svm", data, params={"C": 0.1}) for data in (DATA, shuffled, DATA.replace(y=DATA.y * 0))
    )
    assert one.to_dict() == other.to_dict()
    expected = one.student.predict(DATA)
    np.testing.assert_array_equal(other.student.predict(DATA), expected)
    np.testing.assert_array_equal(unlabeled.student.predict(DATA), expected)
