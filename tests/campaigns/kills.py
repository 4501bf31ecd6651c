"""kill -9 of `ordino bench` at random moments: no finished trial is lost, doubled or changed.

Right before each kill the keys in the store are read as another program would; all of them must be there afterwards,
with the same results. The next run goes on from that store. A store that has all its trials is compared with that of a
run that nobody disturbed, then an empty one follows. Folders of killed runs must be removed by the next run.

    python tests/campaigns/kills.py [--long] [--record] [--keep FILE]
"""

import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import ordino.cli.app
import ordino.experiment.report.board
import ordino.experiment.report.text
import ordino.experiment.run
from campaigns.ledger import Kept, Outcome, main
from ordino import synthetic, write_letor

SHORT, LONG, PART, TRIALS = 5, 300, 30, 303
BENCH = (
    *("bench", "data.txt", "--rankers", "random-ranker,linear-regression-ranker", "--repeats", "100"),
    *("--folds", "3", "--quiet", "--out"),
)


def start(folder: Path, store: Path, n_jobs: int) -> BaseProcess:
    """A run in a process of its own, forked from this one, in which all modules are loaded already."""
    process = get_context("fork").Process(target=bench, args=(folder, [*BENCH, str(store), "--n-jobs", str(n_jobs)]))
    process.start()
    return process


def bench(folder: Path, words: list[str]) -> None:
    """The command, with its own place for temporary files and nothing to say."""
    os.chdir(folder)
    tempfile.tempdir = str(folder / "temporary")
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    ordino.cli.main(words)


def contents(store: Path) -> dict[str, str]:
    """What is in a store: by trial a hash of all its results, times aside."""
    if not store.exists():
        return {}
    question = (
        "SELECT key, fold, label, seed, params, test, valid, query_ids, "
        "(SELECT group_concat(part || metric || hex(numbers)) FROM query_values WHERE trial = number) FROM trials"
    )
    try:
        with closing(sqlite3.connect(store, timeout=30)) as connection:
            rows = connection.execute(question).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # the run has not made it yet
            return {}
        raise
    assert len({row[0] for row in rows}) == len(rows), "a trial is in the store twice"
    return {row[0]: sha256(repr(row).encode()).hexdigest() for row in rows}


def kill(wanted: int, seed: int) -> dict[str, Any]:
    """Kill runs until there were enough; what was counted."""
    rng, problems = random.Random(seed), list[str]()
    counts = dict.fromkeys(("kills", "among trials", "stores", "lost", "changed", "failed", "left"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "temporary").mkdir()
        write_letor(synthetic("mq", queries=30, seed=1), folder / "data.txt")
        whole = folder / "whole.sqlite"
        began = time.perf_counter()
        start(folder, whole, 1).join()
        seconds, expected = time.perf_counter() - began, contents(whole)
        assert len(expected) == TRIALS, f"the undisturbed run made {len(expected)} trials"
        store, seen = folder / "store0.sqlite", dict[str, str]()
        while counts["kills"] < wanted:
            process = start(folder, store, 2 if rng.random() < 0.1 else 1)
            moment = began_at = time.perf_counter()
            if rng.random() < 0.8:  # among the trials, not while Python starts
                while process.is_alive() and len(contents(store)) <= len(seen):
                    time.sleep(0.01)
                moment = time.perf_counter()
            process.join(rng.uniform(0, 0.1 * seconds))
            if process.is_alive():
                seen |= contents(store)
                process.kill()
                process.join()
                counts["kills"] += 1
                counts["among trials"] += moment > began_at
            found = contents(store)
            lost, changed = set(seen) - set(found), [key for key in found if found[key] != expected.get(key)]
            counts["lost"] += len(lost)
            counts["changed"] += len(changed)
            if lost or changed:
                problems.append(f"after {counts['kills']} kills {len(lost)} trials lost, {len(changed)} changed")
            seen = found
            if len(found) == TRIALS or process.exitcode not in (0, -signal.SIGKILL):
                counts["stores"] += 1
                if process.exitcode not in (0, -signal.SIGKILL):
                    counts["failed"] += 1
                    problems.append(f"a run that goes on ended with {process.exitcode}")
                store, seen = folder / f"store{counts['stores']}.sqlite", {}
        time.sleep(2)  # workers notice that their run is gone
        for left in (folder / "temporary").iterdir():
            os.utime(left, (0, 0))  # as if the next run came later: a folder without a lock is given a minute
        start(folder, folder / "last.sqlite", 1).join()
        left_over = sorted(str(path.relative_to(folder)) for path in (folder / "temporary").iterdir())
        counts["left"] = len(left_over)
        problems += [f"{path} was left" for path in left_over]
    return {**counts, "stores": counts["stores"] + 1, "problems": problems}


def campaign(long: bool, kept: Kept | None = None) -> Outcome:
    """Kill runs in parts, each with stores of its own."""
    kept, sizes = kept or Kept(), [PART] * (LONG // PART) if long else [SHORT]
    parts = [kept.once(f"{n} kills, seed {seed}", partial(kill, n, seed)) for seed, n in enumerate(sizes)]
    n = {name: sum(part[name] for part in parts) for name in parts[0] if name != "problems"}
    tried = (
        f"{n['kills']} kill -9 of `ordino bench`, {n['among trials']} of them among the trials of {n['stores']} stores"
    )
    return Outcome(
        "killed runs",
        tried=tried,
        failures={
            "trials lost": n["lost"],
            "doubled or changed": n["changed"],
            "runs that could not go on": n["failed"],
            "folders left": n["left"],
        },
        problems=[problem for part in parts for problem in part["problems"]],
    )


if __name__ == "__main__":
    main(campaign, in_parts=True)
