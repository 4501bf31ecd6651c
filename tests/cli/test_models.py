"""From a file to a model and on: train, rank, evaluate, explain, inspect, and the options of any command."""

import io
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import ordino as library
from ordino import synthetic
from ordino.data.files import read_data, write_data
from ordino.data.trec import read_run, read_scores
from ordino.model_file import fingerprint, read_card
from ordino.rankers import PEERS, RANKERS, ranker_class
from shell import ordino

QUICK = ["--param", "hidden=4", "--param", "epochs=2"]


def test_train_does_what_the_library_does(folder):
    assert ordino("train", "train.txt", "-r", "ranknet", *QUICK, "--seed", "3", "--out", "m.ordino") == 0
    train, test = read_data("train.txt"), read_data("test.txt")
    expected = library.RankNet(hidden=4, epochs=2, seed=3).fit(train)
    np.testing.assert_array_equal(library.load("m.ordino").predict(test), expected.predict(test))


def test_the_card_of_a_trained_model(folder, capsys):
    words = ["-r", "ranknet", *QUICK, "--scaling", "minmax", "--valid", "test.txt", "--binarize", "2", "-o", "m.ordino"]
    assert ordino("train", "train.txt", *words, "--json") == 0
    card = json.loads(capsys.readouterr().out)
    assert card == read_card("m.ordino")
    assert card["scaling"] == "MinMax"
    assert card["data"]["labels"] == {"smallest": 0.0, "largest": 1.0, "levels": 2}
    assert card["valid"]["queries"] == 4
    assert card["notes"]["source"] == "train.txt"
    assert card["notes"]["labels"] == "1 from 2 on, else 0"
    assert set(card["notes"]["reached"]["ndcg@10"]) == {"train", "valid"}
    assert card["notes"]["interrupted"] is False


def test_a_share_of_the_queries_is_held_out(folder):
    assert ordino("train", "train.txt", "-r", "rank-svm", "--valid", "0.25", "--out", "m.ordino") == 0
    card = read_card("m.ordino")
    assert (card["data"]["queries"], card["valid"]["queries"]) == (3, 1)


@pytest.mark.parametrize("words", [["--seed", "7", "train"], ["train", "--seed", "7"]], ids=" ".join)
def test_the_seed_may_stand_before_or_after_the_command(folder, words):
    assert ordino(*words, "train.txt", "-r", "ranknet", *QUICK, "--out", "m.ordino") == 0
    assert read_card("m.ordino")["seed"] == 7


def test_a_parameter_wins_over_an_option_that_all_commands_share(folder):
    words = ["-r", "ranknet", *QUICK, "--seed", "7", "--param", "seed=5"]
    assert ordino("train", "train.txt", *words, "--out", "m.ordino") == 0
    assert read_card("m.ordino")["seed"] == 5


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self):
        return True


def test_a_bar_is_drawn_on_a_terminal_and_a_plain_line_elsewhere(folder, capsys, monkeypatch):
    words = ["train", "train.txt", "-r", "ranknet", *QUICK, "--out", "m.ordino"]
    assert ordino(*words) == 0
    assert re.fullmatch(r"RankNet: 2 of 2, .*\nm.ordino: RankNet\n", capsys.readouterr().err)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert ordino(*words) == 0
    assert "\u2501\u2501\u2501" in sys.stderr.getvalue()


def test_quiet_and_threads_may_stand_anywhere(folder, capsys, monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
    assert ordino("train", "train.txt", "-r", "rank-svm", "--threads", "1", "--quiet", "--out", "m.ordino") == 0
    assert capsys.readouterr().err == ""
    assert read_card("m.ordino")["parameters"]["verbose"] is False
    assert read_card("m.ordino")["parameters"]["n_jobs"] == 1
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert ordino("rank", "m.ordino", "test.txt", "--threads=1", "--out", "s.txt") == 0
    assert "s.txt: " in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["txt", "csv", "parquet", "feather", "arrow"])
def test_rank_gives_the_scores_of_the_model_in_the_order_of_the_file(folder, ending):
    scattered = synthetic("mq", queries=3, seed=4)
    rows = np.random.default_rng(0).permutation(scattered.n_docs)
    data = library.Dataset(scattered.X[rows], scattered.y[rows], scattered.qid[rows])
    write_data(data, f"data.{ending}")
    assert ordino("rank", "model.ordino", f"data.{ending}", "--out", "s.txt") == 0
    expected = library.load("model.ordino").predict(data)
    np.testing.assert_array_equal(read_scores("s.txt"), expected)


def test_rank_writes_a_run_that_ranks_as_the_scores_do(folder):
    assert ordino("rank", "model.ordino", "test.txt", "--out", "test.run") == 0
    data, run = read_data("test.txt"), read_run("test.run")
    scores = library.load("model.ordino").predict(data)
    assert sum(len(documents) for documents in run.values()) == data.n_docs
    assert sorted(value for documents in run.values() for value in documents.values()) == sorted(scores.tolist())


def test_rows_keep_every_column_and_need_no_labels(folder):
    data = read_data("test.txt").to_frame("pyarrow").drop_columns(["label"])
    data = data.append_column("title", [[f"document {i}" for i in range(len(data))]])
    named = library.LinearRegressionRanker().fit(
        library.Dataset.from_frame(read_data("train.txt").to_frame("pyarrow"), label="label", qid="qid")
    )
    library.save(named, "named.ordino")
    pa.parquet.write_table(data, "in.parquet")
    assert ordino("rank", "named.ordino", "in.parquet", "--out", "out.csv") == 0
    out = pa.csv.read_csv("out.csv")
    assert out.column_names == [*data.column_names, "rank", "score"]
    assert out["title"].to_pylist() == data["title"].to_pylist()
    for query in set(out["qid"].to_pylist()):
        rows = [row for row in out.select(["qid", "rank", "score"]).to_pylist() if row["qid"] == query]
        by_score = sorted(rows, key=lambda row: -row["score"])
        assert [row["rank"] for row in by_score] == list(range(1, len(rows) + 1))
    assert ordino("rank", "named.ordino", "out.csv", "--out", "again.csv") == 1  # which has a rank already


def test_rows_of_letor_text_say_rank_and_score_in_their_comment(folder):
    assert ordino("rank", "model.ordino", "test.txt", "--out", "ranked.letor") == 0
    before, after = read_data("test.txt"), read_data("ranked.letor")
    np.testing.assert_array_equal(before.X, after.X)
    lines = (folder / "ranked.letor").read_text().splitlines()
    scores = library.load("model.ordino").predict(before)
    assert [float(line.rpartition("score = ")[2]) for line in lines] == scores.tolist()


def test_pipes(folder, capsysbinary, monkeypatch):
    write_data(read_data("test.txt"), "test.csv")
    scores = []
    for file in ("test.txt", "test.csv"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / file).read_bytes())))
        assert ordino("rank", "model.ordino", "-") == 0
        scores.append(capsysbinary.readouterr().out)
    assert scores[0] == scores[1]
    assert len(scores[0].splitlines()) == read_data("test.txt").n_docs
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "test.csv").read_bytes())))
    assert ordino("rank", "model.ordino", "-", "--format", "rows") == 0
    assert capsysbinary.readouterr().out.splitlines()[0].endswith(b'"rank","score"')


def test_evaluate_takes_a_model(folder, capsys):
    assert ordino("rank", "model.ordino", "test.txt", "--out", "s.txt") == 0
    assert ordino("evaluate", "test.txt", "s.txt") == 0
    by_scores = capsys.readouterr().out
    assert ordino("evaluate", "model.ordino", "test.txt") == 0
    assert capsys.readouterr().out == by_scores


def test_inspect_tells_the_card(folder, capsys):
    assert ordino("inspect", "linear.ordino") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("linear.ordino\nranker: LinearRegressionRanker\n")
    assert "  count: 46\n" in printed
    assert ordino("inspect", "linear.ordino", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"linear.ordino": read_card("linear.ordino")}


def test_inspect_audits_comparators(folder, capsys):
    assert ordino("inspect", "comparator.ordino", "--audit", "test.txt", "--json") == 0
    assert json.loads(capsys.readouterr().out)["comparator.ordino"]["n_queries"] == 4


def test_explain_tells_weights_importances_and_reasons(folder, capsys):
    assert ordino("explain", "linear.ordino", "--json") == 0
    weights = {one["feature"]: one["weight"] for one in json.loads(capsys.readouterr().out)}
    coef = library.load("linear.ordino").coef_
    assert weights == {f"f{j + 1}": weight for j, weight in enumerate(coef)}
    assert ordino("explain", "linear.ordino", "test.txt", "--top", "2", "--repeats", "1", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert ordino("explain", "linear.ordino", "test.txt", "--why", "1", "0", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    scores = library.load("linear.ordino").predict(read_data("test.txt"))
    assert found["difference"] == pytest.approx(scores[1] - scores[0])
    assert ordino("explain", "linear.ordino", "test.txt", "--why", "1", "0", "--top", "2") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows[2:]] == [f"{len(coef) - 2} others", "together"]
    assert sum(float(row[3]) for row in rows[:3]) == pytest.approx(float(rows[3][3]), abs=2e-4)


def test_a_model_is_measured_in_its_own_profile(folder, capsys):
    ranker = library.RankSVM(profile="letor4").fit(read_data("train.txt"))
    library.save(ranker, "m.ordino")
    found = []
    for words in ((), ("--profile", "letor4"), ("--profile", "standard")):
        assert ordino("evaluate", "m.ordino", "test.txt", "-m", "ndcg@5", *words, "--json") == 0
        found.append(json.loads(capsys.readouterr().out)["metrics"]["ndcg@5"])
    assert found[0] == found[1] != found[2]


def test_documents_are_called_by_their_ids(folder, capsys):
    data = read_data("test.txt")
    ids = [f"D{i}" for i in range(data.n_docs)]
    write_data(library.Dataset(data.X, data.y, data.qid, doc_ids=ids), "named.txt")
    assert ordino("explain", "linear.ordino", "named.txt", "--why", "D1", "D0") == 0
    assert capsys.readouterr().out.startswith("feature\tD1\tD0\tadds\n")


def test_columns_may_have_other_names(folder, capsys):
    table = read_data("train.txt").to_frame("pyarrow")
    names = [{"label": "grade", "qid": "query"}.get(name, name) for name in table.column_names]
    pa.csv.write_csv(table.rename_columns(names), "other.csv")
    columns = ["--label", "grade", "--qid", "query"]
    words = ["-r", "linear-regression-ranker", "-p", "scaling=None"]
    assert ordino("train", "other.csv", *words, *columns, "--out", "m.ordino") == 0
    np.testing.assert_array_equal(library.load("m.ordino").coef_, library.load("linear.ordino").coef_)
    assert ordino("rank", "m.ordino", "other.csv", "--qid", "query", "--out", "s.txt") == 0
    capsys.readouterr()
    for words in (["evaluate", "m.ordino", "other.csv"], ["evaluate", "other.csv", "s.txt"]):
        assert ordino(*words, *columns, "-m", "map", "--json") == 0
    first, second = capsys.readouterr().out.split("}\n{")
    assert first.partition("map")[2].split()[1] == second.partition("map")[2].split()[1]
    assert ordino("explain", "m.ordino", "other.csv", "--why", "0", "1", "--qid", "query") == 0


@pytest.mark.parametrize("words", ["ordino train t.txt --ranker lambda", "ordino params lambda"])
def test_the_shell_completes_names_of_rankers(words):
    environment = os.environ | {
        "_ORDINO_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    program = "from ordino.cli.app import app; app(prog_name='ordino')"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["lambdarank", "lambda-mart"]


def test_rankers_tells_them_all(capsys):
    assert ordino("rankers", "--json") == 0
    assert set(json.loads(capsys.readouterr().out)) == {*RANKERS, *PEERS}


@pytest.mark.parametrize("name", RANKERS)
def test_params_tells_what_every_parameter_means(name, capsys):
    assert ordino("params", name, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == set(ranker_class(name)().get_params(deep=False))
    assert [key for key, entry in told.items() if not entry["meaning"]] == []


def test_params_prints_defaults_as_one_would_type_them(capsys):
    assert ordino("params", "ranknet") == 0
    printed = dict(line.split("\t")[:2] for line in capsys.readouterr().out.splitlines())
    assert (printed["hidden"], printed["warm_start"], printed["patience"]) == ("64,32", "false", "20")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["train", "train.txt", "-r", "ranknett", "-o", "m"], 1, "did you mean 'ranknet'?"),
        (["train", "train.txt", "-r", "ranknet", "-p", "epoch=2", "-o", "m"], 1, "did you mean 'epochs'?"),
        (["train", "train.txt", "-r", "ranknet", "-p", "epochs", "-o", "m"], 1, "write name=value"),
        (["train", "train.txt", "-r", "ranknet", "-p", "epochs=no", "-o", "m"], 1, "epochs='no'"),
        (["train", "train.txt", "-r", "ranknet", "--scaling", "zcore", "-o", "m"], 1, "did you mean 'zscore'?"),
        (["train", "train.txt", "-r", "random-ranker", "--scaling", "zscore", "-o", "m"], 1, "ordino convert DATA"),
        (["train", "train.txt", "-r", "ranknet"], 2, "--out"),
        (
            ["train", "train.txt", "-r", "rank-svm", "-o", "nowhere/m"],
            1,
            "--out nowhere/m: there is no folder nowhere; make it first",
        ),
        (["rank", "train.txt", "test.txt"], 1, "train.txt: this is not a model file"),
        (["rank", "missing", "test.txt"], 1, "missing: there is no such file"),
        (["rank", "model.ordino", "test.txt", "--format", "tree"], 1, "did you mean 'trec'?"),
        (["explain", "model.ordino"], 1, "give data, and permutation importance tells"),
        (["explain", "model.ordino", "--why", "0", "1"], 2, "--why needs the DATA"),
        (["explain", "model.ordino", "test.txt", "--why", "0", "99999"], 1, "there is no document '99999'"),
        (["inspect", "linear.ordino", "--audit", "test.txt"], 1, "always transitive"),
        (["params", "ranknett"], 1, "did you mean 'ranknet'?"),
        (["rankers", "--threads"], 2, "threads"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_goes_wrong_is_one_sentence(folder, capsys, words, code, sentence):
    assert ordino(*words) == code
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error
    assert not (folder / "m").exists()


def test_models_are_fingerprinted_by_what_they_learned_from(folder):
    assert ordino("train", "train.txt", "-r", "rank-svm", "--out", "m.ordino") == 0
    assert read_card("m.ordino")["data"]["fingerprint"] == fingerprint(read_data("train.txt"))


@pytest.mark.parametrize(
    "words",
    [
        "rank {} test.txt",
        "evaluate {} test.txt -m map,mrr",
        "evaluate test.txt {} -m map,mrr",
        "compare {} scores.txt --data test.txt -m map",
        "inspect {}",
        "explain {}",
    ],
)
def test_a_model_is_known_by_what_is_in_it_and_not_by_its_name(folder, capsys, words):
    shutil.copy("linear.ordino", "weights.bin")
    said = []
    for name in ("linear.ordino", "weights.bin"):
        assert ordino(*words.format(name).split()) == 0
        said.append(capsys.readouterr().out.replace(name, "FILE"))
    assert said[0] == said[1] != ""


def test_models_are_compared_by_their_own_profile(folder, capsys):
    for name, profile in (("a", "letor4"), ("b", "letor4"), ("c", "trec")):
        words = ["-r", "linear-regression-ranker", "--param", f"profile={profile}", "--out", f"{name}.ordino"]
        assert ordino("train", "train.txt", *words, "--quiet") == 0
    capsys.readouterr()
    for words, title in (
        (["a.ordino", "b.ordino"], "a.ordino against b.ordino (profile letor4)"),
        (["c.ordino", "scores.txt"], "c.ordino against scores.txt (profile trec)"),
        (["c.ordino", "a.ordino", "--profile", "standard"], "c.ordino against a.ordino (profile standard)"),
    ):
        assert ordino("compare", *words, "--data", "test.txt") == 0
        assert capsys.readouterr().out.startswith(title)
    assert ordino("compare", "a.ordino", "c.ordino", "--data", "test.txt") == 1
    told = "several profiles (a.ordino by letor4, c.ordino by trec); choose one with --profile"
    assert told in capsys.readouterr().err
