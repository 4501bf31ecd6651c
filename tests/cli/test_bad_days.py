"""Pipelines on the command line, forged cards, damaged stores, full disks, texts that steer terminals."""

import csv
import io
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordino
from ordino import LinearRegressionRanker, RankNet
from ordino.cli import main
from ordino.data.trec import read_qrels, read_run, read_scores
from ordino.errors import DataError
from ordino.experiment.plan import Plan
from ordino.experiment.report.text import csv_text
from ordino.experiment.run import run
from ordino.experiment.run.scratch import PREFIX, scratch_folder
from ordino.experiment.store import Store
from ordino.model_file.container import Contents, read_file, write_file
from ordino.testing import easy_data


def says(capsys, *words):
    """What a command that fails says, in one line."""
    with pytest.raises(SystemExit) as end:
        main(list(map(str, words)))
    assert end.value.code == 1
    sentence = capsys.readouterr().err.strip()
    assert "\n" not in sentence
    return sentence


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.txt"
    ordino.write_letor(easy_data(), path)
    return path


@pytest.mark.parametrize(
    "last", [LinearRegressionRanker(scaling=None), RankNet(epochs=2, scaling="symlog")], ids=["linear", "network"]
)
def test_saved_pipelines_work_on_the_command_line(last, data, tmp_path, capsys):
    easy = ordino.read_letor(data)
    pipeline = make_pipeline(StandardScaler(), last).fit(
        easy.X, easy.y, **{f"{type(last).__name__.lower()}__qid": easy.qid}
    )
    ordino.save(pipeline, tmp_path / "model.ordino")
    for words in (
        ["rank", "MODEL", data, "--out", tmp_path / "scores.txt"],
        ["evaluate", "MODEL", data],
        ["explain", "MODEL", data, "--repeats", 1],
        ["inspect", "MODEL"],
        *([["explain", "MODEL"]] if isinstance(last, LinearRegressionRanker) else []),
    ):
        with pytest.raises(SystemExit) as end:
            main([str(tmp_path / "model.ordino") if word == "MODEL" else str(word) for word in words])
        assert end.value.code == 0, capsys.readouterr().err
    np.testing.assert_array_equal(read_scores(tmp_path / "scores.txt"), pipeline.predict(easy.X))


@pytest.mark.parametrize(
    "change",
    [
        {"features": None}, {"features": {}}, {"features": {"count": "4", "names": None}}, {"measure": None},
        {"features": {"count": 3, "names": None}}, {"features": {"count": 4, "names": [1, 2, 3, 4]}}, {"form": None},
    ],
)  # fmt: skip
def test_a_forged_card_gets_a_sentence(change, data, tmp_path, capsys):
    ordino.save(RankNet(epochs=1).fit(easy_data()), tmp_path / "model")
    card, model, arrays = read_file(tmp_path / "model")
    write_file(tmp_path / "forged", Contents(card | change, model, arrays))
    for command in ("rank", "evaluate"):
        assert "the card does not fit the other parts" in says(capsys, command, tmp_path / "forged", data)


def test_texts_of_a_card_do_not_steer_the_terminal(tmp_path, capsys):
    notes = {"\x1b[2Jkey": "\x1b]0;title\x07", "list": ["\x1b[31m", "a\nb"]}
    ordino.save(LinearRegressionRanker().fit(easy_data()), tmp_path / "model", notes=notes)
    with pytest.raises(SystemExit):
        main(["inspect", str(tmp_path / "model")])
    shown = capsys.readouterr().out
    assert "title" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_no_spreadsheet_takes_a_label_for_a_formula():
    text = csv_text(["label", "mean"], [["=1+1", -0.5], ["@x", 1e-9], ["+a", None], ["-b", "-0.5"], ["RankNet", 1]])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1:] == [["'=1+1", "-0.5"], ["'@x", "1e-09"], ["'+a", ""], ["'-b", "-0.5"], ["RankNet", "1"]]


@pytest.mark.parametrize("number", ["1_0", "\u0661"])
def test_what_only_python_takes_for_a_number_is_refused(number, tmp_path):
    for read, line in ((read_qrels, "1 0 d {}"), (read_run, "1 Q0 d 1 {} x"), (read_scores, "{}")):
        (tmp_path / "f").write_text(line.format(number))
        with pytest.raises(DataError, match="is not a"):
            read(tmp_path / "f")


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.sqlite"
    plan = Plan(data={"easy": easy_data(n_queries=9)}, rankers=["single-feature", "random-ranker"], folds=3)
    run(plan, path, n_jobs=1)
    return path


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("test", '{"ndcg@10": 0.5'), ("test", "[1]"), ("test", '{"ndcg@10": "x"}'), ("params", "7"), ("seed", "x"),
        ("versions", "\x00"), ("query_counts", "null"), ("query_ids", "{"), ("valid", "nothing"),
    ],
)  # fmt: skip
def test_a_damaged_trial_gets_a_sentence(column, value, store, capsys):
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"UPDATE trials SET {column} = ? WHERE number = 1", (value,))
        connection.commit()
    if column != "query_ids":  # which a report does not read: it knows of each trial which test part it had
        assert "store.sqlite: a trial in the store is damaged" in says(capsys, "report", store, "--format", "csv")
    if column not in ("valid", "query_ids"):
        return
    with Store(store) as opened, pytest.raises(DataError, match="a trial in the store is damaged"):
        opened.trials()


def test_values_that_were_cut_get_a_sentence(store, capsys):
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE query_values SET numbers = x'0102' WHERE trial = 1")
        connection.commit()
    with Store(store) as opened, pytest.raises(DataError, match="a trial in the store is damaged"):
        opened.trials()
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE sums SET totals = x'0102'")  # a report is made from sums that are whole
        connection.commit()
    assert "a trial in the store is damaged" in says(capsys, "report", store)


def test_stores_with_flipped_bits_never_end_in_a_traceback(store, tmp_path, capsys):
    content, rng, path = store.read_bytes(), random.Random(3), tmp_path / "flipped.sqlite"
    for _ in range(40):
        changed = bytearray(content)
        for _ in range(20):
            changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(SystemExit) as end:
            main(["report", str(path), "--format", "csv"])
        assert end.value.code in (0, 1)
        capsys.readouterr()


def test_a_full_disk_leaves_the_earlier_report(store, tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("what was there")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "page.md: cannot be written (No space left on device)" in says(capsys, "report", store, "--out", page)
    assert page.read_text() == "what was there"
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")] == []


def test_folders_of_killed_runs_are_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        with scratch_folder() as folder:
            (folder / "data").write_text("a copy of the data")
            os._exit(9)  # as if killed: nothing is cleaned up
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(f"{PREFIX}*/data"))) == 1
    with scratch_folder() as first, scratch_folder() as second:
        assert {first, second} == set(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nobody_locked_is_removed_after_a_while(tmp_path, monkeypatch):
    """A run may be killed between making its folder and locking it, or while it removes it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    new, old, others = tmp_path / f"{PREFIX}new", tmp_path / f"{PREFIX}old", tmp_path / "another-old"
    for folder in (new, old, others):
        folder.mkdir()
        (folder / "data").write_text("half a copy")
    for folder in (old, others):
        os.utime(folder, (0, 0))
    with scratch_folder() as mine:
        assert {mine, new, others} == set(tmp_path.iterdir())


def test_the_folder_of_a_run_that_takes_long_is_not_removed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as mine:
        os.utime(mine, (0, 0))
        with scratch_folder() as other:
            assert {mine, other} == set(tmp_path.iterdir())
