"""What people type who know other libraries: the right thing, or one sentence that says what to type."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict, cross_val_score, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordino
from ordino import Dataset, LambdaMART, OrdinalClassifier, QueryKFold, RankDE, RankNet, RankSVM
from ordino.data.shards import write_shards
from ordino.data.source import canonical
from ordino.errors import DataError, ParameterError
from ordino.given import as_dataset
from ordino.ranker import NotFittedError
from ordino.testing import easy_data

DATA = easy_data()
X, y, qid = DATA.X, DATA.y, DATA.qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_no_qid_is_refused_and_one_list_can_be_said():
    with pytest.raises(DataError, match=r"fit\(\) needs qid=.*fit\(ordino.Dataset\(X, y\)\)"):
        RankSVM().fit(X, y)
    ranker = RankSVM().fit(Dataset(X, y))
    assert ranker.n_queries_in_ == 1
    with pytest.raises(DataError, match=r"score\(\) needs qid="):
        ranker.score(X, y)


def test_validation_without_queries_is_refused():
    with pytest.raises(DataError, match="valid has no queries but the training data has 12"):
        RankSVM().fit(X, y, qid=qid, valid=(X, y))
    with pytest.raises(DataError, match="valid has no queries"):
        RankSVM().fit(X, y, qid=qid, valid=(X, y, None))
    RankSVM().fit(Dataset(X, y), valid=(X, y))  # lists on both sides


@pytest.mark.parametrize("valid", [(X, y), (X, y, None), (X, y, qid, qid), "valid.txt"])
def test_validation_beside_shards_is_refused_as_beside_one_file(valid, tmp_path):
    shards = write_shards(DATA, tmp_path / "shards", 2)
    with pytest.raises(DataError) as of_file:
        RankSVM().fit(DATA, valid=valid)
    with pytest.raises(DataError) as of_shards:
        RankSVM().fit(shards, valid=valid)
    assert str(of_shards.value) == str(of_file.value)


@pytest.mark.parametrize("ranker", [LambdaMART(rounds=2), RankSVM()])
def test_validation_with_columns_in_another_order_is_refused(ranker):
    names = [f"f{j}" for j in range(DATA.n_features)]
    turned = Dataset(X[:, ::-1], y, qid, feature_names=names[::-1])
    with pytest.raises(DataError, match=f"valid: column 0 is '{names[-1]}' but was 'f0' in fit"):
        ranker.fit(Dataset(X, y, qid, feature_names=names), valid=turned)
    ranker.fit(Dataset(X, y, qid, feature_names=names), valid=(X, y, qid))  # no names to compare


@pytest.mark.parametrize("valid", [0.0, 1.0, 1.5, -0.1])
def test_a_share_lies_between_0_and_1(valid):
    with pytest.raises(ParameterError, match="a share of the queries between 0 and 1"):
        RankSVM().fit(X, y, qid=qid, valid=valid)


def test_a_share_of_the_queries_is_held_out_whole():
    ranker = LambdaMART(rounds=5, min_leaf=5).fit(X, y, qid=qid, valid=0.25)
    train, held_out = canonical(DATA).split(0.75)
    same = LambdaMART(rounds=5, min_leaf=5).fit(train, valid=held_out)
    assert ranker.n_queries_in_ == 9
    np.testing.assert_array_equal(ranker.predict(DATA), same.predict(DATA))


def test_the_order_of_the_queries_does_not_choose_who_is_held_out():
    turned = DATA.select_queries(np.arange(DATA.n_queries)[::-1])
    one, other = (LambdaMART(rounds=5, min_leaf=5).fit(data, valid=0.25) for data in (DATA, turned))
    np.testing.assert_array_equal(one.predict(DATA), other.predict(DATA))


def test_repeats_hold_out_the_same_share():
    network = RankNet(epochs=2)
    for seed, together in zip((3, 4), network.fit_repeats(DATA, [3, 4], valid=0.25), strict=True):
        np.testing.assert_array_equal(
            together.predict(DATA), network.with_seed(seed).fit(DATA, valid=0.25).predict(DATA)
        )


def test_a_list_longer_than_any_in_fit_is_refused_where_scaling_looks_inside_queries():
    ranker = RankDE(generations=2, scaling="querymax").fit(X, y, qid=qid)
    with pytest.raises(DataError, match="180 rows without qid are one list, but the longest in fit had 15"):
        ranker.predict(X)
    assert len(ranker.predict(X[:15])) == 15  # as a service sends it
    assert len(ranker.predict(Dataset(X, y))) == 180
    assert len(RankSVM(scaling="symlog").fit(X, y, qid=qid).predict(X)) == 180  # scaled alike everywhere


@pytest.mark.filterwarnings("error")
def test_data_that_teaches_is_not_warned_of():
    RankSVM().fit(DATA)
    RankSVM().fit([[1.0], [0.0], [1.0]], [1, 0, 0], qid=[1, 1, 2])


def test_rows_that_are_queries_and_labels_that_are_equal_are_told():
    with pytest.warns(UserWarning, match="each of the 180 rows is a query of its own"):
        RankSVM().fit(X, y, qid=np.arange(len(X)))
    with pytest.warns(UserWarning, match="no query has two different labels"):
        RankSVM().fit(X, np.zeros(len(X)), qid=qid)
    by_query = (np.unique(qid, return_inverse=True)[1] % 2).astype(float)
    with pytest.warns(UserWarning, match="no query has two different labels"):
        RankSVM().fit(X, by_query, qid=qid)


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("group", "qid="),
        ("groups", "qid="),
        ("eval_set", "valid="),
        ("eval_group", "valid="),
        ("weight", "sample_weight="),
    ],
)
def test_words_of_other_libraries_are_translated(word, ours):
    with pytest.raises(ParameterError, match=rf"fit\(\) has no argument {word}; use {ours}"):
        RankSVM().fit(X, y, qid=qid, **{word: 1})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda ranker: ranker.predict(X, group=[2, 3]), r"predict\(\) has no argument group; use qid="),
        (lambda ranker: ranker.rank(X, groups=qid), r"rank\(\) has no argument groups; use qid="),
        (lambda ranker: ranker.score(X, y, groups=qid), r"score\(\) has no argument groups; use qid="),
        (lambda ranker: ranker.score(X, y, weight=y), r"score\(\) has no argument weight; use sample_weight="),
        (
            lambda ranker: ranker.predict(X, num_iteration=3),
            r"predict\(\) has no argument num_iteration; it takes X and",
        ),
        (lambda ranker: ranker.predict(X, eval_set=3), r"predict\(\) has no argument eval_set; it takes X and qid"),
        (lambda ranker: ranker.fit(X, y, qid), r"takes the queries by name; write fit\(X, y, qid=qid\)"),
        (lambda ranker: ranker.predict(X, qid), r"takes the queries by name; write predict\(X, qid=qid\)"),
        (lambda ranker: ranker.rank(X, qid), r"takes the queries by name; write rank\(X, qid=qid\)"),
        (lambda ranker: ranker.score(X, y, qid), r"takes the queries by name; write score\(X, y, qid=qid\)"),
    ],
)
def test_every_method_answers_in_our_words(call, sentence):
    with pytest.raises(ParameterError, match=sentence):
        call(RankSVM())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LambdaMART(max_depth=3), r"LightGBM gets it by options=\{'max_depth': ...\}"),
        (lambda: LambdaMART(objective="lambdarank"), r"it always learns its own; ordino.Scorer\(loss=...\)"),
        (lambda: LambdaMART(device="gpu"), "everything runs on the processor, so leave it out"),
        (lambda: RankSVM(random_state=0), "RankSVM has no parameter random_state; nothing in it is drawn at random"),
        (lambda: LambdaMART("gbdt", 31), r"takes its parameters by name, such as LambdaMART\(rounds=...\)"),
        (lambda: LambdaMART(n_jobs=-1).fit(DATA), "n_jobs=-1; .* or None for as many as are worth it"),
    ],
)
def test_what_has_no_word_here_is_told(make, sentence):
    with pytest.raises(ParameterError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("look", "error", "sentence"),
    [
        (lambda: ordino.LGBMRanker, AttributeError, "no attribute 'LGBMRanker'; use ordino.LambdaMART"),
        (lambda: ordino.Lambdamart, AttributeError, "use ordino.LambdaMART"),
        (lambda: ordino.nothing_like_it, AttributeError, "no attribute 'nothing_like_it'$"),
        (lambda: RankSVM().best_iteration_, AttributeError, "no attribute 'best_iteration_'; use best_round_"),
        (lambda: RankSVM().nothing_like_it, AttributeError, "no attribute 'nothing_like_it'$"),
        (lambda: LambdaMART().feature_importances_, NotFittedError, "this LambdaMART is not fitted yet"),
        (lambda: Dataset(X, y, group=[180]), ParameterError, r"Dataset\(\) has no argument group; use qid="),
        (lambda: Dataset(X, y, colour="red"), ParameterError, r"no argument colour; see help\(ordino.Dataset\)"),
        (lambda: QueryKFold(3, random_state=1), ParameterError, "no argument random_state; it is called seed here"),
    ],
)
def test_what_is_looked_for_in_the_wrong_place_is_told(look, error, sentence):
    with pytest.raises(error, match=sentence):
        look()


def test_a_ranker_is_copied_and_pickled_with_all_its_attributes():
    fitted = RankSVM().fit(DATA)
    for copied in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(copied.predict(DATA), fitted.predict(DATA))


@pytest.mark.parametrize(
    ("cls", "name", "ours"),
    [
        (LambdaMART, "subsample", "query_share"),
        (LambdaMART, "colsample_bytree", "feature_share"),
        (LambdaMART, "label_gain", "gain"),
        (LambdaMART, "eval_at", "metric"),
        (LambdaMART, "n_estimators", "rounds"),
        (RankNet, "n_estimators", "epochs"),
        (LambdaMART, "random_state", "seed"),
        (LambdaMART, "num_leaves", "leaves"),
        (LambdaMART, "min_child_samples", "min_leaf"),
        (RankNet, "hidden_layer_sizes", "hidden"),
        (RankNet, "weight_decay", "l2"),
    ],
)
def test_parameters_of_other_libraries_are_translated(cls, name, ours):
    with pytest.raises(ParameterError, match=f"{cls.__name__} has no parameter {name}; it is called '{ours}' here"):
        cls(**{name: 1})


def test_weights_of_documents_and_of_queries():
    rng = np.random.default_rng(0)
    of_queries = rng.random(DATA.n_queries)
    shuffled = rng.permutation(len(X))
    a, b, c = X[shuffled], y[shuffled], qid[shuffled]
    firsts = np.unique(c, return_index=True)
    order = firsts[0][np.argsort(firsts[1])]  # queries by their first rows
    by_name = dict(zip(order.tolist(), of_queries.tolist(), strict=True))
    of_documents = np.array([by_name[one] for one in c.tolist()])
    scores = [
        LambdaMART(rounds=4, min_leaf=5).fit(a, b, qid=c, sample_weight=weights).predict(DATA)
        for weights in (of_queries, of_documents)
    ]
    np.testing.assert_array_equal(*scores)
    assert not np.array_equal(scores[0], LambdaMART(rounds=4, min_leaf=5).fit(a, b, qid=c).predict(DATA))
    with pytest.raises(DataError, match="give 180 weights, one for each row, or 12, one for each query"):
        RankSVM().fit(X, y, qid=qid, sample_weight=np.ones(7))
    with pytest.raises(DataError, match="must not be negative"):
        RankSVM().fit(X, y, qid=qid, sample_weight=-np.ones(len(X)))


SEARCHED = {"alone": RankSVM(), "pipeline": make_pipeline(StandardScaler(), RankSVM())}
GRIDS = {"alone": {"C": [0.1, 1.0]}, "pipeline": {"ranksvm__C": [0.1, 1.0]}}


@pytest.mark.parametrize("searched", SEARCHED)
def test_searches_without_routing_are_refused(searched):
    """Also where scikit-learn would count a refused fit as NaN and go on, as it does by default."""
    for search in (
        lambda model: cross_val_score(model, X, y, cv=3),
        lambda model: cross_val_score(model, X, y, groups=qid, cv=GroupKFold(3)),
        lambda model: GridSearchCV(model, GRIDS[searched], cv=3).fit(X, y),
        lambda model: learning_curve(model, X, y, cv=3),
    ):
        with pytest.raises(DataError, match=r"^fit\(\) needs qid=.*enable_metadata_routing"):
            search(SEARCHED[searched])


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("searched", SEARCHED)
def test_searches_that_cut_queries_are_refused_whatever_becomes_of_failed_fits(searched):
    model = SEARCHED[searched]
    with pytest.raises(DataError, match=r"^the splitter cut \d+ quer.*ordino.QueryKFold"):
        cross_val_score(model, X, y, cv=7, params={"qid": qid})
    with pytest.raises(DataError, match=r"^the splitter cut \d+ quer.*ordino.QueryKFold"):
        GridSearchCV(model, GRIDS[searched], cv=7).fit(X, y, qid=qid)


def test_a_ranker_inside_another_model_has_its_queries_from_there():
    model = OrdinalClassifier(RankSVM())
    assert (cross_val_score(model, X, y.astype(int), cv=2, error_score="raise") > 0.2).all()


@pytest.mark.usefixtures("routing")
def test_groups_of_scikit_learn_serve_too():
    values = cross_val_score(RankSVM(), X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
    assert np.isfinite(values).all()


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_splitter_that_cuts_queries_is_refused_with_the_name_of_ours(n_jobs):
    with pytest.raises(DataError, match=r"cut \d+ quer.*ordino.QueryKFold"):
        cross_val_score(
            RankSVM(), X, y, cv=KFold(3, shuffle=True, random_state=0), params={"qid": qid}, error_score="raise",
            n_jobs=n_jobs,
        )  # fmt: skip


@pytest.mark.usefixtures("routing")
def test_cut_queries_are_seen_in_predictions_too():
    with pytest.raises(DataError, match=r"cut 1 query into.*QueryKFold"):
        cross_val_predict(RankSVM(), X, y, cv=7, params={"qid": qid})


class Around(BaseEstimator):
    """Somebody's own model, with a ranker inside."""

    def fit(self, X, y, qid=None):
        self.ranker_ = RankSVM().fit(X, y, qid=qid)
        return self

    def predict(self, X):
        return self.ranker_.predict(X)

    def score(self, X, y, qid=None):
        return self.ranker_.score(X, y, qid=qid)


@pytest.mark.usefixtures("routing")
def test_cut_queries_are_seen_by_a_ranker_inside_another_model():
    model = Around().set_fit_request(qid=True).set_score_request(qid=True)
    with pytest.raises(DataError, match=r"cut 1 query into.*QueryKFold"):
        cross_val_predict(model, X, y, cv=7, params={"qid": qid})
    with pytest.raises(DataError, match=r"cut 1 query into.*QueryKFold"):
        cross_val_score(model, X, y, cv=7, params={"qid": qid}, error_score="raise")
    assert len(cross_val_predict(model, X, y, cv=QueryKFold(3), params={"qid": qid})) == len(X)


@pytest.mark.usefixtures("routing")
def test_queries_that_are_tuples_are_cut_or_kept_like_others():
    pairs = [("q", int(query)) for query in qid]
    with pytest.raises(DataError, match="the splitter cut"):
        cross_val_score(RankSVM(), X, y, cv=KFold(3, shuffle=True, random_state=0), params={"qid": pairs})
    values = cross_val_score(RankSVM(), X, y, cv=QueryKFold(3), params={"qid": pairs})
    assert values.tolist() == cross_val_score(RankSVM(), X, y, cv=QueryKFold(3), params={"qid": qid}).tolist()


@pytest.mark.usefixtures("routing")
def test_our_splitter_serves_scikit_learn():
    values = cross_val_score(RankSVM(), X, y, cv=QueryKFold(3), params={"qid": qid})
    assert len(values) == 3
    assert np.isfinite(values).all()
    search = GridSearchCV(RankSVM(), {"C": [0.1, 1.0]}, cv=QueryKFold(3)).fit(X, y, qid=qid)
    assert len(search.best_estimator_.predict(X, qid=qid)) == len(X)


@pytest.mark.usefixtures("routing")
def test_a_share_is_held_out_inside_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LambdaMART(rounds=3, min_leaf=5)).fit(X, y, qid=qid, valid=0.25)
    assert pipeline[-1].n_queries_in_ == 9
    assert "valid" in pipeline[-1].history_[0]


@pytest.mark.usefixtures("routing")
def test_validation_data_that_the_steps_of_a_pipeline_would_not_change_is_refused():
    pipeline = make_pipeline(StandardScaler(), LambdaMART(rounds=3, min_leaf=5))
    for valid in ((X, y, qid), DATA):
        with pytest.raises(DataError, match=r"do not change validation data; give valid=0\.2"):
            pipeline.fit(X, y, qid=qid, valid=valid)
    alone = make_pipeline(LambdaMART(rounds=3, min_leaf=5)).fit(X, y, qid=qid, valid=(X, y, qid))
    assert "valid" in alone[-1].history_[0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 3, 1, 4, 2]])
def test_a_weight_of_a_query_is_that_of_each_of_its_documents_however_many_these_are(order):
    rows, qid = np.array(order), np.array(["a", "a", "a", "b", "c", "c"])
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 2, 0, 1, 0])
    by_name = {"a": 1.0, "b": 5.0, "c": 2.0}
    given = [by_name[name] for name in dict.fromkeys(qid[rows].tolist())]  # in the order of their first rows
    data = as_dataset(X[rows], y[rows], qid[rows], given)
    assert data.weights.tolist() == [by_name[name] for name in data.qid]
