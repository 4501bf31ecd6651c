"""What people type in the first hour that cannot work: one sentence, before anything runs."""

import errno
import os
import sys
from pathlib import Path

import pytest

from ordino import Dataset
from ordino.data.files import write_data
from ordino.errors import DataError
from ordino.experiment.run.task import brief_params
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data
from shell import ordino

TRAIN = ["train", "train.txt", "-r", "rank-svm"]


@pytest.fixture
def untrained(monkeypatch):
    """No ranker may learn and no file may be read."""

    def never(*_, **__):
        pytest.fail("this should have been refused before")

    monkeypatch.setattr("ordino.ranker.Ranker.fit", never)
    monkeypatch.setattr("ordino.data.files.read_file", never)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*TRAIN, "-o", "nowhere/m.ordino"], "--out nowhere/m.ordino: there is no folder nowhere; make it first"),
        ([*TRAIN, "-o", "there"], "--out there: this is a folder; name a file in it"),
        ([*TRAIN, "-o", "-"], "--out -: a model is not written to a pipe; name a file"),
        ([*TRAIN, "-o", "m.ordino", "--valid", "1.5"], "--valid 1.5: give a file, or a share of the queries between"),
        ([*TRAIN, "-o", "m.ordino", "--valid", "0"], "--valid 0: give a file, or a share"),
        (["rank", "model.ordino", "test.txt", "-o", "no/s.txt"], "--out no/s.txt: there is no folder no"),
        (["convert", "all.txt", "no/b.txt"], "--out no/b.txt: there is no folder no"),
        (["bench", "all.txt", "-r", "single-feature", "-o", "no/b.sqlite"], "--out no/b.sqlite: there is no folder"),
        (["report", "bench.sqlite", "-o", "no/page.md"], "--out no/page.md: there is no folder no"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_written_is_told_before_the_work(folder, capsys, untrained, words, sentence):
    (folder / "there").mkdir()
    assert ordino(*words) == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (folder / "-").exists()


def test_a_place_without_permission_is_told_before_the_work(folder, capsys, untrained, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != Path())  # root may write everywhere
    assert ordino(*TRAIN, "-o", "m.ordino") == 1
    assert "--out m.ordino: it cannot be written; check permissions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["inspect", "there"], "there: this is a folder; name a file in it"),
        (["rank", "there", "test.txt"], "there: this is a folder; name a model file in it"),
        (["inspect", "cut.ordino"], "cut.ordino: the file is damaged or truncated"),
        (["inspect", "empty.ordino"], "empty.ordino: the file is damaged or truncated"),
        (["rank", "text.ordino", "test.txt"], "text.ordino: the file is damaged or truncated"),
        (["compare", "text.ordino", "scores.txt", "--data", "test.txt"], "text.ordino: the file is damaged"),
        (["inspect", "header.csv"], "header.csv: the file has no documents; check that it is complete"),
        ([*TRAIN, "-p", "C=abc", "-o", "m.ordino"], "C='abc'; it must be a number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_files_and_values_that_are_not_what_they_should_be(folder, capsys, words, sentence):
    (folder / "there").mkdir()
    (folder / "cut.ordino").write_bytes((folder / "model.ordino").read_bytes()[:300])
    (folder / "empty.ordino").write_bytes(b"")
    (folder / "text.ordino").write_text("hello\n" * 100)
    (folder / "header.csv").write_text("qid,label,x\n")
    assert ordino(*words) == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_read_only_disk_names_the_file_that_was_asked_for(tmp_path, monkeypatch):
    def refused(self, *_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(
        DataError, match=r"d\.txt: cannot be written \(Read-only file system\); choose another path"
    ) as e:
        write_data(Dataset([[1.0]], [0], qid=[1]), tmp_path / "d.txt")
    assert ".part" not in str(e.value)


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["bench", "--help"]], ids=" ".join)
def test_help_prints_no_kind_after_a_flag(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert ordino(*words) == 0
    assert "bool" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "words", "what", "extra"),
    [
        ("optuna", ["search", "all.txt", "-r", "rank-svm"], "ordino search", "search"),
        ("altair", ["report", "bench.sqlite", "--figures", "f"], "a figure", "plots"),
        ("jinja2", ["report", "bench.sqlite", "-o", "p.html"], "an HTML page", "plots"),
        ("xgboost", ["params", "xgboost"], "the ranker xgboost", "peers"),
        ("catboost", ["train", "train.txt", "-r", "catboost", "-o", "m.ordino"], "the ranker catboost", "peers"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_missing_extra_is_told_before_anything_runs(
    folder, capsys, monkeypatch, untrained, module, words, what, extra
):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("ordino.experiment.report.board.make_boards", lambda *_, **__: pytest.fail("too late"))
    assert ordino(*words) == 1
    sentence = f"ordino: {what} needs {module}; install it with: pip install 'ordino[{extra}]'\n"
    assert capsys.readouterr().err == sentence


def test_a_plan_tells_missing_extras_with_its_other_problems(folder, capsys, monkeypatch, untrained):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert ordino("bench", "all.txt", "-r", "xgboost,ranknett", "-o", "b.sqlite") == 1
    error = capsys.readouterr().err
    assert "- the ranker xgboost needs xgboost; install it with: pip install 'ordino[peers]'" in error
    assert "- unknown ranker 'ranknett'; did you mean 'ranknet'?" in error


def test_rankers_of_other_libraries_are_not_trained_into_files(folder, capsys, untrained):
    assert ordino("train", "train.txt", "-r", "xgboost", "-o", "m.ordino") == 1
    assert "xgboost only competes in `ordino bench` and is not kept" in capsys.readouterr().err


def test_every_table_says_which_metric_chose(folder, capsys):
    rankers = "lambda-mart,random-ranker"  # which chooses nothing
    words = ["all.txt", "-r", rankers, "-p", "lambda-mart.rounds=2", "--folds", "3", "--n-jobs", "1", "-o", "c.sqlite"]
    assert ordino("bench", *words, "-m", "ndcg@1,map") == 0
    said = "Rounds, epochs and settings were chosen on validation data by ndcg@1 for LambdaMART."
    assert said in capsys.readouterr().out
    assert ordino("report", "c.sqlite") == 0
    assert said in capsys.readouterr().out
    assert ordino("bench", *words, "-m", "ndcg@1,map", "--select", "map", "--name", "other") == 0
    assert "were chosen on validation data by map for LambdaMART." in capsys.readouterr().out


EXTRAS = ("torch", "optuna", "altair", "vl_convert", "jinja2", "xgboost", "catboost")


@pytest.mark.parametrize("name", RANKERS)
def test_no_ranker_needs_an_extra(name, monkeypatch):
    for module in EXTRAS:
        monkeypatch.setitem(sys.modules, module, None)
    ranker = ranker_class(name)()
    data = easy_data()
    assert (
        ranker.set_params(**brief_params(ranker)).fit(data, valid=easy_data(seed=1)).predict(data).shape == data.y.shape
    )
