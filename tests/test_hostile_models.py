"""Files that are cut, changed, foreign, newer or made to harm: each gets one sentence, and nothing of it is run."""

import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordino
from ordino.errors import ModelFileError
from ordino.model_file import load_scorer
from ordino.model_file.container import KEY, Contents, read_file, write_file
from ordino.testing import easy_data
from rankers.test_contract import quick


def container(header, body=b"", *, length=None):
    """A safetensors file, made by hand."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def ours(text):
    return container({"__metadata__": {KEY: text}})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    ordino.save(quick("ranknet").set_params(scaling=None).fit(easy_data()), path)
    return path


def refused(path, load=ordino.load):
    """The sentence with which a file is refused."""
    with pytest.raises(ModelFileError) as error:
        load(path)
    sentence = str(error.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


MODEL_HEADER = {"format": "ordino model", "version": 1, "sha256": "", "card": {}, "model": {}}


@pytest.mark.parametrize(
    ("content", "sentence"),
    {
        "empty": (b"", "this is not a model file"),
        "text": (b"2 qid:10 1:0.5\n", "this is not a model file"),
        "pickle": (b"\x80\x04\x95\x0b\0\0\0\0\0\0\0\x8c\x07", "this is not a model file"),
        "zip": (b"PK\x03\x04" + b"\0" * 40, "this is not a model file"),
        "header longer than the file": (container({}, length=10**6), "damaged or truncated"),
        "header of two gigabytes": (container({}, length=2**31), "damaged or truncated"),
        "header of 2**63 bytes": (container({}, length=2**63), "this is not a model file"),
        "header that is no JSON": (container(b"{not json"), "damaged or truncated"),
        "header of deep JSON": (container(b'{"a":' * 50_000 + b"1" + b"}" * 50_000), "damaged or truncated"),
        "foreign safetensors": (container({"__metadata__": {"format": "pt"}}), "not an Ordino model"),
        "no metadata": (
            container({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 4),
            "not an Ordino model",
        ),
        "huge shape": (
            container({"x": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 4]}}, b"\0" * 4),
            "damaged or truncated",
        ),
        "shape and size that differ": (
            container({"x": {"dtype": "F32", "shape": [3], "data_offsets": [0, 4]}}, b"\0" * 4),
            "damaged or truncated",
        ),
        "overlapping arrays": (
            container({n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in "xy"}, b"\0" * 4),
            "damaged or truncated",
        ),
        "bytes after the end": (container({"__metadata__": {KEY: "{}"}}, b"more"), "damaged or truncated"),
        "unknown kind of number": (
            container(
                {
                    "__metadata__": {KEY: json.dumps(MODEL_HEADER)},
                    "x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
                },
                b"\0" * 4,
            ),
            "an array of a type that no model has",
        ),
        "our JSON, broken": (ours("{"), "the JSON in it cannot be read"),
        "our JSON, deep": (ours("[" * 100_000), "the JSON in it cannot be read"),
        "our JSON, a number of a million digits": (ours("1" * 10**6), "the JSON in it cannot be read"),
        "our JSON, no object": (ours("[1]"), "the header is not that of a model"),
        "our JSON, no model": (ours('{"format": "ordino model", "version": 1}'), "the header is not that of a model"),
        "newer": (ours(json.dumps(MODEL_HEADER | {"version": 2})), "a newer Ordino wrote this (format 2,"),
        "version that is no number": (ours(json.dumps(MODEL_HEADER | {"version": "1"})), "the header is not that"),
        "checksum of something else": (ours(json.dumps(MODEL_HEADER)), "the checksum does not match"),
        "no checksum": (
            ours(json.dumps({key: value for key, value in MODEL_HEADER.items() if key != "sha256"})),
            "the checksum does not match",
        ),
    }.values(),
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_is_no_model_gets_one_sentence(content, sentence, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert sentence in refused(path)
    assert sentence in refused(path, load_scorer)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(share=st.floats(0, 0.999))
def test_a_file_that_was_cut_is_refused(model, tmp_path, share):
    path = tmp_path / "cut"
    content = model.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(place=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_a_file_with_a_changed_bit_is_refused(model, tmp_path, place, bit):
    path = tmp_path / "changed"
    content = bytearray(model.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        again = ordino.load(path)
    except ModelFileError:
        return
    # what is left are the blanks that fill up the header
    np.testing.assert_array_equal(again.predict(easy_data()), ordino.load(model).predict(easy_data()))


def forged(path, target, change):
    """A file whose model was changed and whose checksum was made to fit."""
    card, plan, arrays = read_file(path)
    change(plan, arrays)
    write_file(target, Contents(card, plan, arrays))
    return target


def put(*keys, value):
    """A change of the model at the end of this path."""

    def change(plan, arrays):
        for key in keys[:-1]:
            plan = plan[key]
        plan[keys[-1]] = value

    return change


def put_array(name, value):
    return lambda plan, arrays: arrays.update({name: value})


@pytest.mark.parametrize(
    ("ranker", "change", "sentence"),
    [
        ("ranknet", put("estimator", value="os.system"), "unknown class 'os.system'"),
        ("ranknet", put("estimator", value="../../RankNet"), "unknown class"),
        ("ranknet", put("estimator", value=["RankNet"]), "unknown class"),
        ("ranknet", put("estimator", value="StandardScaler"), "has no parameter"),
        ("ranknet", put("learned", "scaler_", value={"estimator": "NoScaling"}), "train the model again with"),
        ("ranknet", put("learned", "scaler_", value={"estimator": "LogCounts"}), "LogCounts is no longer part of"),
        ("ranknet", lambda plan, _: plan.update(estimator="MinMax", params={}, learned={}), "holds no ranker"),
        ("ranknet", put("params", "command", value="ls"), "has no parameter 'command'"),
        ("ranknet", put("learned", "__class__", value=1), "cannot have learned '__class__'"),
        ("ranknet", put("learned", "predict", value=1), "cannot have learned 'predict'"),
        ("ranknet", put("learned", "layers_", value=[]), "layers_"),
        ("ranknet", put("learned", "layers_", value={"eval": "1"}), "unknown type 'eval'"),
        ("ranknet", put("learned", "layers_", 0, "record", value="Path"), "unknown class 'Path'"),
        ("ranknet", put("learned", "layers_", 0, "fields", value={}), "unknown fields"),
        ("ranknet", put("learned", "layers_", 0, "fields", "W", value={"array": "/etc/passwd"}), "is not in the file"),
        ("ranknet", put("learned", "n_features_in_", value=2**80), "layers_"),
        ("ranknet", put("learned", "n_features_in_", value="4"), "n_features_in_"),
        ("ranknet", put_array("layers_.0.W", np.zeros((4, 9), np.float32)), "layers_"),
        ("ranknet", put_array("layers_.0.W", np.zeros((4, 8))), "layers_"),
        ("ranknet", put("learned", "scaler_", value={"float": "1e9"}), "the invalid number '1e9'"),
        ("ranknet", put("learned", "scaler_", value={"dtype": "V8"}), "the invalid number type 'V8'"),
        ("ranknet", put("learned", "feature_names_in_", value={"strings": ["a"], "kind": "O"}), "feature_names_in_"),
        ("kernel-ranknet", put("learned", "scaler_", value=7), "scaler_"),
        ("kernel-ranknet", put_array("scaler_.quantiles_", np.zeros((2, 3))), "quantiles_"),
        ("rankde", put_array("coef_", np.zeros(2)), "coef_"),
        ("gp-rank", put("learned", "program_", value=["1000000000"]), "program_"),
        ("gp-rank", put("learned", "program_", value=["+", "0"]), "program_"),
        ("gp-rank", put("learned", "program_", value=["0", "0"]), "program_"),
        ("rank-boost", put("learned", "stumps_", 0, "fields", "feature", value=99), "stumps_"),
        ("rank-boost", put("learned", "stumps_", 0, "fields", "feature", value=easy_data().n_features), "stumps_"),
        ("rank-boost", put("learned", "stumps_", 0, "fields", "threshold", value="x"), "stumps_"),
        ("ada-rank", put("learned", "coef_", value=None), "coef_"),
    ],
)
def test_a_forged_model_is_refused(ranker, change, sentence, tmp_path):
    path = tmp_path / "true"
    fitted = quick(ranker)
    if "ranknet" in ranker:
        fitted.set_params(scaling=None if ranker == "ranknet" else "quantile")
    ordino.save(fitted.fit(easy_data()), path)
    assert sentence in refused(forged(path, tmp_path / "forged", change))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("learned", "layers_", value=[]), "layers_"),
        (put("learned", "layers_", value=[1, 2]), "cannot be restored"),
        (put("learned", "layers_", 0, "record", value="Path"), "unknown class 'Path'"),
        (put("learned", "n_features_in_", value=2**80), "the card"),
        (put("learned", "activation_", value="os.system"), "activation"),
        (put("learned", "feature_names_in_", value=3), "feature_names_in_"),
        (put_array("layers_.0.W", np.zeros((4, 9), np.float32)), "layers_"),
    ],
)
def test_a_forged_network_is_refused_by_the_quick_way_too(model, change, sentence, tmp_path):
    assert sentence in refused(forged(model, tmp_path / "forged", change), load_scorer)


def test_a_model_of_deep_values_is_refused(model, tmp_path):
    deep = 1
    for _ in range(400):
        deep = {"tuple": [deep]}
    path = forged(model, tmp_path / "deep", put("learned", "deep_", value=deep))
    assert "cannot be restored" in refused(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    assert "this is a folder; name a model file in it" in refused(tmp_path)
    assert "there is no such file" in refused(tmp_path / "missing")
