"""Every ranker by its defaults, and the best of 20 settings that Optuna draws, on validation parts alone.

How defaults are chosen: a change of a default is tried on the collection below, on validation parts only, and is made
if the mean over the sets of the ratio (default / tuned) rises and no set loses more than two points of it. Test parts
are never looked at. The collection differs in shape on purpose: the first fold of MQ2008 and MQ2007 (if ORDINO_DATA
names their folder), and made sets: like MQ2007, like TD2003, like MSLR, few queries, many documents a query, sparse
relevance, noisy labels, 5 and 700 features.

``--times`` measures what a fit with defaults takes on the first fold of MQ2008: processor time of all threads, after a
fit on 30 queries that compiles what must be compiled, beside LambdaMART in the same process. No default may take more
than 30 times as long as LambdaMART's.

Every ranker on every set is a line of a JSON file, so that a run that was stopped goes on where it was.

    ORDINO_DATA=folds python benchmarks/quality_defaults.py --out docs/results/defaults.md
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import ordino
from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.experiment.run.tuning import draw
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class
from shapes import SEED, SHAPES

METRIC = "ndcg@10"
TIMED, TIMED_ON, BESIDE, MOST_TIMES = "times", "MQ2008", "lambda-mart", 30
LEFT_OUT = ("random-ranker", "single-feature", "nested-ranker", "rank-aggregation", "auto")
Parts = tuple[Dataset, Dataset]


def split(name: str) -> Callable[[], Parts]:
    def load() -> Parts:
        n_queries, make = SHAPES[name]
        train, valid = make(n_queries).split(0.75, seed=SEED)
        return train, valid

    return load


def letor(name: str) -> Callable[[], Parts]:
    def load() -> Parts:
        fold = read_folds(Path(os.environ["ORDINO_DATA"]) / name)[0]
        assert fold.valid is not None
        return fold.train, fold.valid

    return load


COLLECTION: dict[str, Callable[[], Parts]] = {
    **({name: letor(name) for name in ("MQ2008", "MQ2007")} if "ORDINO_DATA" in os.environ else {}),
    **{name: split(name) for name in SHAPES if name != "5 documents a query"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=Path("defaults.jsonl"))
    parser.add_argument("--sets", default=",".join(COLLECTION), help="separated by commas")
    parser.add_argument("--rankers", default=",".join(name for name in RANKERS if name not in LEFT_OUT))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--times", action="store_true", help="measure the time of fits instead")
    parser.add_argument("--stop-after", type=float, default=np.inf, help="start nothing new after so many minutes")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.stop_after
    done = [json.loads(line) for line in args.kept.read_text().splitlines()] if args.kept.exists() else []
    known = {(row["set"], row["ranker"]) for row in done}
    for name in args.rankers.split(",") if args.times else ():
        if (TIMED, name) not in known and time.monotonic() < until:
            done.append({"set": TIMED, "ranker": name} | timed(name, *COLLECTION[TIMED_ON]()))
            with args.kept.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    for name in args.sets.split(",") if not args.times else ():
        parts = None
        for ranker in args.rankers.split(","):
            if (name, ranker) in known or time.monotonic() > until:
                continue
            parts = parts or COLLECTION[name]()
            row = {"set": name, "ranker": ranker, "trials": args.trials} | measured(ranker, *parts, args.trials)
            done.append(row)
            with args.kept.open("a") as file:
                file.write(json.dumps(row) + "\n")
    lines = [*HEADER, "", f"{date.today().isoformat()}, seed {SEED}.", "", *table(done)]
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("\n".join([*lines, ""]))


def measured(name: str, train: Dataset, valid: Dataset, n_trials: int) -> dict[str, float]:
    """The defaults' measure and seconds of processor time, and the best measure of all trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cls = ranker_class(name)
    space = {key: known.space for key, known in parameters_of(cls).items() if known.space is not None}

    def value(params: dict[str, Any]) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(cls(**params).fit(train, valid=valid).score(valid))
        except ordino.errors.OrdinoError:
            return float("nan")

    begun = time.process_time()
    default = value({})
    seconds = time.process_time() - begun
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=SEED))
    best = default
    for _ in range(n_trials if space else 0):
        trial = study.ask()
        reached = value({key: draw(trial, key, one) for key, one in space.items()})
        study.tell(trial, reached if np.isfinite(reached) else 0.0)
        best = float(np.nanmax([best, reached]))
    return {"default": default, "tuned": best, "seconds": round(seconds, 2)}


def timed(name: str, train: Dataset, valid: Dataset) -> dict[str, float]:
    """Seconds of processor time of a fit with defaults, and of one of LambdaMART right after it."""
    small = train.select_queries(np.arange(30))
    seconds = {}
    for key, one in (("seconds", name), (BESIDE, BESIDE)):
        cls = ranker_class(one)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cls().fit(small, valid=valid.select_queries(np.arange(10)))
            begun = time.process_time()
            cls().fit(train, valid=valid)
        seconds[key] = round(time.process_time() - begun, 3)
    return seconds


def alone(done: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each set and a column for each ranker, of what was run without trials."""
    if not done:
        return
    names = list(dict.fromkeys(row["ranker"] for row in done))
    found = {(row["set"], row["ranker"]): f"{row['default']:.4f}" for row in done}
    yield from ("", "## Defaults alone", "", f"{METRIC} as above, seed {SEED}, without trials.", "")
    yield f"| set | {' | '.join(names)} |"
    yield f"|---|{'---:|' * len(names)}"
    for one in dict.fromkeys(row["set"] for row in done):
        yield f"| {one} | {' | '.join(found.get((one, name), '') for name in names)} |"


HEADER = (
    "# Defaults against tuned",
    "",
    f"Made by `benchmarks/quality_defaults.py`, which says how defaults are chosen. {METRIC} on the validation part",
    "that also chose epochs and rounds: of the defaults, and the best of the defaults and as many settings as the",
    "table says, drawn by Optuna from the ranker's own search space. Seconds: processor time of one fit with defaults,",
    "compiling included where it was not done before. A ranker or set that is missing was not run.",
)


def table(done: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each ranker and set, and the times if they were measured."""
    yield "| set | ranker | defaults | tuned | defaults / tuned | trials | seconds |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row in (one for one in done if one["set"] != TIMED and one["trials"]):
        ratio = row["default"] / row["tuned"] if row["tuned"] else float("nan")
        cells = [f"{row['default']:.4f}", f"{row['tuned']:.4f}", f"{100 * ratio:.1f} %", f"{row['trials']}"]
        yield f"| {row['set']} | {row['ranker']} | {' | '.join(cells)} | {row['seconds']:.1f} |"
    yield from alone([row for row in done if row["set"] != TIMED and not row["trials"]])
    times = sorted((row["seconds"] / row[BESIDE], row["ranker"], row) for row in done if row["set"] == TIMED)
    if not times:
        return
    yield from ("", f"## Time of a fit with defaults on {TIMED_ON}, first fold", "")
    yield f"Processor time of all threads, compiled before, beside a fit of {BESIDE} in the same process."
    slow = [f"{name} ({ratio:.0f})" for ratio, name, _ in times if ratio > MOST_TIMES]
    yield f"More than {MOST_TIMES} times as long: {', '.join(slow) or 'none'}."
    yield from ("", f"| ranker | seconds | {BESIDE} | times |", "|---|---:|---:|---:|")
    for ratio, name, row in times:
        yield f"| {name} | {row['seconds']:.2f} | {row[BESIDE]:.2f} | {ratio:.1f} |"


if __name__ == "__main__":
    main()
