"""Every command as a person would type it: the examples in the help texts are run, and so is what goes wrong."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from ordino import Dataset, read_letor, synthetic, write_letor
from ordino.cli import main
from ordino.cli.app import app
from ordino.cli.options import TABLES
from ordino.data.files import ENDINGS
from ordino.data.folds import make_folds, read_folds
from ordino.data.scaling import SCALERS, make_scaler
from ordino.data.trec import FORMATS
from ordino.metrics import METRICS, PROFILES
from shell import ordino

COMMANDS = {command.callback.__name__.replace("_", "-"): command.callback for command in app.registered_commands}
EXAMPLES = [
    (name, example.split()[1:])
    for name, callback in COMMANDS.items()
    for example in re.findall(r"Example: (ordino .+)", callback.__doc__)
]


def test_every_command_has_an_example():
    assert {name for name, _ in EXAMPLES} == set(COMMANDS)


@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=[" ".join(words) for _, words in EXAMPLES])
def test_examples_of_the_help_texts_run(folder, name, words):
    assert ordino(*words) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name, capsys):
    assert ordino(name, "--help") == 0
    assert "Example" in capsys.readouterr().out


def test_the_list_of_commands_loads_no_numpy():
    code = "import sys; from ordino.cli.app import app; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("convert", [SCALERS, ENDINGS]),
        ("evaluate", [METRICS, PROFILES]),
        ("rank", [FORMATS]),
        ("synth", [ENDINGS]),
        ("train", [SCALERS]),
    ],
)
def test_help_names_what_the_tables_hold(name, tables, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert ordino(name, "--help") == 0
    printed = capsys.readouterr().out
    assert all(", ".join(table) in printed for table in tables)
    assert not [table for table in TABLES if f"{{{table}}}" in printed]


def test_version(capsys):
    assert ordino("--version") == 0
    assert re.match(r"ordino \d+\.\d+\.\d+\npython ", capsys.readouterr().out)


def test_evaluate_agrees_with_arithmetic(folder, capsys):
    write_letor(Dataset([[0.0]] * 3, [1, 0, 1], [7, 7, 7]), "three.txt")
    (folder / "three-scores.txt").write_text("3\n2\n1\n")
    assert ordino("evaluate", "three.txt", "three-scores.txt", "-m", "map,p@2", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"]["map"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert printed["metrics"]["p@2"] == pytest.approx(1 / 2)


def test_evaluate_prints_each_query_when_asked(folder, capsys):
    assert ordino("evaluate", "test.txt", "scores.txt", "-m", "ndcg@10", "--per-query") == 0
    assert capsys.readouterr().out.startswith("query\tndcg@10\n")


def test_evaluate_gives_each_query_in_json(folder, capsys):
    assert ordino("evaluate", "test.txt", "scores.txt", "-m", "ndcg@10", "--per-query", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["per_query"]["ndcg@10"]) == printed["n_queries"] == 4


def test_evaluate_of_a_trec_run(folder, capsys):
    assert ordino("evaluate", "--qrels", "qrels.txt", "--run", "run.txt", "-m", "map", "--json") == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["map"] == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_inspect_prints_json(folder, capsys):
    assert ordino("inspect", "train.txt", "--json") == 0
    assert json.loads(capsys.readouterr().out)["train.txt"]["n_queries"] == 4


def test_doctor_fails_where_train_and_test_share_queries(folder, capsys):
    write_letor(synthetic("mq", queries=3, seed=1), "a.txt")
    write_letor(synthetic("mq", queries=3, seed=2), "b.txt")
    assert ordino("doctor", "a.txt", "b.txt", "--json") == 1
    errors = [finding for finding in json.loads(capsys.readouterr().out) if finding["severity"] == "error"]
    assert [finding["count"] for finding in errors] == [3]


def test_doctor_prints_a_table_and_passes_clean_data(folder, capsys):
    assert ordino("doctor", "train.txt", "test.txt") == 0
    assert capsys.readouterr().out.startswith(("severity\twhere", "no problems found"))


def test_scattered_queries_are_gathered_as_the_doctor_says(folder, capsys):
    (folder / "s.txt").write_text("1 qid:1 1:1\n0 qid:2 1:3\n0 qid:1 1:2\n1 qid:2 1:4\n")
    assert ordino("doctor", "s.txt") == 0
    advice = re.search(r"`ordino (.*)` writes them gathered", capsys.readouterr().out)[1].split()
    assert ordino(*advice, "s.txt", "g.txt") == 0
    assert ordino("doctor", "g.txt") == 0
    assert capsys.readouterr().out == "no problems found\n"


def test_convert_keeps_the_data(folder):
    from ordino.data.files import read_data

    assert ordino("convert", "train.txt", "train.parquet") == 0
    assert ordino("convert", "train.parquet", "back.txt") == 0
    before, after = read_data("train.txt"), read_data("back.txt")
    np.testing.assert_array_equal(before.X, after.X)
    np.testing.assert_array_equal(before.y, after.y)


def test_convert_cuts_by_query_and_scales_by_the_first_part(folder):
    assert ordino("convert", "all.txt", "a.arrow", "b.arrow", "--split", "0.75", "--scaling", "quantile") == 0
    a, b = Dataset.open("a.arrow"), Dataset.open("b.arrow")
    assert (a.n_queries, b.n_queries) == (6, 2)
    assert not set(a.query_ids) & set(b.query_ids)
    train, test = read_letor("all.txt").split(0.75)
    np.testing.assert_array_equal(b.X, make_scaler("quantile").fit(train).transform(test).X)


def test_convert_applies_label_rules(folder):
    from ordino.data.files import read_data

    assert ordino("convert", "train.txt", "binary.arrow", "--binarize", "1", "--drop-empty") == 0
    assert set(read_data("binary.arrow").y) == {0.0, 1.0}


def test_convert_drops_features(folder):
    from ordino.data.files import read_data

    assert ordino("convert", "train.txt", "fewer.arrow", "--drop", "1, 3") == 0
    np.testing.assert_array_equal(read_data("fewer.arrow").X, np.delete(read_data("train.txt").X, [0, 2], axis=1))


def test_synth_lists_its_sets(capsys):
    assert ordino("synth", "list") == 0
    assert "mslr" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["inspect", "missing.txt"], 1, "missing.txt"),
        (["evaluate", "test.txt", "scores.txt", "-m", "ndgc@10"], 1, "did you mean 'ndcg"),
        (["evaluate", "test.txt", "scores.txt", "--profile", "letor5"], 1, "letor5"),
        (["evaluate", "test.txt"], 2, "give DATA and SCORES, MODEL and DATA, or --qrels and --run"),
        (["synth", "mq"], 2, "--out"),
        (["synth", "mqq", "--out", "t.txt"], 1, "unknown"),
        (["convert", "train.txt", "train.docx"], 1, "docx"),
        (["convert", "all.txt", "a.txt", "b.txt"], 1, "1 parts for 2 files"),
        (["convert", "all.txt", "a.txt", "b.txt", "--split", "most"], 1, "--split 'most' is not a list of shares"),
        (["fly"], 2, "fly"),
        (["convert", "all.txt", "a.txt", "--scale", "minmax"], 2, "ordino: --scale is now --scaling\n"),
        (["train", "all.txt", "-r", "rank-svm", "--scale=minmax", "-o", "m"], 2, "--scale is now --scaling\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_goes_wrong_is_one_sentence(folder, capsys, words, code, sentence):
    assert ordino(*words) == code
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error
    if code == 1:
        assert error.startswith("ordino: ")
        assert error.count("\n") == 1


def test_debug_shows_the_traceback(folder):
    with pytest.raises(Exception, match=r"missing\.txt"):
        main(["--debug", "inspect", "missing.txt"])


def test_a_closed_pipe_is_no_error(folder):
    inspect = f"{sys.executable} -m ordino inspect train.txt test.txt"
    command = f"{inspect} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
    assert done.stderr == ""


def test_folds_of_synth_are_drawn_by_its_seed(tmp_path):
    assert ordino("synth", "mq", "--queries", 12, "--folds", 3, "--seed", 5, "--out", tmp_path / "folds") == 0
    data = synthetic("mq", queries=12, seed=5)

    def tested(folds):
        return [sorted(map(str, fold.test.query_ids.tolist())) for fold in folds]

    found = tested(read_folds(tmp_path / "folds"))
    assert found == tested(make_folds(data, 3, seed=5))
    assert found != tested(make_folds(data, 3))
