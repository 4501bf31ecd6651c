"""Law 3: every option of every command reaches what it names: set and unset give another result.

The options come from the commands' own table. One that is added later fails here until ``CASES`` says which words make
it matter. A result is what the command prints, and what it writes. What it says, and what a store of it holds, stands
word for word in commands.json.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import socket
import sqlite3
import webbrowser
from contextlib import chdir, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

from cli.conftest import files, models  # noqa: F401  (the files that the words name)
from laws import commands
from laws.words import CASES, FIT, JSON, READ
from ordino import Dataset, backends, import_model, load, save, sharded
from ordino.backends import local_backend
from ordino.cli.app import app
from ordino.data.files import read_data, write_data
from ordino.errors import OrdinoError
from ordino.experiment.run import driver
from ordino.experiment.store import Store
from ordino.model_file import is_model_file, read_card
from ordino.serve import start
from ordino.serve.app import Setup
from ordino.serve.spool import Spool
from ordino.web import running
from shell import ordino
from trials import made_trials

GROUP = typer.main.get_command(app)
COMMANDS = GROUP.commands
EVERYWHERE = {"help", "json"}
"""Options of the form alone: ``test_json_is_json`` is about --json."""
TAKES_SECONDS = {"figures", "choices"}
ELSEWHERE = {"debug"}  # of all commands: tests/cli/test_bad_days.py


@pytest.fixture(scope="session")
def more_files(tmp_path_factory, files):  # noqa: F811
    """More files than the examples of the help texts name; a test gets a copy."""
    place = tmp_path_factory.mktemp("more")
    shutil.copytree(files, place, dirs_exist_ok=True)
    with chdir(place):
        write_more()
    return place


@pytest.fixture
def place(tmp_path, monkeypatch, more_files):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(more_files, tmp_path, dirs_exist_ok=True)
    return tmp_path


def write_more() -> None:
    few = read_data("train.txt").to_frame("pyarrow").select(["qid", "label", "f1", "f2", "f3"])
    n = len(few)
    columns = {
        "topic": np.arange(n) // 3, "other": np.arange(n) % 3, "url": [f"u{i}" for i in range(n)],
    }  # fmt: skip
    for name, values in columns.items():
        few = few.append_column(name, [list(values)])
    write_table(few, "all.csv")
    write_table(few.select(["label", "f1", "f2"]), "bare.csv")
    train = read_data("train.txt")
    write_data(train.replace(y=np.where(train.query_number == 0, 0.0, train.y)), "empty.txt")
    qrels = Path("qrels.txt").read_text().splitlines()
    Path("fewer.txt").write_text("\n".join(qrels[1:]) + "\n")
    first = qrels[0].split()
    Path("more.txt").write_text("\n".join([*qrels, f"unknown {first[1]} {first[2]} 1"]) + "\n")
    Path("plan.toml").write_text('data = "train.txt"\nfolds = 3\nrankers = ["single-feature"]\nname = "bench"\n')
    with Store("two.sqlite") as store:
        for experiment, labels in (("first", ["RankNet", "LambdaMART"]), ("second", ["RankNet", "RankSVM"])):
            for trial in made_trials(labels, dataset=experiment):
                store.add(replace(trial, experiment=experiment))
    for name, seed in (("a", 1), ("b", 2)):
        for part in ("train", "test"):
            (Path("many") / name / "Fold1").mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng([seed, len(part)])
            n_queries = 12 * seed
            data = Dataset(
                rng.random((n_queries * 4, 3)),
                np.tile([0, 1, 0, 2], n_queries),
                np.repeat(np.arange(n_queries), 4) + 100 * len(part),
            )
            write_data(data, Path("many") / name / "Fold1" / f"{part}.txt")
    leaf = {"nodeid": 1, "leaf": 0.5}
    split = {"nodeid": 0, "split": "f2", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 1}
    Path("trees.json").write_text(json.dumps([split | {"children": [leaf, {"nodeid": 2, "leaf": -0.5}]}]))
    save(import_model("trees.json", "xgboost", n_features=train.n_features), "trees.ordino")


@pytest.fixture
def called(monkeypatch):
    """What commands ask of that which no test starts: servers, browsers, worker processes and clusters."""
    calls: list[Any] = []

    def run(make_app, listening, **how):
        host, port = listening.getsockname()[:2]
        told = [vars(one) if isinstance(one, Setup) else one for one in make_app.args]
        for one in told:
            if isinstance(one, dict):
                one.pop("folder")  # a new one each time
        named = {name: value for name, value in make_app.keywords.items() if name != "token"}  # of the studio: drawn
        calls.append(("server", host, port if port == PORT else "any", repr(told), repr(named), how))

    def open_here(n_jobs, cluster=None):
        calls.append(("backend", n_jobs, cluster))
        return local_backend(1)

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(Spool, "watch", lambda _: lambda: None)
    monkeypatch.setattr(webbrowser, "open", lambda _: calls.append("browser"))

    def no_crew(cluster, *_, **__):
        calls.append(("crew", cluster))
        raise OrdinoError("there is no cluster here")

    monkeypatch.setattr(backends, "open_crew", no_crew)
    monkeypatch.setattr(driver, "open_backend", open_here)
    monkeypatch.setattr(sharded, "open_backend", open_here)
    return calls


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


PORT = free_port()


def write_table(table: Any, path: str) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(table, path)


def result_of(words: str, place: Path, called: list[Any], capsysbinary: Any) -> dict[str, Any]:
    """What a command prints, writes and asks for, without the times that it took."""
    called.clear()
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    capsysbinary.readouterr()
    try:
        code = ordino(*words.format(fit=FIT, port=PORT).split())
    except SystemExit as stop:
        code = stop.code
    said = capsysbinary.readouterr()
    printed, noise = said.out.decode(), said.err.decode()
    timed = words.startswith(("bench", "search", "studio"))  # whose tables have times, and whose address a token
    if words.startswith("warm-up"):  # whose only line has its seconds too
        printed = re.sub(r"\d+ seconds?", "", printed)
    printed = "" if timed else "\n".join(line for line in printed.splitlines() if not re.search(r"\bseconds?\b", line))
    written = {}
    for path in sorted(place.rglob("*")):
        if path.name.endswith(("-wal", "-shm")):  # of a store that was read
            path.unlink()
        elif path.is_file() and before.get(path) != path.stat().st_mtime_ns:
            written[str(path.relative_to(place))] = contents(path, words)
            path.unlink()
    numbers = re.findall(r"\d+\.\d+", printed), {name: values for name, (_, values) in written.items()}
    told = {name: text for name, (text, _) in written.items()}
    asked = {"called": list(called), "is_silent": not noise}
    SAID[words] = commands.said(words, said, told, place)
    return {"code": code, "printed": printed, "written": told, "numbers": numbers, **asked}


def contents(path: Path, words: str) -> tuple[str, Any]:
    """What a file says, and what of it was computed: an option may be repeated in a file without any effect.

    A store says what its trials say and found, AutoRanker (which keeps times) what is on its card.
    """
    if "-r auto" in words:
        return str(read_card(path)["parameters"]), None
    if path.name.endswith(".kept.sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            return str(connection.execute("select count(*) from rankings").fetchone()), None
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as connection:
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type='table'")]
        assert tables
        with Store(path) as store:
            trials = list(store.trials())
        told = ("experiment", "label", "params", "fold", "seed", "profile", "chosen_by", "test")
        return str([[getattr(one, name) for name in told] for one in trials]), [dict(one.test) for one in trials]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if not is_model_file(path):
        return digest, digest
    model = load(path)
    if hasattr(model, "steps") or getattr(model, "categories_in_", None):
        return digest, read_card(path)["steps"]
    return digest, model.predict(np.random.default_rng(0).random((20, model.n_features_in_))).tolist()


def options_of(command: str) -> set[str]:
    own = {param.name for param in COMMANDS[command].params if param.param_type_name == "option"}
    return own - EVERYWHERE - (set(READ) if "one_list" in own else set())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_case(command):
    missing = options_of(command) - set(CASES.get(command, {}))
    assert not missing, f"say in CASES which words make {', '.join(sorted(missing))} of {command} matter"


def test_every_option_of_all_commands_has_a_case():
    own = {param.name for param in GROUP.params} - {"install_completion", "show_completion", "help"}
    assert own == set(CASES[""]) | ELSEWHERE


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if "json" in {one.name for one in COMMANDS[name].params}]
)
def test_json_is_json(command, place, called, capsysbinary):
    words = JSON[command]
    plain, told = (result_of(f"{words}{more}", place, called, capsysbinary) for more in ("", " --json"))
    assert plain["code"] == told["code"] == 0
    assert isinstance(json.loads(told["printed"]), dict | list)
    assert plain["printed"] != told["printed"]


COMPUTED = {
    "seed",
    "profile",
    "test",
    "param",
    "scaling",
    "binarize",
    "weight",
    "one_hot",
    "repeats",
    "trials",
    "metric",
}
"""Options that may be repeated in what is printed and written, but must change what is computed."""
EVERY = [(command, option) for command, own in CASES.items() for option in own] + [
    ("reading", option) for option in READ
]


KNOWN: dict[str, dict[str, Any]] = {}
"""Results of words that several cases start from."""
SAID: dict[str, str] = {}
"""By words what was said, until it is compared with what should be."""


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(*one, marks=pytest.mark.slow) if one[1] in TAKES_SECONDS else one for one in EVERY],
    ids=lambda value: value,
)
def test_every_option_reaches_what_it_names(command, option, place, called, capsysbinary):
    without, with_it = (READ if command == "reading" else CASES[command])[option]
    if without not in KNOWN:
        KNOWN[without] = result_of(without, place, called, capsysbinary)
        again = result_of(without, place, called, capsysbinary)
        assert again == KNOWN[without], "the same words give the same result"
    first, second = KNOWN[without], result_of(with_it, place, called, capsysbinary)
    allowed = {0, 1} if option == "one_list" or (command, option) == ("train", "cluster") else {0}
    assert {first["code"], second["code"]} <= allowed
    assert first != second
    if option in COMPUTED:
        assert first["numbers"] != second["numbers"]
    for words in (without, with_it):
        if words in SAID:
            commands.check(words, SAID.pop(words))
