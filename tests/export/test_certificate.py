"""The certificate: it fails when the exported text is wrong, and says what slack, rounding and missing values did."""

import json
import subprocess
import sys
from dataclasses import asdict, fields, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import ordino.export.door as door
from ordino import Dataset, LambdaMART, RankBoost, RankNet, RankSVM, SingleFeature
from ordino.errors import DataError, ExportError, MissingExtraError
from ordino.export import TARGETS, export_model
from ordino.export.assemble import assemble
from ordino.export.certificate import Findings, _compare
from ordino.export.emulators.onnx import score_onnx
from ordino.export.family import Affine, PlainLinear, PlainNetwork, PlainTrees, Preparation, Tree
from ordino.export.merge import mean_of
from ordino.export.page import LABELS, certificate_page, rows_of
from ordino.export.preparation import largest_left, prepare_of
from ordino.export.probes import make_probes
from ordino.export.writers.ranklib import write_ranklib
from ordino.export.writers.solr import SLACK, before_slack
from ordino.export.written import Written
from ordino.testing import easy_data

DATA, TEST = easy_data(n_queries=6), easy_data(n_queries=4, seed=1)


def exported_wrong(monkeypatch, ranker, to, change):
    """Export with a text that was changed after it was written."""
    target = TARGETS[to]

    class Wrong:
        def __getattr__(self, name):
            return getattr(target, name)

        def write(self, form, name, **options):
            written = target.write(form, name, **options)
            return replace(written, files={file: change(text) for file, text in written.files.items()})

    monkeypatch.setattr(door, "TARGETS", {to: Wrong()})
    return export_model(ranker, to, data=TEST).certificate


def test_one_leaf_off_is_found(monkeypatch):
    ranker = RankBoost(rounds=3).fit(DATA)
    alpha = repr(float(np.float32(ranker.stumps_[0].alpha)))
    found = exported_wrong(monkeypatch, ranker, "solr", lambda text: text.replace(alpha, "0.0", 1))
    assert not found.passed
    assert found.data.queries_changed > 0


def test_a_threshold_one_step_off_is_found_by_the_probes(monkeypatch):
    """What data may never show: one single-precision step."""
    ranker = LambdaMART(rounds=1, leaves=2, min_leaf=5).fit(DATA)

    def one_step(text):
        body = json.loads(text)
        if "model" not in body:
            return text
        definition = json.loads(body["model"]["model"]["definition"])
        tree = definition["splits"][0]
        tree["split_condition"] = float(np.nextafter(np.float32(tree["split_condition"]), np.float32(-np.inf)))
        body["model"]["model"]["definition"] = json.dumps(definition)
        return json.dumps(body)

    found = exported_wrong(monkeypatch, ranker, "opensearch", one_step)
    assert found.data.rows_off == 0
    assert found.probes.rows_off > 0
    assert not found.passed


def test_missing_values_sent_the_wrong_way_are_found(monkeypatch):
    X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.2, np.nan, DATA.X)
    ranker = LambdaMART(rounds=3, min_leaf=5).fit(Dataset(X, DATA.y, DATA.qid))

    def other_side(text):
        swapped = text.replace('"missing": "left"', '"missing": "LEFT"').replace(
            '"missing": "right"', '"missing": "left"'
        )
        return swapped.replace('"missing": "LEFT"', '"missing": "right"')

    assert not exported_wrong(monkeypatch, ranker, "solr", other_side).passed


def test_weights_rounded_too_far_are_found(monkeypatch):
    ranker = RankSVM().fit(DATA)
    weight = repr(float(np.float32(ranker.coef_[0])))
    found = exported_wrong(monkeypatch, ranker, "solr", lambda text: text.replace(weight, weight[:5]))
    assert found.probes.rows_off > 0


@cache
def plain_certificate():
    return export_model(RankSVM().fit(DATA), "solr", data=TEST).certificate


def test_the_page_has_what_was_found_on_probes_and_on_data_in_columns_of_their_own():
    names = [one.name for one in fields(Findings)]
    assert list(LABELS) == names
    parts = [Findings(**{name: first + i for i, name in enumerate(names)}) for first in (100, 2000)]
    found = replace(plain_certificate(), probes=parts[0], data=parts[1])
    assert rows_of(found) == [(LABELS[name], f"{100 + i:,}", f"{2000 + i:,}") for i, name in enumerate(names)]
    page = certificate_page(found, ())
    assert page.index(">probes<") < page.index(">data<") < page.index(">100<") < page.index(">2,000<")
    assert [row[2] for row in rows_of(replace(found, data=None))] == [""] * len(names)


COMPARED = {
    "the same": ([3.0, 2.0, 1.0], [3.0, 2.0, 1.0], {}),
    "another order": ([3.0, 2.0, 1.0, 0.0], [3.0, 0.5, 1.0, 1.5],
                      {"rows_off": 2, "queries_reordered": 1, "places": 2, "queries_changed": 1,
                       "largest_difference": 1.5}),
    "off in the same order": ([4.0, 2.0], [4.5, 2.0], {"rows_off": 1, "largest_difference": 0.125}),
    "level": ([2.0, 1.0], [2.0, 2.0], {"rows_off": 1, "queries_changed": 1, "largest_difference": 1.0}),
    "what rounding explains": ([1.0, 1 + 2.0**-23], [1 + 2.0**-23, 1.0],
                               {"queries_reordered": 1, "places": 1, "largest_difference": 2.0**-23}),
    "in the slack": ([5.0, 10.5, 11.0, 10.0], [5.0, 4.0, 3.0, 10.0],
                     {"rows_in_slack": 2, "queries_reordered": 1, "places": 3}),
    "too large": ([2e38, 1.0], [7.0, 1.0], {"left_out": 1}),
    "no number": ([2.0, 1.0], [np.nan, 1.0], {"rows_off": 1, "queries_reordered": 1, "places": 1,
                                              "queries_changed": 1, "largest_difference": np.inf}),
}  # fmt: skip
"""The ranker's scores, the engine's, and what is found beside rows and queries; the slack is from above 10 to 11."""


@pytest.mark.parametrize("case", COMPARED)
def test_an_engine_is_held_to_the_ranker_row_by_row_and_query_by_query(case):
    """Alone, and after a query of which nothing is wrong."""
    own, engine, expected = COMPARED[case]
    ranker = SingleFeature(feature=1, sign=1).fit(Dataset([[1.0], [2.0]], [0, 1]))
    written = Written(files={}, commands=(), blurred=((0, 10.0, 11.0),))
    for before in ([], [9.0, 8.0]):
        scores = np.array([*before, *engine])
        target = SimpleNamespace(score=lambda *_, scores=scores: SimpleNamespace(scores=scores, rounding=0.0))
        values = np.array([*before, *own])
        rows = Dataset(values[:, None], np.zeros(len(values)), [0] * len(before) + [1] * len(own))
        found = _compare(ranker, target, assemble(ranker), written, rows)
        names = {one.name for one in fields(Findings)}
        nothing = dict.fromkeys(names, 0) | {"rows": len(values), "queries": rows.n_queries}
        assert asdict(found) == pytest.approx(nothing | expected)


@pytest.mark.parametrize("part", ["probes", "data"])
@pytest.mark.parametrize("finding", [one.name for one in fields(Findings)])
def test_what_is_wrong_in_either_part_counts(part, finding):
    """A score that is off and an order that changes, wherever they were seen; all else is only told."""
    right = plain_certificate()
    found = replace(right, **{part: replace(getattr(right, part), **{finding: 1})})
    assert right.passed
    assert found.passed == (finding not in ("rows_off", "queries_changed"))


def test_each_part_is_about_its_own_rows():
    found = plain_certificate()
    assert (found.data.rows, found.data.queries) == (TEST.n_docs, TEST.n_queries)
    assert found.probes.rows != TEST.n_docs


def test_the_certificate_is_written_beside_the_files(tmp_path):
    found = export_model(RankBoost(rounds=3).fit(DATA), "solr", tmp_path / "new" / "folder", data=TEST)
    written = {path.name: path.read_text() for path in (tmp_path / "new" / "folder").iterdir()}
    assert written == dict(found.files)
    assert json.loads(written["certificate.json"])["passed"] is True
    assert "Solr ranks as RankBoost does" in written["certificate.html"]
    assert "http" not in written["certificate.html"].partition("<h2>Upload</h2>")[0]  # it loads nothing


@pytest.mark.parametrize("limit", [0.1, 1.0, -0.3, 17.0, 1e-3, 123456.0, -1e-5, 1e30])
def test_solr_adds_its_slack_to_what_is_written_and_reaches_the_threshold(limit):
    limit = np.float32(limit)
    assert np.float32(before_slack(limit) + SLACK) == limit


def test_solr_separates_what_is_one_step_apart():
    """Its slack of 1e-6 is taken off before, so that no probe falls into it."""
    found = export_model(LambdaMART(rounds=10, min_leaf=5).fit(DATA), "solr", data=TEST).certificate
    assert (found.probes.rows_in_slack, found.data.rows_in_slack) == (0, 0)
    assert found.passed


def test_thresholds_that_solr_cannot_meet_are_told():
    """No single-precision number and 1e-6 make 1e-35: values up to the next one that can be reached go left."""
    X = np.repeat(np.float32([[0.0], [1e-35], [5e-14], [1.0]]), 10, axis=0)
    ranker = RankBoost(rounds=1).fit(X, np.repeat([0, 0, 1, 2], 10), qid=[1] * 40)
    ranker.stumps_ = [ranker.stumps_[0]._replace(threshold=float(np.float32(1e-35)))]
    found = export_model(ranker, "solr", data=Dataset(X, np.zeros(40)))
    assert found.certificate.data.rows_in_slack == 10
    assert found.certificate.passed
    assert any("1e-6" in note for note in found.certificate.notes)


@pytest.mark.parametrize("scaling", ["symlog", "quantile"])
def test_folded_thresholds_are_exact(scaling):
    """The largest number on the left is on the left, and the next one is not."""
    ranker = RankBoost(rounds=20, scaling=scaling).fit(DATA)
    feature = np.array([stump.feature for stump in ranker.stumps_])
    threshold = np.array([np.float32(stump.threshold) for stump in ranker.stumps_], np.float64)
    raw = largest_left(prepare_of(ranker), feature, threshold, 4)
    for x, is_left in ((raw, True), (np.nextafter(raw, np.float32(np.inf)), False)):
        rows = np.zeros((len(x), 4), np.float32)
        rows[np.arange(len(x)), feature] = x
        scaled = ranker.scaler_.transform(Dataset(rows, np.zeros(len(rows)))).X[np.arange(len(x)), feature]
        assert ((scaled <= threshold) == is_left)[np.isfinite(raw)].all()
    assert np.isfinite(raw).mean() > 0.5


def test_probes_reach_every_split():
    ranker = LambdaMART(rounds=5, min_leaf=5).fit(DATA)
    form = assemble(ranker)
    probes = make_probes(form, with_missing=True)
    assert probes.n_probed == probes.n_splits == sum(len(tree.feature) for tree in form.trees)
    for tree in form.trees:
        for j, t in zip(tree.feature, tree.threshold, strict=True):
            column = probes.X[:, j]
            assert {float(t), float(np.nextafter(t, np.float32(np.inf)))} <= set(column[np.isfinite(column)].tolist())


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_the_mean_of_members_with_preparations_of_their_own_is_the_mean_of_their_scores(kind):
    """Members whose factors differ are folded; what takes the place of a missing value stays."""
    rng, fill = np.random.default_rng(0), np.float32([0.5, -2.0, 7.0])
    names, members, X = ("a", "b", "c"), [], rng.normal(size=(9, 3)).astype(np.float32)
    for _ in range(2):
        center, spread = rng.normal(size=3), rng.uniform(1, 2, 3)
        step = Affine("standard", center, spread, (("Sub", center), ("Div", spread)))
        layers = [(rng.normal(size=(3, 2)), rng.normal(size=2)), (rng.normal(size=(2, 1)), rng.normal(size=1))]
        ready = Preparation(fill, (step,))
        members.append(
            PlainLinear(names, rng.normal(size=3), rng.normal(), ready)
            if kind == "linear"
            else PlainNetwork(names, tuple(layers), "tanh", ready)
        )

    def score(form):
        factor, offset = form.preparation.factor_and_offset(3)
        h = X * factor + offset
        if kind == "linear":
            return h @ form.weights + form.bias
        (W, b), (w, c) = form.layers
        return (np.tanh(h @ W + b) @ w + c)[:, 0]

    merged = mean_of(members)
    assert score(merged) == pytest.approx(np.mean([score(one) for one in members], axis=0))
    np.testing.assert_array_equal(merged.preparation.fill, fill)
    other = replace(members[1], preparation=Preparation(fill + 1, members[1].preparation.steps))
    with pytest.raises(ExportError, match="different medians"):
        mean_of([members[0], other])


@pytest.mark.parametrize(
    ("threshold", "left", "is_told"), [(1, True, False), (1, False, True), (-1, True, True), (-1, False, False)]
)
def test_missing_values_that_do_not_go_where_zeros_go_are_told(threshold, left, is_told):
    """RankLib has no missing values: what a line leaves out is 0."""
    tree = Tree(*map(np.array, ([0], np.float32([threshold]), [left], [~0], [~1], [0.25, 0.75])))
    notes = write_ranklib(PlainTrees(("a",), (tree,)), "model").notes
    assert any("missing values another way" in note for note in notes) == is_told


def test_lift_makes_scores_positive_and_changes_no_order():
    ranker = LambdaMART(rounds=5, min_leaf=5).fit(DATA)
    for to in ("elasticsearch", "opensearch", "elastic"):
        plain, lifted = (export_model(ranker, to, data=TEST, lift=lift) for lift in (False, True))
        names = [f"f{j}" for j in range(1, 5)]
        assert TARGETS[to].score(plain.files, TEST.X, names).scores.min() < 0
        assert TARGETS[to].score(lifted.files, TEST.X, names).scores.min() >= -1e-6
        assert lifted.certificate.passed
        assert any("negative" in note for note in plain.certificate.notes)


def test_lift_needs_trees():
    with pytest.raises(ExportError, match="lift adds a tree"):
        export_model(RankSVM().fit(DATA), "opensearch", lift=True)


def test_data_may_number_its_categories_in_another_order_than_training():
    rng = np.random.default_rng(0)
    kind, texts = rng.integers(0, 3, 60), np.array(["a", "b", "c"])
    X = np.column_stack((kind, rng.normal(size=60)))
    train = Dataset(
        X, kind == 0, np.repeat(np.arange(6), 10), feature_names=("kind", "age"), categories={"kind": (*texts,)}
    )
    ranker = LambdaMART(rounds=3, min_leaf=2, options={"min_data_per_group": 1}).fit(train)
    other = train.replace_features(
        np.column_stack((2 - kind, X[:, 1])), train.feature_names, categories={"kind": (*texts[::-1],)}
    )
    assert ranker.predict(other).tolist() == ranker.predict(train).tolist()
    assert export_model(ranker, "lightgbm", data=other).certificate.passed


def test_categories_are_refused_by_all_but_lightgbm():
    import pandas as pd

    frame = pd.DataFrame(DATA.X[:, :2], columns=["a", "b"]).assign(
        city=pd.Categorical(np.where(DATA.X[:, 2] > 0.5, "Rome", "Oslo"))
    )
    y = DATA.y + (frame["city"] == "Rome") * 2
    ranker = LambdaMART(rounds=5, min_leaf=5, options={"min_data_per_group": 1}).fit(frame, y, qid=DATA.qid)
    for to in set(TARGETS) - {"lightgbm"}:
        with pytest.raises(ExportError, match=r"categories.*ordino.OneHot"):
            export_model(ranker, to)
    found = export_model(ranker, "lightgbm")
    codes = np.column_stack((frame[["a", "b"]], frame["city"].cat.codes)).astype(np.float32)
    scored = TARGETS["lightgbm"].score(found.files, codes, ["a", "b", "city"])
    np.testing.assert_array_equal(scored.scores, ranker.predict(frame))


def test_zero_as_missing_is_refused_where_it_matters():
    X = np.where(DATA.X < 0.3, 0, DATA.X)
    ranker = LambdaMART(rounds=20, min_leaf=2, options={"zero_as_missing": True}).fit(Dataset(X, DATA.y, DATA.qid))
    with pytest.raises(ExportError, match="zero_as_missing"):
        export_model(ranker, "solr")


def test_a_ranker_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        export_model(RankSVM(), "solr")


def test_an_unknown_engine_and_a_bad_name_are_refused():
    with pytest.raises(ValueError, match="did you mean 'solr'"):
        export_model(RankSVM().fit(DATA), "solar")
    with pytest.raises(ValueError, match="letters"):
        export_model(RankSVM().fit(DATA), "solr", name="a b")


def test_onnx_without_its_package_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ordino\[onnx\]'"):
        export_model(RankSVM().fit(DATA), "onnx")


def test_onnx_is_within_1e_5_of_the_ranker_in_onnxruntime():
    import onnxruntime

    ranker = RankNet(epochs=2, hidden=(8, 4), scaling="quantile").fit(DATA)
    found = export_model(ranker, "onnx", data=TEST)
    session = onnxruntime.InferenceSession(found.files["model.onnx"], providers=["CPUExecutionProvider"])
    [scores] = session.run(None, {"features": TEST.X})
    np.testing.assert_allclose(scores[:, 0], ranker.predict(TEST), rtol=0, atol=1e-5)


def test_a_graph_takes_its_features_in_one_order_alone():
    """Its columns have no names: the same names in another order are other features."""
    import onnx

    files = export_model(RankSVM().fit(DATA), "onnx", data=TEST).files
    [told] = [one.value for one in onnx.load_from_string(files["model.onnx"]).metadata_props if "names" in one.key]
    names = json.loads(told)
    assert len(score_onnx(files, TEST.X, names).scores) == TEST.n_docs
    with pytest.raises(DataError, match="the graph has other features"):
        score_onnx(files, TEST.X, names[::-1])


def test_onnx_is_checked_without_onnxruntime_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for ranker in (RankSVM(scaling="quantile"), LambdaMART(rounds=3, min_leaf=5)):
        assert export_model(ranker.fit(DATA), "onnx", data=TEST).certificate.passed


def test_vespa_reads_any_depth():
    """Trees as deep as a chain: nothing recurses."""
    X = np.arange(300, dtype=np.float32)[:, None]
    ranker = LambdaMART(rounds=1, leaves=120, min_leaf=1, options={"min_sum_hessian_in_leaf": 0}).fit(
        Dataset(X, np.arange(300) % 7)
    )
    assert export_model(ranker, "vespa").certificate.passed


def test_the_door_is_light():
    code = (
        "import sys, ordino.export; sys.exit(any(name in sys.modules for name in ('onnx', 'onnxruntime', 'lightgbm')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_value_is_not_above_the_threshold_of_a_stump():
    ranker = RankBoost(rounds=8).fit(easy_data())
    trees = assemble(ranker).trees
    assert any(len(tree.threshold) for tree in trees)
    assert all(tree.missing_left.all() for tree in trees)
    assert all(stump.scores(np.full((1, 4), np.nan, np.float32)).tolist() == [0.0] for stump in ranker.stumps_)
