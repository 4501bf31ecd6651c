"""A table of one's own at every command: the same options everywhere, and messages in the command line's words."""

import json
import re

import numpy as np
import polars as pl
import pytest

from ordino import read_letor
from ordino.cli.app import app
from ordino.data.files import read_data
from ordino.model_file import read_card
from shell import ordino

OPTIONS = {"--qid", "--label", "--doc-id", "--features", "--drop", "--weight", "--one-list"}
READERS = [
    "inspect",
    "doctor",
    "convert",
    "train",
    "rank",
    "evaluate",
    "explain",
    "bench",
    "search",
    "compare",
    "export",
    "distill",
]
NAMED = ["--qid", "query", "--label", "stars", "--doc-id", "sku", "--drop", "url"]


@pytest.fixture
def shop(folder):
    """A table with names of its own, a column of text among them."""
    data = read_letor("all.txt")
    columns = {"query": [f"q{query}" for query in data.qid], "stars": data.y.astype(int)}
    columns |= {"sku": [f"{row:04}" for row in range(data.n_docs)], "url": ["http://"] * data.n_docs}
    frame = pl.DataFrame(columns | {f"x{j}": data.X[:, j] for j in range(5)})
    frame.write_csv("shop.csv")
    frame.write_ndjson("shop.jsonl")
    return folder


@pytest.mark.parametrize("name", READERS)
def test_every_command_that_reads_data_has_the_same_options(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert ordino(name, "--help") == 0
    printed = capsys.readouterr().out
    assert not [option for option in OPTIONS if f"{option} " not in printed]


def test_no_other_command_reads_data():
    names = {command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    assert names - set(READERS) == {
        "synth", "rankers", "params", "warm-up", "report", "reproduce", "serve", "studio", "import",
    }  # fmt: skip


@pytest.mark.parametrize("file", ["shop.csv", "shop.jsonl"])
def test_a_table_of_ones_own_goes_all_the_way(shop, capsys, file):
    assert ordino("inspect", file, *NAMED, "--json") == 0
    assert json.loads(capsys.readouterr().out)[file]["n_queries"] == 8
    assert ordino("doctor", file, *NAMED) in (0, 1)
    assert ordino("convert", file, "shop.parquet", *NAMED) == 0
    assert pl.read_parquet("shop.parquet").columns == ["qid", "label", "doc_id", "x0", "x1", "x2", "x3", "x4"]
    assert ordino("train", file, "-r", "linear-regression-ranker", "-o", "m.ordino", *NAMED, "--valid", file) == 0
    assert read_card("m.ordino")["features"]["names"] == ["x0", "x1", "x2", "x3", "x4"]
    assert ordino("rank", "m.ordino", file, "-o", "s.txt", *NAMED) == 0
    assert ordino("evaluate", "m.ordino", file, "-m", "map", *NAMED) == 0
    assert ordino("explain", "m.ordino", file, "--repeats", "1", *NAMED) == 0
    assert ordino("compare", "m.ordino", "s.txt", "--data", file, "-m", "map", *NAMED) == 0
    capsys.readouterr()
    words = ["--folds", "3", "--n-jobs", "1", "-m", "map", *NAMED]
    assert ordino("bench", file, "-r", "linear-regression-ranker,single-feature", "-o", "b.sqlite", *words) == 0
    assert "shop, 3 folds" in capsys.readouterr().out


def test_features_can_be_chosen_by_name_and_by_number(shop):
    chosen = ["--qid", "query", "--label", "stars", "--features", "x3,x1"]
    assert ordino("train", "shop.csv", "-r", "linear-regression-ranker", "-o", "m.ordino", *chosen) == 0
    assert read_card("m.ordino")["features"]["names"] == ["x3", "x1"]
    assert ordino("convert", "all.txt", "few.arrow", "--features", "3,1") == 0
    np.testing.assert_array_equal(read_data("few.arrow").X, read_letor("all.txt").X[:, [2, 0]])


def test_what_training_dropped_from_text_is_dropped_again(folder, capsys):
    words = ["-r", "linear-regression-ranker", "--drop", "46,1", "--valid", "test.txt", "-o", "m.ordino"]
    assert ordino("train", "train.txt", *words) == 0
    assert read_card("m.ordino")["features"]["count"] == 44
    assert ordino("rank", "m.ordino", "test.txt", "--drop", "1,46", "-o", "s.txt") == 0
    assert ordino("rank", "m.ordino", "test.txt", "-o", "same.txt") == 0
    assert (folder / "same.txt").read_text() == (folder / "s.txt").read_text()
    assert ordino("rank", "m.ordino", "test.txt", "--drop", "1", "-o", "s.txt") == 1
    assert "choose features as in training with --features or --drop" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--label", "stars"], "there is no column 'qid'; name the column with --qid, or say --one-list if"),
        (["--qid", "query"], "there is no column 'label'; name the column with --label"),
        (["--qid", "query", "--label", "stras"], "--label 'stras': unknown column 'stras'; did you mean 'stars'?"),
        (["--qid", "query", "--label", "stars"], "choose others with --features"),
        (["--qid", "query", "--label", "stars", "--drop", "urll"], "unknown column 'urll'; did you mean 'url'?"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("command", [["inspect"], ["train", "-r", "rank-svm", "-o", "m.ordino"]], ids=lambda c: c[0])
def test_messages_use_the_words_of_the_command_line(shop, capsys, command, words, sentence):
    assert ordino(command[0], "shop.csv", *command[1:], *words) == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert error.startswith("ordino: shop.csv: ")


@pytest.mark.parametrize("chosen", [["--features", "3,1"], ["--drop", "2,4"]], ids=" ".join)
def test_a_model_remembers_which_features_of_text_it_was_trained_with(folder, capsys, chosen):
    """Text has no names by which the features would be found again."""
    assert ordino("train", "train.txt", "-r", "linear-regression-ranker", *chosen, "-o", "m.ordino") == 0
    assert ordino("rank", "m.ordino", "test.txt", *chosen, "-o", "named.txt") == 0
    assert ordino("rank", "m.ordino", "test.txt", "-o", "remembered.txt") == 0
    assert (folder / "remembered.txt").read_text() == (folder / "named.txt").read_text()
    assert ordino("evaluate", "m.ordino", "test.txt") == 0
    for question in ([], ["--why", "0", "1"]):
        capsys.readouterr()
        assert ordino("explain", "m.ordino", "test.txt", *chosen, *question) == 0
        named = capsys.readouterr().out
        assert ordino("explain", "m.ordino", "test.txt", *question) == 0
        assert capsys.readouterr().out == named
    assert ordino("rank", "m.ordino", "test.txt", "--features", "1,2,3", "-o", "other.txt") == 1
    assert "features" in capsys.readouterr().err


def test_lines_without_qid_are_refused_unless_asked_for(folder, capsys):
    (folder / "flat.txt").write_text("2 1:0.5 2:1\n0 1:0.25 2:3\n1 1:0.75 2:2\n")
    train = ["train", "flat.txt", "-r", "linear-regression-ranker", "-o", "m.ordino"]
    assert ordino(*train) == 1
    assert "flat.txt: no line has a qid" in (error := capsys.readouterr().err)
    assert "say --one-list if all lines really are one list" in error
    assert ordino(*train, "--one-list") == 0


def test_the_doctor_tells_of_missing_queries(folder, capsys):
    (folder / "flat.txt").write_text("2 1:0.5 2:1\n0 1:0.25 2:3\n1 1:0.75 2:2\n")
    assert ordino("doctor", "flat.txt", "--json") == 1
    found = json.loads(capsys.readouterr().out)[0]
    assert found["severity"] == "error"
    assert "no row has a query, so all 3 would compete" in found["what"]
    assert "--one-list" in found["fix"]
    assert ordino("doctor", "flat.txt", "--one-list") == 0


def test_a_plan_has_columns_too(shop, capsys):
    (shop / "plan.toml").write_text(
        'data = "shop.csv"\nrankers = ["single-feature"]\nfolds = 3\nmeasures = ["map"]\n'
        '[columns]\nqid = "query"\nlabel = "stars"\ndrop = ["url", "sku"]\n'
    )
    assert ordino("bench", "--plan", "plan.toml", "-o", "p.sqlite", "--n-jobs", "1") == 0
    assert ordino("bench", "--plan", "plan.toml", "-o", "p.sqlite", "--qid", "query") == 2
    assert "--plan has its own `columns`" in capsys.readouterr().err
    (shop / "plan.toml").write_text('data = "shop.csv"\nrankers = ["single-feature"]\n[columns]\nqidd = "query"\n')
    assert ordino("bench", "--plan", "plan.toml", "-o", "p.sqlite") == 1
    assert "unknown columns 'qidd'; did you mean 'qid'?" in capsys.readouterr().err


def test_models_and_files_of_scores_compete_in_one_table(folder, capsys):
    files = ["model.ordino", "linear.ordino", "scores.txt", "other.txt"]
    assert ordino("compare", *files, "--data", "test.txt", "-m", "ndcg@10,map") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "file\tndcg@10\tmap"
    assert {line.split("\t")[0] for line in lines[1:5]} == set(files)
    means = [float(line.split("\t")[1].split()[0]) for line in lines[1:5]]
    assert means == sorted(means, reverse=True)
    assert any("Holm-corrected for 3 comparisons" in line for line in lines)
    assert ordino("evaluate", "linear.ordino", "test.txt", "-m", "map", "--json") == 0
    alone = json.loads(capsys.readouterr().out)["metrics"]["map"]
    assert ordino("compare", *files, "--data", "test.txt", "-m", "map", "--json") == 0
    assert json.loads(capsys.readouterr().out)["linear.ordino"]["map"]["mean"] == pytest.approx(alone)


def test_features_that_are_numbered_from_0_are_ranked_like_those_numbered_from_1(folder):
    text = folder.joinpath("all.txt").read_text()
    folder.joinpath("zero.txt").write_text(re.sub(r" (\d+):", lambda found: f" {int(found[1]) - 1}:", text))
    assert ordino("train", "all.txt", "-r", "linear-regression-ranker", "-o", "m") == 0
    for name, more in (("all", []), ("zero", ["--zero-based"])):
        assert ordino("rank", "m", f"{name}.txt", *more, "-o", f"{name}.scores") == 0
    assert folder.joinpath("zero.scores").read_text() == folder.joinpath("all.scores").read_text()


def test_every_command_reads_text_with_the_features_that_training_left(folder, capsys):
    """Features 1 and 2 were left out; the file names 1 to 3 only, so as many as the model has, but not the same."""
    rows = [(query, query % 3 + (document > 1), document) for query in range(8) for document in range(4)]
    full = [
        f"{label % 2} qid:{query} 1:{query} 2:{label} 3:{document} 4:{label} 5:1" for query, label, document in rows
    ]
    (folder / "full.txt").write_text("\n".join(full) + "\n")
    (folder / "less.txt").write_text("\n".join(line.partition(" 4:")[0] for line in full) + "\n")
    assert ordino("train", "full.txt", "-r", "rank-svm", "--drop", "1,2", "--out", "m.ordino") == 0
    for words in (
        ["explain", "m.ordino", "less.txt", "--json"],
        ["explain", "m.ordino", "less.txt", "--why", "0", "1", "--json"],
        ["export", "m.ordino", "--to", "solr", "--out", "solr", "--data", "less.txt", "--json"],
        ["distill", "m.ordino", "--into", "rank-svm", "--data", "less.txt", "--out", "pupil.ordino", "--json"],
    ):
        capsys.readouterr()
        assert ordino(*words) == 0
        found = capsys.readouterr().out
        assert ordino(*words, "--drop", "1,2") == 0
        assert capsys.readouterr().out == found
    assert read_card("pupil.ordino")["notes"]["columns"] == {"features": None, "drop": ["1", "2"]}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rank model.ordino shards --out ranked --drop 3", "shards are read as they are"),
        ("evaluate model.ordino shards --label grade", "shards are read as they are"),
        ("evaluate test.txt scores.txt --complete", "--complete belongs to --qrels and --run"),
        ("evaluate --qrels qrels.txt --run run.txt --label grade", "have no columns"),
        ("evaluate --qrels qrels.txt --run run.txt --cluster auto", "have no columns"),
        ("convert test.txt made --shards 2 --qrels qrels.txt", "--qrels and --unjudged belong to --run"),
        ("convert test.txt made --shards 2 --unjudged drop", "--qrels and --unjudged belong to --run"),
        ("convert --run a=run.txt made.csv --label grade", "--label says how DATA is read"),
        ("convert --run a=run.txt made.csv --weight w --one-list", "--one-list, --weight says how DATA is read"),
    ],
)
def test_options_that_would_do_nothing_are_refused(folder, capsys, words, sentence):
    assert ordino(*words.split()) == 2
    assert sentence in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_features_of_text_are_explained_by_their_numbers(folder, capsys):
    assert ordino("train", "train.txt", "-r", "linear-regression-ranker", "--features", "2,4", "--out", "m.ordino") == 0
    for words in (["explain", "m.ordino"], ["explain", "m.ordino", "test.txt"]):
        capsys.readouterr()
        assert ordino(*words, "--json") == 0
        assert {one["feature"] for one in json.loads(capsys.readouterr().out)} == {"f2", "f4"}
