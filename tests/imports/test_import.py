"""Models of other tools: the same scores, and everything that a ranker of ours does; hostile files get one sentence."""

import json
import re
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import xgboost

from ordino import Dataset, evaluate, import_model, load, read_letor, save, why
from ordino.errors import ModelFileError, OrdinoError, ParameterError
from ordino.explain import feature_weights, permutation_importance
from serving import service

RANKLIB = Path(__file__).parents[1] / "fixtures" / "engines" / "ranklib"
TEST = read_letor(RANKLIB / "test.txt")
HOLED = np.where(np.random.default_rng(0).random(TEST.X.shape) < 0.1, np.nan, TEST.X).astype(np.float32)


def xgboost_model(path: Path, **params):
    matrix = xgboost.DMatrix(HOLED, TEST.y, qid=TEST.query_number)
    booster = xgboost.train(
        {"objective": "rank:ndcg", "max_depth": 4, "verbosity": 0, "nthread": 1} | params, matrix, 15
    )
    booster.save_model(path)
    return booster, booster.predict(xgboost.DMatrix(HOLED), output_margin=True)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"booster": "dart", "rate_drop": 0.5},
        {"objective": "binary:logistic", "base_score": 0.3},
        {"objective": "survival:cox", "base_score": 2.0},
        {"num_parallel_tree": 2},
    ],
    ids=["rank:ndcg", "dart", "logistic", "cox", "forest"],
)
def test_xgboost_as_saved(tmp_path, params):
    if "objective" in params:
        TEST_Y = (TEST.y > 0).astype(float)
        booster = xgboost.train(params | {"verbosity": 0, "nthread": 1}, xgboost.DMatrix(HOLED, TEST_Y), 15)
        booster.save_model(tmp_path / "m.json")
        wanted = booster.predict(xgboost.DMatrix(HOLED), output_margin=True)
    else:
        _, wanted = xgboost_model(tmp_path / "m.json", **params)
    np.testing.assert_allclose(import_model(tmp_path / "m.json", "xgboost").predict(HOLED), wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    "params", [{}, {"num_parallel_tree": 2, "subsample": 0.5}, {"booster": "dart", "rate_drop": 0.3}]
)
def test_xgboost_that_stopped_early(tmp_path, params):
    """XGBRanker predicts with the rounds up to the best, a Booster with all, and so do their files."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, TEST.n_docs), TEST.query_number
    drawn = rng.integers(0, 3, TEST.n_docs)  # by which later rounds are no better
    ranker = xgboost.XGBRanker(n_estimators=20, early_stopping_rounds=3, max_depth=3, n_jobs=1, **params)
    ranker.fit(HOLED, y, qid=qid, eval_set=[(HOLED[:, ::-1], drawn)], eval_qid=[qid], verbose=False)
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    ranker.save_model(tmp_path / "ranker.json")
    ranker.get_booster().save_model(tmp_path / "booster.json")
    by_all = ranker.get_booster().predict(xgboost.DMatrix(HOLED), output_margin=True)
    for file, wanted in (("ranker", ranker.predict(HOLED)), ("booster", by_all)):
        found = import_model(tmp_path / f"{file}.json", "xgboost").predict(HOLED)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)


OBJECTIVES = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), 0.3),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"), 2.0),
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "rank:pairwise", "rank:map", "binary:hinge"), 0.3),
    "binary:logitraw": 1.5,
}
"""Objectives of which a model gives one number, and a base score that each allows."""


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_base_score_of_xgboost_is_on_the_scale_of_its_objective(tmp_path, objective):
    y = (TEST.y > 0).astype(float)
    matrix = xgboost.DMatrix(HOLED, y + objective.startswith(("reg:gamma", "survival")), qid=TEST.query_number)
    if objective == "survival:aft":
        matrix.set_float_info("label_lower_bound", y + 1)
        matrix.set_float_info("label_upper_bound", y + 1)
    params = {"objective": objective, "base_score": OBJECTIVES[objective], "verbosity": 0, "nthread": 1}
    booster = xgboost.train(params, matrix, 2)
    booster.save_model(tmp_path / "m.json")
    wanted = booster.predict(xgboost.DMatrix(HOLED), output_margin=True)
    np.testing.assert_allclose(import_model(tmp_path / "m.json", "xgboost").predict(HOLED), wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize("params", [{"max_depth": 2}, {"booster": "gblinear"}], ids=["trees", "linear"])
def test_names_of_xgboost_belong_to_their_columns(tmp_path, params):
    names = [f"{letter}x" for letter in "hgfedcba"]  # not in the order of the alphabet
    matrix = xgboost.DMatrix(TEST.X, TEST.y, feature_names=names)
    booster = xgboost.train({"verbosity": 0, "nthread": 1} | params, matrix, 4)
    wanted = booster.predict(matrix, output_margin=True)
    booster.save_model(tmp_path / "m.json")
    ranker = import_model(tmp_path / "m.json", "xgboost")
    assert ranker.feature_names() == tuple(names)
    np.testing.assert_allclose(ranker.predict(TEST.X), wanted, rtol=0, atol=2e-6)
    if params.get("booster") == "gblinear":
        return
    booster.dump_model(tmp_path / "dump.json", dump_format="json")  # which names those that it asks for
    dumped = import_model(tmp_path / "dump.json", "xgboost")
    asked = [names.index(name) for name in dumped.feature_names()]
    assert 1 < len(asked) < 8
    assert np.ptp(dumped.predict(TEST.X[:, asked]) - wanted) < 2e-6


def test_xgboost_linear(tmp_path):
    matrix = xgboost.DMatrix(TEST.X, TEST.y)
    booster = xgboost.train({"booster": "gblinear", "verbosity": 0, "nthread": 1}, matrix, 15)
    booster.save_model(tmp_path / "m.json")
    found = import_model(tmp_path / "m.json", "xgboost").predict(TEST.X)
    np.testing.assert_allclose(found, booster.predict(matrix), rtol=0, atol=2e-6)


def test_xgboost_as_dumped_lacks_only_the_base_score(tmp_path):
    booster, wanted = xgboost_model(tmp_path / "m.json")
    booster.dump_model(tmp_path / "dump.json", dump_format="json")
    off = import_model(tmp_path / "dump.json", "xgboost", n_features=8).predict(HOLED) - wanted
    assert np.ptp(off) < 2e-6


def test_a_dump_says_that_its_trees_count_in_full(tmp_path):
    """Those of DART do not, and nothing in its dump tells."""
    booster, wanted = xgboost_model(tmp_path / "m.json", booster="dart", rate_drop=0.5)
    booster.dump_model(tmp_path / "dump.json", dump_format="json")
    found = import_model(tmp_path / "dump.json", "xgboost", n_features=8)
    assert np.ptp(found.predict(HOLED) - wanted) > 0.01
    assert found.source == "XGBoost dump, in which every tree counts in full (not those of DART)"


def test_xgboost_at_its_own_thresholds(tmp_path):
    """x < condition, not <=: rows that hit every condition exactly."""
    booster, _ = xgboost_model(tmp_path / "m.json")
    trees = json.loads((tmp_path / "m.json").read_text())["learner"]["gradient_booster"]["model"]["trees"]
    rows = []
    for tree in trees:
        for j, condition, left in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"], strict=True
        ):
            if left >= 0:
                row = np.zeros(8, np.float32)
                row[j] = condition
                rows.append(row)
    X = np.array(rows)
    wanted = booster.predict(xgboost.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(import_model(tmp_path / "m.json", "xgboost").predict(X), wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize("params", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"boosting": "rf"}], ids=str)
def test_lightgbm_to_the_last_bit(tmp_path, params):
    own = {"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 3, "num_threads": 1, "feature_fraction": 0.6}
    train = lightgbm.Dataset(HOLED, TEST.y.astype(int), group=TEST.counts, feature_name=[f"n{j}" for j in range(8)])
    booster = lightgbm.train(own | params, train, 15)
    booster.save_model(tmp_path / "m.txt")
    ranker = import_model(tmp_path / "m.txt", "lightgbm")
    np.testing.assert_array_equal(ranker.predict(HOLED), booster.predict(HOLED, raw_score=True))
    assert ranker.feature_names() == tuple(f"n{j}" for j in range(8))
    gains = booster.feature_importance("gain")
    assert dict(feature_weights(ranker))["n0"] == pytest.approx(gains[0] / gains.sum())


def test_where_no_gains_are_known_every_split_counts_the_same(tmp_path):
    params = {"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 3, "num_threads": 1}
    booster = lightgbm.train(params, lightgbm.Dataset(TEST.X, TEST.y.astype(int), group=TEST.counts), 3)
    without = re.sub(r"^split_gain=.*\n", "", booster.model_to_string(), flags=re.M)
    (tmp_path / "m.txt").write_text(without)
    splits = booster.feature_importance("split")
    found = dict(feature_weights(import_model(tmp_path / "m.txt", "lightgbm")))
    assert [found[f"f{j + 1}"] for j in range(8)] == pytest.approx(splits / splits.sum())


def test_a_feature_weighs_the_sum_of_what_all_its_questions_add():
    told = (RANKLIB / "rankboost.model.txt").read_text().splitlines()[-1].split()
    sums = np.zeros(8)
    for feature, _, alpha in (question.split(":") for question in told):
        sums[int(feature) - 1] += float(alpha)
    assert len(told) > np.count_nonzero(sums)  # some are asked for more than once
    found = dict(feature_weights(import_model(RANKLIB / "rankboost.model.txt", "ranklib")))
    assert [found[f"f{j + 1}"] for j in range(8)] == pytest.approx(sums)


def test_lightgbm_with_categories(tmp_path):
    X = TEST.X.copy()
    X[:, 0] = np.random.default_rng(0).integers(0, 40, len(X))
    params = {
        "objective": "regression",
        "verbosity": -1,
        "min_data_in_leaf": 3,
        "num_threads": 1,
        "min_data_per_group": 1,
    }
    booster = lightgbm.train(params, lightgbm.Dataset(X, TEST.y, categorical_feature=[0]), 5)
    booster.save_model(tmp_path / "m.txt")
    assert "cat_threshold" in (tmp_path / "m.txt").read_text()
    found = import_model(tmp_path / "m.txt", "lightgbm").predict(X)
    np.testing.assert_array_equal(found, booster.predict(X, raw_score=True))


MODELS = sorted(path.name.partition(".")[0] for path in RANKLIB.glob("*.model.txt"))


@pytest.mark.parametrize("name", MODELS)
def test_an_imported_ranker_does_what_ours_do(name, tmp_path):
    ranker = import_model(RANKLIB / f"{name}.model.txt", "ranklib")
    scores = ranker.predict(TEST)
    save(ranker, tmp_path / "m.ordino")
    again = load(tmp_path / "m.ordino")
    np.testing.assert_array_equal(again.predict(TEST), scores)
    from ordino.model_file import load_scorer

    np.testing.assert_array_equal(load_scorer(tmp_path / "m.ordino")[0](TEST), scores)  # what `ordino rank` scores with
    assert evaluate(TEST, scores, metrics="ndcg@10")["ndcg@10"] > 0.4
    reasons = why(ranker, TEST.X[0], TEST.X[1])
    is_network = name in ("ranknet", "listnet")
    difference = np.diff(np.log(scores[:2] / (1 - scores[:2])) if is_network else scores[:2])[0]
    assert reasons.difference == pytest.approx(-difference, abs=1e-6)
    assert len(permutation_importance(ranker, TEST, repeats=1)) == 8
    if not is_network:
        assert len(feature_weights(ranker)) == 8
    with pytest.raises(ParameterError, match="imported"):
        ranker.fit(TEST)
    np.testing.assert_array_equal(ranker.predict(TEST), scores)


def test_features_beyond_those_that_the_file_names():
    path = RANKLIB / "coordinate-ascent.model.txt"
    wide = import_model(path, "ranklib", n_features=10)
    rows = np.column_stack((TEST.X, np.ones((TEST.n_docs, 2), np.float32)))
    np.testing.assert_array_equal(wide.predict(rows), import_model(path, "ranklib").predict(TEST.X))
    with pytest.raises(ParameterError, match="asks for feature 8"):
        import_model(path, "ranklib", n_features=3)


def test_several_ensembles_are_averaged_and_each_may_ask_for_other_features(tmp_path):
    def ensemble(feature, low, high):
        sides = "".join(f"<split><output>{value}</output></split>" for value in (low, high))
        inside = f"<feature>{feature}</feature><threshold>0.5</threshold>{sides}"
        return f'<ensemble><tree id="1" weight="1"><split>{inside}</split></tree></ensemble>'

    (tmp_path / "forest.txt").write_text("## Random Forests\n" + ensemble(2, 1, 3) + ensemble(5, 10, 30))
    ranker = import_model(tmp_path / "forest.txt", "ranklib")
    assert ranker.n_features_in_ == 5
    rows = np.array([[0, a, 0, 0, b] for a in (0, 1) for b in (0, 1)], np.float32)
    assert ranker.predict(rows).tolist() == [5.5, 15.5, 6.5, 16.5]


LINEAR = "## Coordinate Ascent\n"
TREE = '## LambdaMART\n<ensemble><tree id="1" weight="0.1"><split>{}</split></tree></ensemble>'
LEAF = "<output> 1 </output>"
HOSTILE_RANKLIB = {
    "empty": "",
    "no head": "1:0.5",
    "unknown": "## Magic\n1:0.5",
    "no body": LINEAR,
    "word": LINEAR + "1:abc",
    "nan": LINEAR + "1:nan",
    "infinite": LINEAR + "1:1e999",
    "negative feature": LINEAR + "-1:0.5",
    "huge feature": LINEAR + "99999999999999:0.5",
    "three parts": LINEAR + "1:2:3",
    "boost": "## RankBoost\n1:2",
    "cut off": TREE.format("<feature> 1 </feature>")[:90],
    "half a split": TREE.format(
        '<feature> 1 </feature><threshold> 1 </threshold><split pos="left">' + LEAF + "</split>"
    ),
    "no number": TREE.format("<output> x </output>"),
    "deep": TREE.format('<feature> 1 </feature><threshold> 1 </threshold><split pos="left">' * 5000),
    "entity": '## MART\n<!DOCTYPE x [<!ENTITY a "b">]>' + TREE.format(LEAF)[14:],
    "no tree": "## MART\n<ensemble></ensemble>",
    "network": "## RankNet\n1 2\n1\n3\n0 0 1 1",
    "network of many layers": "## RankNet\n1 2\n999999\n",
    "wide network": "## RankNet\n1\n1\n1000000\n0 0 1\n",
}
HOSTILE_XGBOOST = {
    "no json": "{",
    "a number": "3",
    "empty list": "[]",
    "deep": "[" * 100_000,
    "no learner": '{"learner": 3}',
    "half": '{"learner": {"learner_model_param": {"num_feature": "2"}}}',
    "leaf only": '[{"nodeid": 0}]',
    "one child": '[{"nodeid":0,"split":"f0","split_condition":1,"yes":1,"no":2,"children":[{"nodeid":1,"leaf":1}]}]',
    "infinite": '[{"nodeid":0,"leaf":Infinity}]',
    "text": '[{"nodeid":0,"leaf":"abc"}]',
}


@pytest.mark.parametrize("name", HOSTILE_RANKLIB)
def test_hostile_text_of_ranklib_gets_one_sentence(name, tmp_path):
    refused_in_one_sentence(tmp_path, HOSTILE_RANKLIB[name], "ranklib")


@pytest.mark.parametrize("name", HOSTILE_XGBOOST)
def test_hostile_json_of_xgboost_gets_one_sentence(name, tmp_path):
    refused_in_one_sentence(tmp_path, HOSTILE_XGBOOST[name], "xgboost")


def refused_in_one_sentence(folder: Path, text: str | bytes, source: str) -> None:
    path = folder / "model"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(OrdinoError) as refusal:
        import_model(path, source)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


def test_files_that_are_none(tmp_path):
    for path, words in ((tmp_path, "folder"), (tmp_path / "nothing", "no such file")):
        with pytest.raises(ModelFileError, match=words):
            import_model(path, "ranklib")
    refused_in_one_sentence(tmp_path, b"\xff\xfe\x00binary", "xgboost")


def a_lightgbm_text() -> str:
    params = {"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 3, "num_threads": 1, "num_leaves": 5}
    return lightgbm.train(params, lightgbm.Dataset(TEST.X, TEST.y.astype(int), group=TEST.counts), 2).model_to_string()


def test_mutated_texts_are_read_or_refused_and_never_crash(tmp_path):
    """Characters, words and lines changed at random: LightGBM, which would crash on some of these, never sees them."""
    rng = np.random.default_rng(0)
    text = a_lightgbm_text().partition("parameters:")[0]
    xgboost_model(tmp_path / "x.json")
    forest = (RANKLIB / "mart.model.txt").read_text()
    texts = {"lightgbm": text, "xgboost": (tmp_path / "x.json").read_text()[:20000], "ranklib": forest}
    texts["xgboost"] = (tmp_path / "x.json").read_text()
    refused = 0
    for source, original in texts.items():
        for _ in range(60):
            words = list(original)
            for _ in range(int(rng.integers(1, 4))):
                at = int(rng.integers(len(words)))
                words[at] = str(rng.choice(["", "9", "-", "x", "\n", " ", "1e9", "=", "{", "]"]))
            path = tmp_path / "mutated"
            path.write_text("".join(words))
            try:
                scores = import_model(path, source).predict(Dataset(TEST.X, TEST.y))
            except OrdinoError:
                refused += 1
            else:
                assert scores.shape == (TEST.n_docs,)
    assert refused > 20


@pytest.mark.parametrize("child", [0, 1, 10**6])
def test_nodes_of_xgboost_that_make_no_tree_get_one_sentence(child, tmp_path):
    """A child that is its own ancestor, one that has two parents, one that there is not."""
    xgboost_model(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    model["learner"]["gradient_booster"]["model"]["trees"][0]["right_children"][0] = child
    refused_in_one_sentence(tmp_path, json.dumps(model), "xgboost")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("num_leaves=5", "num_leaves=1000000000"),
        ("num_leaves=5", "num_leaves=3"),
        ("left_child=1", "left_child=99"),
        ("left_child=1", "left_child=0"),
        ("split_feature=", "split_feature=7777 "),
        ("max_feature_idx=7", "max_feature_idx=70000000"),
        ("is_linear=0", "is_linear=1"),
        ("num_cat=0", "num_cat=3"),
        ("decision_type=2", "decision_type=1"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2"),
        ("tree\n", "forest\n"),
    ],
)
def test_hostile_text_of_lightgbm_gets_one_sentence(old, new, tmp_path):
    text = a_lightgbm_text()
    assert old in text
    refused_in_one_sentence(tmp_path, text.replace(old, new, 1), "lightgbm")


@pytest.mark.parametrize("file", sorted(RANKLIB.glob("*.model.txt")), ids=lambda file: file.name)
def test_the_service_gives_the_scores_of_an_imported_model(file, tmp_path):
    ranker = import_model(file, "ranklib", n_features=TEST.n_features)
    save(ranker, tmp_path / "imported.ordino")
    rows = TEST.X[:20]
    with service(tmp_path, {"imported": tmp_path / "imported.ordino"}) as served:
        items = served.client.post("/v1/models/imported/rank", json={"rows": rows.tolist()}).json()["items"]
    assert {item["id"]: item["score"] for item in items} == dict(enumerate(ranker.predict(rows).tolist()))
