"""Law 3: every option of every command reaches what it names: set and unset give another result.

The options come from the commands' own table. One that is added later fails here until ``CASES`` says which words make
it matter. A result is what the command prints, and what it writes.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

from cli.conftest import folder, models  # noqa: F401  (the files that the words name)
from ordino import Dataset
from ordino.cli.app import app
from ordino.data.files import read_data, write_data
from ordino.experiment.store import Store
from shell import ordino
from trials import made_trials

COMMANDS = typer.main.get_command(app).commands
EVERYWHERE = {"help", "n_jobs", "keep", "json"}
"""Options that change how and not what, or the form alone: --json is met in the tests of each command."""
OWN_TESTS = {"export", "import", "distill", "serve", "studio"}
"""Commands whose options the tests of their own folders try."""
JUDGED = {"qrels", "run"}  # of convert: tests/data/test_trec.py
LATER = {"categories", "zero_based", "cluster", "shards", "models", "rankings", "minutes", "one_hot", "unjudged"}
"""Options that came with other work and are tried in its tests."""
RUN = "-r random-ranker --folds 3 --n-jobs 1 -m map"
BOTH = "compare linear.ordino model.ordino"
DRAWN = "--trials 1 --space epochs=1..2 --folds 3 --n-jobs 1 -m map"
FIT = "--ranker linear-regression-ranker"
READ: dict[str, tuple[str, str]] = {
    "qid": ("inspect all.csv --drop url", "inspect all.csv --drop url --qid topic"),
    "label": ("inspect all.csv --drop url", "inspect all.csv --drop url --label other"),
    "doc_id": ("convert all.csv a.txt --drop url", "convert all.csv a.txt --doc-id url"),
    "weight": ("train all.csv {fit} -o m --drop url,other", "train all.csv {fit} -o m --drop url --weight other"),
    "features": ("inspect all.csv --drop url", "inspect all.csv --features f1,f3"),
    "drop": ("inspect all.csv --drop url", "inspect all.csv --drop url,f1"),
    "one_list": ("doctor bare.csv", "doctor bare.csv --one-list"),
}
"""How tables are read is one piece of code for all commands, which test_column_options.py shows."""
CASES: dict[str, dict[str, tuple[str, str]]] = {
    "synth": {
        "out": ("synth list", "synth mq --queries 2 --out o.txt"),
        "queries": ("synth mq --queries 3 --out o.txt", "synth mq --queries 2 --out o.txt"),
        "folds": ("synth mq --queries 6 --out o.txt", "synth mq --queries 6 --out o --folds 3"),
        "seed": ("synth mq --queries 2 --out o.txt", "synth mq --queries 2 --out o.txt --seed 1"),
    },
    "inspect": {"audit": ("inspect comparator.ordino", "inspect comparator.ordino --audit test.txt")},
    "doctor": {},
    "convert": {
        "split": ("convert train.txt a.txt", "convert train.txt a.txt b.txt --split 0.5"),
        "scaling": ("convert train.txt a.txt", "convert train.txt a.txt --scaling zscore"),
        "binarize": ("convert train.txt a.txt", "convert train.txt a.txt --binarize 2"),
        "drop_empty": ("convert empty.txt a.txt", "convert empty.txt a.txt --drop-empty"),
        "seed": ("convert train.txt a.txt b.txt --split 0.5", "convert train.txt a.txt b.txt --split 0.5 --seed 3"),
    },
    "train": {
        "ranker": (f"train train.txt {FIT} -o m", "train train.txt --ranker rank-svm -o m"),
        "out": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o n"),
        "param": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m -p alpha=7"),
        "valid": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --valid test.txt"),
        "scaling": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --scaling zscore"),
        "binarize": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --binarize 2"),
        "seed": ("train train.txt -r random-ranker -o m", "train train.txt -r random-ranker -o m --seed 4"),
    },
    "rank": {
        "out": ("rank linear.ordino test.txt", "rank linear.ordino test.txt --out s.txt"),
        "format": ("rank linear.ordino test.txt", "rank linear.ordino test.txt --format trec"),
    },
    "evaluate": {
        "qrels": ("evaluate --qrels qrels.txt --run run.txt", "evaluate --qrels fewer.txt --run run.txt"),
        "run": ("evaluate --qrels qrels.txt --run run.txt", "evaluate --qrels qrels.txt --run other-run.txt"),
        "metrics": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt -m p@3"),
        "profile": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt --profile sklearn"),
        "per_query": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt --per-query"),
        "complete": ("evaluate --qrels more.txt --run run.txt", "evaluate --qrels more.txt --run run.txt --complete"),
    },
    "explain": {
        "why": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --why 0 1"),
        "metric": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --metric p@1"),
        "profile": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --profile sklearn"),
        "repeats": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --repeats 2"),
        "top": ("explain linear.ordino", "explain linear.ordino --top 2"),
        "seed": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --seed 5"),
    },
    "rankers": {},
    "params": {},
    "warm-up": {"choices": ("warm-up random-ranker", "warm-up rank-svm --choices")},
    "bench": {
        "rankers": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -r single-feature"),
        "plan": (f"bench train.txt {RUN}", "bench --plan plan.toml --n-jobs 1"),
        "repeats": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --repeats 2"),
        "seed": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --seed 9"),
        "metrics": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -m p@3"),
        "profile": (f"bench train.txt {RUN} -m ndcg@3", f"bench train.txt {RUN} -m ndcg@3 --profile sklearn"),
        "select": (f"bench train.txt {RUN} -r prank", f"bench train.txt {RUN} -r prank --select p@1"),
        "param": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -p random-ranker.seed=3"),
        "grid": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --grid random-ranker.seed=3,4"),
        "folds": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --folds 4"),
        "out": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -o other.sqlite"),
        "name": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --name mine"),
    },
    "search": {
        name: (f"search train.txt {SEARCH}", f"search train.txt {SEARCH} {more}")
        for SEARCH in ("-r random-ranker --trials 2 --space seed=1..9 --folds 3 --n-jobs 1 -m map",)
        for name, more in {
            "trials": "--trials 3", "space": "--space seed=10..19", "param": "-p seed=3", "seed": "--seed 9",
            "metrics": "-m p@3", "profile": "--profile letor4 --metrics ndcg@3", "folds": "--folds 4",
            "out": "-o other.sqlite", "name": "--name mine",
        }.items()
    } | {
        "ranker": (f"search train.txt -r oap-bpm {DRAWN}", f"search train.txt -r prank {DRAWN}"),
        "repeats": (f"search train.txt -r prank {DRAWN}", f"search train.txt -r prank {DRAWN} --repeats 2"),
        "select": (f"search train.txt -r prank {DRAWN}", f"search train.txt -r prank {DRAWN} --select p@1"),
    },
    "compare": {
        "data": (f"{BOTH} --data test.txt", f"{BOTH} --data train.txt"),
        "qrels": ("compare run.txt other-run.txt --qrels qrels.txt", "compare run.txt other-run.txt --qrels fewer.txt"),
        "metrics": ("compare bench.sqlite RankNet LambdaMART", "compare bench.sqlite RankNet LambdaMART -m map"),
        "profile": (
            f"{BOTH} --data test.txt -m ndcg@5",
            f"{BOTH} --data test.txt -m ndcg@5 --profile sklearn",
        ),
        "test": ("compare bench.sqlite RankNet LambdaMART", "compare bench.sqlite RankNet LambdaMART --test paired-t"),
    },
    "report": {
        "format": ("report bench.sqlite", "report bench.sqlite --format csv"),
        "out": ("report bench.sqlite", "report bench.sqlite --out r.md"),
        "figures": ("report bench.sqlite", "report bench.sqlite --figures pictures"),
        "metrics": ("report bench.sqlite", "report bench.sqlite -m map"),
        "baseline": ("report bench.sqlite", "report bench.sqlite --baseline RankNet"),
        "test": ("report bench.sqlite", "report bench.sqlite --test paired-t"),
        "experiment": ("report two.sqlite", "report two.sqlite --experiment second"),
    },
    "reproduce": {
        "list_": ("reproduce ranknet.fig1", "reproduce --list"),
        "data": ("reproduce ranknet.table3 --data many/a", "reproduce ranknet.table3 --data many/b"),
        "quick": ("reproduce ranknet.table3 --data many/a", "reproduce ranknet.table3 --data many/a --quick"),
        "seed": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --seed 3"),
        "repeats": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --repeats 1"),
        "out": ("reproduce ranknet.fig1", "reproduce ranknet.fig1 --out pages"),
    },
}  # fmt: skip
TAKES_SECONDS = {"figures", "choices"}


@pytest.fixture
def place(folder):  # noqa: F811
    """More files than the examples of the help texts name."""
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
    return folder


def write_table(table: Any, path: str) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(table, path)


def result_of(words: str, place: Path, capsysbinary: Any) -> dict[str, Any]:
    """What a command prints and writes, without the times that it took."""
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    capsysbinary.readouterr()
    try:
        code = ordino(*words.format(fit=FIT).split())
    except SystemExit as stop:
        code = stop.code
    printed = capsysbinary.readouterr().out.decode()
    timed = words.startswith(("bench", "search"))  # whose tables have times; all else is in the store
    printed = "" if timed else "\n".join(line for line in printed.splitlines() if "seconds" not in line)
    written = {}
    for path in sorted(place.rglob("*")):
        if path.name.endswith(
            ("-wal", "-shm", ".kept.sqlite")
        ):  # of a store that was read; rankings have tests of their own
            path.unlink()
        elif path.is_file() and before.get(path) != path.stat().st_mtime_ns:
            written[path.name] = contents(path)
            path.unlink()
    return {"code": code, "printed": printed, "written": written}


def contents(path: Path) -> str:
    """A store by what its trials say and found; any other file by its bytes."""
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as connection:
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type='table'")]
        assert tables
        with Store(path) as store:
            told = ("experiment", "label", "params", "fold", "seed", "profile", "chosen_by", "test")
            return str([[getattr(trial, name) for name in told] for trial in store.trials()])
    return hashlib.sha256(path.read_bytes()).hexdigest()


def options_of(command: str) -> set[str]:
    own = {param.name for param in COMMANDS[command].params if param.param_type_name == "option"}
    return set() if command in OWN_TESTS else own - EVERYWHERE - LATER - (set(READ) if "one_list" in own else set())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_case(command):
    missing = options_of(command) - set(CASES.get(command, {})) - (JUDGED if command == "convert" else set())
    assert not missing, f"say in CASES which words make {', '.join(sorted(missing))} of {command} matter"


EVERY = [(command, option) for command, own in CASES.items() for option in own] + [("", option) for option in READ]


KNOWN: dict[str, dict[str, Any]] = {}
"""Results of words that several cases start from."""


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(*one, marks=pytest.mark.slow) if one[1] in TAKES_SECONDS else one for one in EVERY],
    ids=lambda value: value,
)
def test_every_option_reaches_what_it_names(command, option, place, capsysbinary):
    without, with_it = (CASES[command] if command else READ)[option]
    if without not in KNOWN:
        KNOWN[without] = result_of(without, place, capsysbinary)
        assert result_of(without, place, capsysbinary) == KNOWN[without], "the same words give the same result"
    first, second = KNOWN[without], result_of(with_it, place, capsysbinary)
    allowed = {0, 1} if option == "one_list" else {0}
    assert {first["code"], second["code"]} <= allowed
    assert first != second
