"""The store: what goes in comes out, whole trials only, and many writers at once."""

import json
import multiprocessing
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.data.dataset import Dataset
from ordino.data.source import contents_hash
from ordino.errors import DataError
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.text import comma_separated
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.file_format import VERSION
from ordino.experiment.store.trial import Trial, installed_versions, trial_key
from trials import made_trials

FIXTURES = Path(__file__).parents[1] / "fixtures"
TRIAL = Trial(
    key="abc",
    experiment="first",
    dataset="MQ2008",
    fold="Fold1",
    ranker="ranknet",
    label="RankNet, tuned",
    params={"hidden": [64, 32], "l2": 0.1, "scaling": None},
    seed=3,
    profile="letor4",
    is_tuned=True,
    data="cafe",
    versions={"ordino": "0.1.0"},
    started="2026-01-02T03:04:05+00:00",
    train_seconds=1.5,
    score_seconds=0.25,
    valid={"map": 0.5, "mrr": float("nan")},
    test={"map": 0.25, "ndcg@10": float("nan")},
    per_query={"map": np.array([0.25, np.nan]), "ndcg@10": np.array([np.nan, np.nan])},
    query_ids=np.array(["a", "b"]),
    query_counts={"n_empty": 1, "n_tied": 2, "n_short": 0, "n_left_out": 2},
    history=[{"epoch": 1, "error": 0.7}],
    feature_weights={"f1": -2.0},
    parts={"valid": {"map": np.array([0.5])}},
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def test_what_goes_in_comes_out(path):
    with Store(path) as store:
        store.add(TRIAL)
    with Store(path) as store:
        (back,) = store.trials()
    for field in fields(Trial):
        np.testing.assert_equal(getattr(back, field.name), getattr(TRIAL, field.name), err_msg=field.name)


@given(
    values=st.lists(st.floats(), max_size=20),
    number=st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63),
        st.text(),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
)
def test_any_value_survives(tmp_path_factory, values, number):
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    with Store(path) as store:
        store.add(
            replace(TRIAL, params={"x": [number]}, per_query={"m": np.array(values)}, query_ids=np.arange(len(values)))
        )
        (back,) = store.trials()
    assert back.params == {"x": [number]}
    np.testing.assert_array_equal(back.per_query["m"], np.array(values))


def test_numpy_values_are_written_as_numbers(path):
    with Store(path) as store:
        store.add(replace(TRIAL, params={"a": np.int64(3), "b": np.float32(0.5), "c": np.array([1, 2])}))
        assert store.trials()[0].params == {"a": 3, "b": 0.5, "c": [1, 2]}


def test_a_trial_without_anything_optional(path):
    bare = Trial(key="1", dataset="d", fold="f", ranker="r", label="R", params={}, seed=0, profile="standard")
    with Store(path) as store:
        store.add(bare)
        assert store.trials() == []  # nothing was measured on test data
        (back,) = store.trials(tuning=True)
    assert back.per_query == {}
    assert len(back.query_ids) == 0
    assert back.feature_weights is None


def test_the_first_of_a_key_stays(path):
    with Store(path) as store:
        store.add(TRIAL)
        store.add(replace(TRIAL, label="another"))
        assert len(store) == 1
        assert store.trials()[0].label == "RankNet, tuned"


def test_trials_are_found_by_key_and_by_experiment(path):
    with Store(path) as store:
        store.add(TRIAL)
        store.add(replace(TRIAL, key="2", experiment="another"))
        store.add(replace(TRIAL, key="3", experiment="another", test={}, per_query={}, query_ids=np.zeros(0)))
        assert "2" in store
        assert "4" not in store
        assert store.find("2").experiment == "another"
        assert store.find("4") is None
        assert StoreView(store).experiments() == ["first", "another"]
        assert [trial.key for trial in store.trials("another")] == ["2"]
        assert [trial.key for trial in store.trials(tuning=True)] == ["3"]
        assert [trial.key for trial in store.trials(keys=["3", "2", "abc"])] == ["abc", "2"]
        assert store.trials("first", keys=["2"]) == store.trials(keys=[]) == []


def test_a_person_can_read_the_file(path):
    with Store(path) as store:
        store.add(TRIAL)
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT ranker, params, test, seed FROM trials").fetchone()
    assert row[0] == "ranknet"
    assert json.loads(row[1])["hidden"] == [64, 32]
    assert json.loads(row[2]) == {"map": 0.25, "ndcg@10": None}
    assert row[3] == 3


def test_a_trial_that_cannot_be_written_leaves_nothing(path):
    with Store(path) as store:
        with pytest.raises(TypeError):
            store.add(replace(TRIAL, params={"x": object()}))
        with pytest.raises(sqlite3.IntegrityError):
            store.add(replace(TRIAL, seed=None))
        assert len(store) == 0
        store.add(TRIAL)
        assert len(store) == 1


def add_many(path, who):
    with Store(path) as store:
        for number in range(40):
            store.add(replace(TRIAL, key=str(number), label=who))


def test_many_processes_write_to_one_store(path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_many, args=(path, f"writer {i}")) for i in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Store(path) as store:
        assert sorted(int(trial.key) for trial in store.trials()) == list(range(40))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


FIRST_FORMAT = """
CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL, experiment TEXT NOT NULL, dataset TEXT NOT NULL, fold TEXT NOT NULL, ranker TEXT NOT NULL,
    label TEXT NOT NULL, profile TEXT NOT NULL, started TEXT NOT NULL, params TEXT NOT NULL, versions TEXT NOT NULL,
    valid TEXT NOT NULL, test TEXT NOT NULL, history TEXT NOT NULL, feature_weights TEXT NOT NULL,
    query_ids TEXT NOT NULL, seed INTEGER NOT NULL, train_seconds REAL NOT NULL, score_seconds REAL NOT NULL,
    per_query BLOB NOT NULL, UNIQUE (key)
)
"""  # as version 0.1.0 wrote it


def test_a_store_of_the_first_format_is_brought_up_to_date(path):
    Store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TABLE query_values")
        connection.execute("DROP TABLE trials")
        connection.execute(FIRST_FORMAT)
        connection.execute("PRAGMA user_version = 1")
        old = dict.fromkeys(("experiment", "started"), "") | dict.fromkeys(("params", "versions", "valid"), "{}")
        old |= {"key": "old", "dataset": "d", "fold": "Fold1", "ranker": "ranknet", "label": "RankNet, tuned"}
        old |= {"seed": 0, "profile": "standard", "test": '{"map": 0.5}', "history": "[]", "feature_weights": "null"}
        old |= {"query_ids": "[1]", "train_seconds": 1.0, "score_seconds": 0.1}
        old |= {"per_query": b'["map"]\n' + np.array([0.5]).tobytes()}
        marks = ", ".join("?" * len(old))
        for row in (old, old | {"key": "fixed", "label": "RankNet"}):
            connection.execute(f"INSERT INTO trials ({', '.join(old)}) VALUES ({marks})", list(row.values()))
    for _ in range(2):  # the second time there is nothing to do
        with Store(path) as store:
            store.add(TRIAL)
            earlier, fixed, new = store.trials()
    assert earlier.per_query["map"].tolist() == [0.5]
    assert (earlier.query_counts, earlier.data) == ({}, "")
    assert [one.is_tuned for one in (earlier, fixed)] == [True, False]
    assert new.query_counts == TRIAL.query_counts != {}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_store_of_the_future_is_refused(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(DataError, match=f"newer Ordino .format {VERSION + 1}, this one reads {VERSION}.; upgrade"):
        Store(path)


def test_other_files_are_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE birds (name)")
    with pytest.raises(DataError, match="not a store of trials; give another file"):
        Store(tmp_path / "other.sqlite")
    (tmp_path / "text.txt").write_text("0 qid:1 1:0.5\n" * 100)
    with pytest.raises(DataError, match="cannot be used as a store"):
        Store(tmp_path / "text.txt")
    with pytest.raises(DataError, match="there is no folder"):
        Store(tmp_path / "missing" / "store.sqlite")


def test_a_key_depends_on_everything_but_order():
    parts = {"ranker": "ranknet", "params": {"a": 1, "b": [2]}, "seed": 0}
    assert trial_key(**parts) == trial_key(**dict(reversed(parts.items())))
    changed = [parts | {"ranker": "rankde"}, parts | {"params": {"a": 1, "b": [3]}}, parts | {"seed": 1}]
    assert len({trial_key(**one) for one in [parts, *changed]}) == 4


def test_a_fingerprint_depends_on_all_that_is_in_the_data():
    X, y, qid = [[1.0, 2.0], [3.0, 4.0]], [0, 1], ["a", "b"]
    variants = [
        Dataset(X, y, qid),
        Dataset([[1.0, 2.0], [3.0, 5.0]], y, qid),
        Dataset(X, [1, 1], qid),
        Dataset(X, y, ["a", "a"]),
        Dataset(X, y, ["a", "c"]),
        Dataset(X, y, [1, 2]),
        Dataset(X, y, qid, weights=[1, 2]),
        Dataset(X, y, qid, feature_names=["u", "v"]),
        None,
    ]
    assert len({contents_hash(one) for one in variants}) == len(variants)
    assert contents_hash(Dataset(X, y, qid)) == contents_hash(Dataset(np.array(X), np.array(y), np.array(qid)))


def test_versions_are_those_of_installed_packages(monkeypatch):
    assert installed_versions()["numpy"] == np.__version__
    monkeypatch.setattr("ordino.experiment.store.trial.PACKAGES", ("numpy", "no-such-package"))
    assert list(installed_versions()) == ["numpy"]


def test_a_folder_and_a_damaged_file_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(DataError, match="cannot be used as a store"):
        Store(tmp_path)
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        for key in range(40):
            store.add(replace(TRIAL, key=str(key), history=[{"epoch": n} for n in range(500)]))
    whole = path.read_bytes()
    path.write_bytes(whole[:12_288] + bytes(len(whole) - 12_288))
    with Store(path) as store, pytest.raises(DataError, match=r"cannot be used as a store .*malformed"):
        store.trials()


def test_a_report_leaves_an_empty_file_empty(tmp_path):
    path = tmp_path / "nothing.sqlite"
    path.touch()
    with pytest.raises(DataError, match="there is no such store"):
        StoreView(path)
    assert path.stat().st_size == 0


def test_a_store_that_nobody_can_write_to_is_read(path, monkeypatch):
    with Store(path) as store:
        store.add(TRIAL)
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("ordino.experiment.store.store.transaction", None)  # a read-only disk has none
    with StoreView(path) as view:
        assert [trial.key for trial in view.trials()] == ["abc"]
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_frozen_store_shows_what_its_log_holds(tmp_path):
    with Store(tmp_path / "s.sqlite") as writing:
        writing.add(made_trials(["a"])[0])
        with Store(tmp_path / "s.sqlite", frozen=True) as reading:
            assert len(reading) == 1


# what older stores hold


def assert_same_table(found, expected):
    """Word for word; figures with fractions to 1e-12, since versions of scipy differ in the last digits of p."""
    number = re.compile(r"(\d+\.\d+(?:e[+-]\d+)?)")
    ours, theirs = (number.split(text) for text in (found, expected))
    assert ours[::2] == theirs[::2]
    assert [*map(float, ours[1::2])] == pytest.approx([*map(float, theirs[1::2])], rel=1e-12)


def test_a_store_of_format_3_opens_and_gives_the_same_board(tmp_path):
    """The file and both tables were written by version 0.1.0 at format 3."""
    path = tmp_path / "old.sqlite"
    path.write_bytes((FIXTURES / "store-v3.sqlite").read_bytes())
    for _ in range(2):  # the second time there is nothing to upgrade
        with StoreView(path) as view:
            for test, expected in (("wilcoxon", "store-v3.csv"), ("welch", "store-v3-welch.csv")):
                assert_same_table(comma_separated(make_boards(view, test=test)), (FIXTURES / expected).read_text())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_an_old_store_that_nobody_can_write_to_is_read_and_left_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "old.sqlite"
    path.write_bytes((FIXTURES / "store-v3.sqlite").read_bytes())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with StoreView(path) as view:
        assert_same_table(comma_separated(make_boards(view)), (FIXTURES / "store-v3.csv").read_text())
    assert path.read_bytes() == (FIXTURES / "store-v3.sqlite").read_bytes()


# views


def test_a_view_reads_in_pages(monkeypatch):
    monkeypatch.setattr("ordino.experiment.store.view.PAGE", 3)
    trials = made_trials(["a", "b"], folds=2, seeds=(0, 1))
    with StoreView.of(trials) as view:
        [group] = view.groups()
        assert group == ("letters", "standard", ["a", "b"], 8)
        assert [one.key for one in view.trials(group, limit=3, offset=6)] == [one.key for one in trials[6:]]
        assert [key for key, _ in view.values("map", limit=2, offset=1)] == [one.key for one in trials[1:3]]
        paged = list(view.pages("map"))
        for trial, (key, values) in zip(trials, paged, strict=True):
            assert key == trial.key
            np.testing.assert_array_equal(values, trial.per_query["map"])
        wanted = [trial.key for trial in trials if trial.seed or trial.label == "a"]  # two pages
        assert [key for key, _ in view.chosen("map", wanted)] == wanted
        assert dict(view.chosen("map", wanted)).keys() == {*wanted}


def test_a_board_opens_nothing_that_it_does_not_show(path):
    with Store(path) as store:
        store.add(*made_trials(["a", "b"]))
    expected = comma_separated(make_boards(StoreView(path)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE trials SET history = 'damaged', feature_weights = 'damaged'")
        connection.commit()
    assert comma_separated(make_boards(StoreView(path))) == expected


def test_a_view_may_be_of_some_trials_alone():
    trials = made_trials(["a", "b"])
    with Store(":memory:") as store:
        store.add(*trials)
        view = StoreView(store, keys=[trials[0].key])
        assert [one.key for one in view.trials()] == [trials[0].key]
        assert [key for key, _ in view.values("map")] == [trials[0].key]


def test_values_of_other_parts_are_kept(path):
    with Store(path) as store:
        store.add(replace(TRIAL, parts={"train": {"map": np.array([0.5, 1.0])}}))
        assert store.trials()[0].parts["train"]["map"].tolist() == [0.5, 1.0]
        assert StoreView(store).values("map", part="train")[0][1].tolist() == [0.5, 1.0]


def test_commands_that_read_a_store_load_no_learner(path):
    with Store(path) as store:
        store.add(*made_trials(["a", "b"]))
    for words in (["report", str(path)], ["compare", str(path), "a", "b"]):
        code = (
            "import sys\nfrom ordino.cli import main\n"
            f"try:\n    main({words!r})\nexcept SystemExit as stop:\n    assert not stop.code\n"
            "print('loaded:', *(name for name in ('sklearn', 'numba', 'pandas', 'torch') if name in sys.modules))"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert shown.splitlines()[-1] == "loaded:"


DAMAGE = {
    "mean": "UPDATE trials SET test = replace(test, '0.25', '0.75')",
    "validation": "UPDATE trials SET valid = replace(valid, '0.5', '0.6')",
    "seed": "UPDATE trials SET seed = 4",
    "label": "UPDATE trials SET label = 'RankNet, tunet'",
    "queries": "UPDATE trials SET query_ids = replace(query_ids, 'a', 'c')",
    "history": "UPDATE trials SET history = replace(history, '0.7', '0.1')",
    "weights": "UPDATE trials SET feature_weights = replace(feature_weights, '-2', '2')",
    "values": "UPDATE query_values SET numbers = zeroblob(16) WHERE metric = 'map' AND part = 'test'",
    "metric": "UPDATE query_values SET metric = 'mrr' WHERE metric = 'map' AND part = 'test'",
    "part": "UPDATE query_values SET part = 'train' WHERE part = 'valid'",
    "checksum": "UPDATE trials SET sums = '{}'",
}


@pytest.mark.parametrize("command", DAMAGE.values(), ids=DAMAGE)
def test_a_trial_that_was_changed_is_noticed_though_it_can_be_read(command, path):
    with Store(path) as store:
        store.add(TRIAL)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(command).rowcount == 1
        connection.commit()
    with Store(path) as store, pytest.raises(DataError, match=r"a trial in the store is damaged .*checksum"):
        store.trials()
    parts = {"validation": lambda v: v._store.valid_means("abc"), "history": lambda v: v.history("abc")}
    parts |= {"weights": lambda v: v.feature_weights("abc"), "queries": lambda v: list(v.query_ids())}
    parts |= {"values": lambda v: v.values("map"), "metric": lambda v: v.values_of("abc", "mrr")}
    parts |= {"part": lambda v: v.values("map", part="train")}
    name = next(name for name, one in DAMAGE.items() if one == command)
    with StoreView(path) as view, pytest.raises(DataError, match="checksum"):
        parts.get(name, lambda v: v.trials())(view)


def test_values_that_belong_to_another_trial_are_noticed(path):
    with Store(path) as store:
        store.add(TRIAL, replace(TRIAL, key="other"))
    with closing(sqlite3.connect(path)) as connection:
        for command in ("trial = trial + 10", "trial = 13 - trial"):  # 1 and 2 change places
            assert connection.execute(f"UPDATE query_values SET {command}").rowcount == 6
        connection.commit()
    with Store(path) as store, pytest.raises(DataError, match="checksum"):
        store.trials()
    with StoreView(path) as view, pytest.raises(DataError, match="checksum"):
        view.values("map")


def test_a_store_of_format_5_gets_its_checksums(path):
    with Store(path) as store:
        store.add(TRIAL)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX far")
        connection.execute("ALTER TABLE trials DROP COLUMN sums")
        connection.execute("ALTER TABLE query_values DROP COLUMN sum")
        connection.execute("PRAGMA user_version = 5")
        connection.commit()
    with Store(path) as store:
        [trial] = store.trials()
    assert trial.per_query["map"][0] == 0.25
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(DAMAGE["mean"])
        connection.commit()
    with Store(path) as store, pytest.raises(DataError, match="checksum"):
        store.trials()
