"""What an engine calls the model and its features, and what no emulator looks at."""

import json
import re

import pytest

from ordino import Dataset, LambdaMART, RankSVM, export_model
from ordino.testing import easy_data

NAMES = ["bm25", "age", "clicks", "depth"]
MADE = easy_data()
DATA = Dataset(MADE.X, MADE.y, MADE.qid, feature_names=NAMES)


def files_of(ranker, to):
    return {name: json.loads(text) for name, text in export_model(ranker, to, name="mine").files.items() if
            name.endswith(".json")}  # fmt: skip


@pytest.fixture(scope="module")
def rankers():
    trees = LambdaMART(rounds=3, min_leaf=3, learning_rate=0.5)
    return {"linear": RankSVM(scaling=None).fit(DATA), "trees": trees.fit(DATA)}


@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_solr_knows_the_model_its_store_and_its_features(rankers, kind):
    found = files_of(rankers[kind], "solr")
    assert (found["model.json"]["name"], found["model.json"]["store"]) == ("mine", "mine")
    assert [one["name"] for one in found["model.json"]["features"]] == NAMES
    assert [(one["name"], one["store"], one["params"]["field"]) for one in found["features.json"]] == [
        (name, "mine", name) for name in NAMES
    ]


@pytest.mark.parametrize("kind", ["linear", "trees"])
@pytest.mark.parametrize("to", ["elasticsearch", "opensearch"])
def test_the_plugins_know_the_model_and_its_features(rankers, kind, to):
    found = files_of(rankers[kind], to)
    assert found["model.json"]["model"]["name"] == "mine"
    features = found["featureset.json"]["featureset"]["features"]
    assert [one["name"] for one in features] == NAMES
    assert [one["template"]["function_score"]["field_value_factor"]["field"] for one in features] == NAMES


def test_the_plugins_know_how_deep_each_split_is(rankers):
    """As XGBoost dumps it: 0 for the root, one more below; leaves have none."""
    model = files_of(rankers["trees"], "opensearch")["model.json"]["model"]["model"]
    trees, depths = json.loads(model["definition"])["splits"], set()

    def check(node, depth):
        assert node.get("depth", depth) == depth
        depths.add(node.get("depth"))
        for child in node.get("children", ()):
            check(child, depth + 1)

    for tree in trees:
        check(tree, 0)
    assert depths >= {0, 1, 2, None}


def test_elasticsearch_itself_knows_the_features(rankers):
    found = files_of(rankers["trees"], "elastic")
    assert found["model.json"]["input"]["field_names"] == NAMES
    extractors = found["model.json"]["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [one["query_extractor"]["feature_name"] for one in extractors] == NAMES
    scripts = [one["query_extractor"]["query"]["script_score"] for one in extractors]
    assert [one["query"]["exists"]["field"] for one in scripts] == NAMES
    assert [one["script"]["source"] for one in scripts] == [f"doc['{name}'].value" for name in NAMES]


@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_vespa_reads_the_attribute_of_each_feature(rankers, kind):
    text = export_model(rankers[kind], "vespa", name="mine").files["model.profile"]
    read = re.findall(r"function feature_(\w+)\(\) \{\s+expression: attribute\((\w+)\)", text)
    assert read == [(name, name) for name in NAMES]
    assert text.startswith("rank-profile mine {")


def test_commands_name_the_model(rankers):
    for to in ("solr", "elasticsearch", "opensearch", "elastic"):
        assert any("mine" in command for command in export_model(rankers["trees"], to, name="mine").commands)


def test_the_certificate_has_the_checksum_of_every_file(rankers):
    from hashlib import sha256

    found = export_model(rankers["trees"], "solr")
    told = found.certificate.files
    assert told == {name: sha256(found.files[name].encode()).hexdigest() for name in told}
    assert set(told) == set(found.files) - {"certificate.json", "certificate.html"}
