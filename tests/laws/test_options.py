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
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

from cli.conftest import files, models  # noqa: F401  (the files that the words name)
from laws import commands
from laws.words import AUTO, CASES, FIT, JSON, READ
from ordino import Dataset, backends, import_model, load, save, sharded
from ordino.backends import local_backend
from ordino.cli.app import app
from ordino.data.files import ENDINGS, read_data, write_data
from ordino.data.trec import read_scores
from ordino.errors import OrdinoError
from ordino.experiment.run import driver
from ordino.experiment.store import Store
from ordino.model_file import is_model_file, read_card
from ordino.model_file.container import Contents, read_file
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
TIMED = re.compile(r"^(--\w+ (\d+ )?)*(bench|search|studio)")
"""Commands whose tables have times, or whose address has a token."""
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
    write_table(few.take(np.random.default_rng(0).permutation(n)), "mixed.csv")
    write_table(read_data("test.txt").to_frame("pyarrow").drop_columns(["label"]), "blind.csv")
    for name in ("doc_id", "url"):
        Path(f"by-{name}.csv").write_text(f"{name},price\na,1.5\nb,2.5\nc,4.5\n")
    train = read_data("train.txt")
    write_data(train.replace(y=np.where(train.query_number == 0, 0.0, train.y)), "empty.txt")
    qrels = Path("qrels.txt").read_text().splitlines()
    Path("fewer.txt").write_text("\n".join(qrels[1:]) + "\n")
    Path("narrow.txt").write_text(re.sub(r" 4[1-6]:\S+", "", Path("test.txt").read_text()))
    Path("graded.txt").write_text("".join(f"{line.rpartition(' ')[0]} {3 * i % 4}\n" for i, line in enumerate(qrels)))
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
    timed = TIMED.search(words)
    if words.startswith("warm-up"):  # whose only line has its seconds too
        printed = re.sub(r"\d+ seconds?", "", printed)
    printed = "" if timed else "\n".join(line for line in printed.splitlines() if not re.search(r"\bseconds?\b", line))
    written: dict[str, tuple[str, Any, str]] = {}
    for path in sorted(place.rglob("*")):
        if path.name.endswith(("-wal", "-shm")):  # of a store that was read
            path.unlink()
        elif path.is_file() and before.get(path) != path.stat().st_mtime_ns:
            written[str(path.relative_to(place))] = contents(path, words)
            path.unlink()
    numbers = re.findall(r"\d+\.\d+", printed), {name: values for name, (_, values, _) in written.items()}
    told = {name: text for name, (text, *_) in written.items()}
    asked = {"called": list(called), "is_silent": not noise}
    SAID[words] = commands.said(words, said, {name: facts for name, (*_, facts) in written.items()}, place)
    return {"code": code, "printed": printed, "written": told, "numbers": numbers, **asked}


def contents(path: Path, words: str) -> tuple[str, Any, str]:
    """What a file says, what of it was computed (an option may be repeated in a file without any effect), and in words.

    A store says what its trials say and found, AutoRanker (which keeps times) what is on its card.
    """
    if "-r auto" in words:
        return str(read_card(path)["parameters"]), None, ""
    if path.name.endswith(".kept.sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            found = str(connection.execute("select count(*) from rankings").fetchone())
        return found, None, found
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as connection:
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type='table'")]
        assert tables
        with Store(path) as store:
            trials = list(store.trials())
        told = ("experiment", "label", "params", "fold", "seed", "profile", "chosen_by", "test")
        found = str([[getattr(one, name) for name in told] for one in trials])
        return found, [dict(one.test) for one in trials], found
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if not is_model_file(path):
        return digest, digest, facts_of(path, words)
    model, card = load(path), read_card(path)
    notes, digest = json.dumps(card["notes"]), digest_of(read_file(path))
    if hasattr(model, "steps") or getattr(model, "categories_in_", None):
        return digest, card["steps"], notes
    scores = model.predict(np.random.default_rng(0).random((20, model.n_features_in_)))
    return digest, scores.tolist(), f"scores {summed(scores)}, {notes}"


def digest_of(held: Contents) -> str:
    """Of all that a model file holds but the versions of what happened to be loaded when it was written."""
    card = {name: told for name, told in held.card.items() if name != "versions"}
    arrays = {name: values.tobytes().hex() for name, values in held.arrays.items()}
    return hashlib.sha256(json.dumps([card, held.model, arrays]).encode()).hexdigest()


def summed(values: Any) -> str:
    """The mean of numbers, their deviation, and how they go up or down with their place."""
    flat = np.asarray(values, np.float64).ravel()
    known = ~np.isnan(flat)
    flat, place = flat[known], np.flatnonzero(known)
    lean = np.corrcoef(flat, place)[0, 1] if np.ptp(flat) else 0.0
    return f"{flat.mean():.5f} ± {flat.std():.5f}, leaning {lean:.5f}"


def facts_of(path: Path, words: str) -> str:
    """What is in a file of data or of scores, in a few numbers; other files have tests of their own."""
    if re.match(r"(--\w+ (\d+ )?)*(convert|synth)", words) and is_data_file(path.name):
        data = read_data(path)
        ids = sorted(map(str, data.query_ids.tolist()))
        size = f"{data.n_docs} documents of {', '.join(ids) if len(ids) < 5 else len(ids)}"
        return f"{size}, labels {summed(data.y)}, features {summed(data.X)}"
    if "rank " in words and path.suffix == ".txt":
        return f"scores {summed(read_scores(path))}"
    return ""


def is_data_file(name: str) -> bool:
    return name.endswith(tuple(ENDINGS)) and not name.endswith(".json")


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
    commands.check(f"{words} --json", SAID.pop(f"{words} --json"))


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
    first, second = KNOWN[without], KNOWN.setdefault(with_it, result_of(with_it, place, called, capsysbinary))
    allowed = {0, 1} if option == "one_list" or (command, option) == ("train", "cluster") else {0}
    assert {first["code"], second["code"]} <= allowed
    assert first != second
    if option in COMPUTED:
        assert first["numbers"] != second["numbers"]
    for words in (without, with_it):
        if words in SAID:
            commands.check(words, SAID.pop(words))


def test_shards_that_were_ranked_before_are_told(place, capsys):
    for more in ("", "; 2 were done before"):
        assert ordino("rank", "linear.ordino", "shards", "-o", "o") == 0
        assert capsys.readouterr().err.endswith(f"o: 2 shards, 166 documents{more}\n")


def test_what_auto_reaches_out_of_fold_is_told(place, capsys):
    assert ordino("train", "train.txt", *AUTO.split(), "-o", "m") == 0
    told = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert told["out of fold"] == f"{load('m').quality_['mean']:.4f}" != told["train"]


def first_words(command: str) -> str:
    """Words with which a command ends well: of the first of its cases, without the option."""
    return JSON.get(command) or DIVIDED.get(command) or next(iter(CASES[command].values()))[0]


@pytest.mark.parametrize("command", [name for name, own in CASES.items() if name and "seed" in own])
def test_a_seed_before_the_command_is_one_after_it(command, place, called, capsysbinary):
    without, with_it = CASES[command]["seed"]
    seed = with_it.rpartition("--seed ")[2].split()[0]
    before = result_of(f"--seed {seed} {without}", place, called, capsysbinary)
    assert before == (KNOWN.get(with_it) or result_of(with_it, place, called, capsysbinary))


IS_RESULT = ("rankers", "params", "warm-up", "doctor", "search")
"""Commands that print nothing but their result, and one that runs as bench does."""


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in IS_RESULT])
def test_a_quiet_command_prints_its_result_alone(command, place, called, capsysbinary):
    words = first_words(command)
    quiet = result_of(f"--quiet {words}", place, called, capsysbinary)
    told = KNOWN.get(words) or result_of(words, place, called, capsysbinary)
    assert quiet["is_silent"]
    assert ("'quiet': True" in str(quiet["called"])) == (command == "serve")  # whose processes are told
    assert {**quiet, **{name: told[name] for name in ("is_silent", "called")}} == told


DIVIDED = {
    "bench": "bench train.txt -r random-ranker --folds 3 -m map",
    "reproduce": "reproduce ranknet.table2 --quick",
    "rank": "rank linear.ordino shards -o o",
    "evaluate": "evaluate linear.ordino shards",
    "train": "train shards -r prank -o m",
    "explain": "explain linear.ordino test.txt",
    "inspect": "inspect comparator.ordino --audit test.txt",
}
"""By command words that make it divide its work among threads or processes."""
WATCHED = (
    ("ordino.explain", "permutation_importance"), ("ordino.order.audit", "audit"), ("ordino.sharded", "rank_shards"),
    ("ordino.sharded", "evaluate_shards"),
)  # fmt: skip
"""What divides it; processes of experiments are asked for in one place."""


@pytest.mark.parametrize("command", DIVIDED)
def test_threads_reach_what_is_divided(command, place, called, capsysbinary, monkeypatch):
    asked: list[int] = []
    for module, name in WATCHED:
        real = getattr(import_module(module), name)
        watched = lambda *a, real=real, **how: asked.append(how["n_jobs"]) or real(*a, **how)  # noqa: E731
        monkeypatch.setattr(import_module(module), name, watched)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
    found = result_of(f"--threads 3 {DIVIDED[command]}", place, called, capsysbinary)
    assert found["code"] == 0
    assert {*(asked or [one[1] for one in called if one[0] == "backend"])} == {3}
