"""AutoRanker against three boosters that get the same time, on MQ2007 and MQ2008, profile directranker.

Reads the folder named by ORDINO_DATA. On every fold, each system gets so many minutes. LightGBM (lambdarank), XGBoost
(rank:ndcg) and CatBoost (YetiRank) try settings drawn by Optuna until the time is over, in two forms:

- tuned: trained on the training part, rounds and setting chosen on the validation part;
- cross-fitted, the form that AutoRanker has too: both parts pooled, 4 models, each stopped on the queries that it has
  not seen, the setting chosen by the measure of all these queries, the test scores the mean of the models' z-scores.

A first trial is always finished, even if it takes longer than the budget. Of several budgets, a booster's search goes
on from one to the next: what it has after one minute is what a search of one minute has. AutoRanker, which plans by its
time, learns anew for each. Test parts are only measured. Every system on every fold with every budget is a row of
``benchmarks/kept/auto.jsonl``, which is committed: what is there with the same budget, version and seed is not run
again, so that the comparison, which takes hours, grows over many runs. Of several versions of a system, the page shows
the newest.

    ORDINO_DATA=folds python benchmarks/quality_auto.py --minutes 1,5,15 --out docs/results/auto.md
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kept_rows import Key, Row, add_row, read_rows
from ordino.data.folds import Fold, read_folds
from ordino.ensemble.clock import Clock
from ordino.ensemble.combining import standardized
from ordino.ensemble.views import pooled
from ordino.experiment.compare.significance import paired_t
from ordino.rankers.auto import AutoRanker
from quality_combination import Candidate, catboost, lightgbm, measured, quality, xgboost

PROFILE, MEASURES = "directranker", ("ndcg@10", "map")
SETS = ("MQ2008", "MQ2007")
ROUNDS, FOLDS, SEED = 500, 4, 0
FULL = 5  # folds of a collection
AUTO = "AutoRanker"
KEPT = Path(__file__).parent / "kept" / "auto.jsonl"
EARLIER = KEPT.with_name("auto_2026-11-17.md")
Scores = NDArray[np.float64]
Learn = Callable[[Fold, Sequence[float], str], Iterator[tuple[float, Candidate]]]
"""Seconds used, and what a system has, after each of some budgets in minutes, which rise, by a kind of clock."""
Boost = Callable[[Any, Fold, int], Candidate]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=KEPT, help="the rows that are there, and where new ones go")
    parser.add_argument("--minutes", default="1", help="that each system gets on each fold; several with commas")
    parser.add_argument(
        "--clock", choices=("wall", "processor"), default="wall", help="what the minutes are counted by"
    )
    parser.add_argument("--sets", default=",".join(SETS), help="separated by commas")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="separated by commas")
    parser.add_argument("--folds", default="1,2,3,4,5", help="numbers, separated by commas")
    parser.add_argument("--stop-after", type=float, default=np.inf, help="start nothing new after so many minutes")
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    until = time.monotonic() + 60 * args.stop_after
    numbers = [int(number) for number in args.folds.split(",")]
    minutes = sorted(float(number) for number in args.minutes.split(","))
    for collection in args.sets.split(","):
        for name in args.systems.split(","):
            for number in numbers:
                if time.monotonic() < until:
                    fold = read_folds(Path(folder) / collection)[number - 1]
                    keep(args.kept, collection, fold, name, minutes, args.clock)
    rows = list(read_rows(args.kept).values())
    lines = [*HEADER, *(("", f"{date.today().isoformat()}, seed {SEED}, {told_versions(rows)}.") if rows else ())]
    for budget in sorted({row.key.budget for row in rows}, key=lambda told: float(told.split()[0])):
        lines += [line for collection in SETS for line in table(rows, budget, collection)]
    lines += ["", *EARLIER_HEADER, "", *EARLIER.read_text(encoding="utf-8").rstrip().splitlines()]
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("\n".join([*lines, ""]))


def keep(path: Path, collection: str, fold: Fold, name: str, minutes: Sequence[float], clock: str) -> None:
    """Train a system on a fold with each budget and write it down, unless that was done before."""
    keys = {
        each: Key(told_budget(each, clock), collection, fold.name, name, version_of(name), SEED) for each in minutes
    }
    done = read_rows(path)
    missing = [each for each in minutes if keys[each] not in done]
    for each, (seconds, chosen) in zip(missing, SYSTEMS[name](fold, missing, clock), strict=True):
        test, now = measured(fold.test, chosen.test), datetime.now(UTC).isoformat(timespec="seconds")
        add_row(path, Row(keys[each], now, seconds, chosen.params["trials"], dict(test), test.per_query))
        print(collection, fold.name, name, f"{seconds:.0f} s", chosen.params["trials"], file=sys.stderr, flush=True)


def told_budget(minutes: float, clock: str) -> str:
    """The heading of a budget."""
    return f"{minutes:g} {'minute' if minutes == 1 else 'minutes'} of {clock} time"


def version_of(name: str) -> str:
    """The version of the library that a system is of."""
    return str(import_module("ordino" if name == AUTO else name.split()[0].lower()).__version__)


def told_versions(rows: list[Row]) -> str:
    """Every library with the versions that rows were made with."""
    pairs = {(row.key.system.split()[0], row.key.version) for row in rows}
    return ", ".join(f"{library} {version}" for library, version in sorted(pairs))


def auto(fold: Fold, minutes: Sequence[float], clock: str) -> Iterator[tuple[float, Candidate]]:
    assert fold.valid is not None
    for each in minutes:
        begun = Clock(None, clock)
        ranker = AutoRanker(minutes=each, clock=clock, profile=PROFILE, seed=SEED, n_jobs=1)
        ranker.fit(fold.train, valid=fold.valid)
        told = {
            "trials": len(ranker.plan_["trials"]),
            "members": len(ranker.members_),
            "quality": ranker.quality_["mean"],
        }
        scores = ranker.predict(fold.test)
        yield begun.used, Candidate(told, np.zeros(0), scores)


def tuned(boost: Boost) -> Learn:
    """Settings that Optuna draws, on the training part, chosen on the validation part."""

    def learn(fold: Fold, minutes: Sequence[float], clock: str) -> Iterator[tuple[float, Candidate]]:
        assert fold.valid is not None
        valid = fold.valid
        return best_of(lambda trial: boost(trial, fold, ROUNDS), lambda one: quality(valid, one.valid), minutes, clock)

    return learn


def crossfitted(boost: Boost) -> Learn:
    """The same on both parts pooled, with as many models as folds."""

    def learn(fold: Fold, minutes: Sequence[float], clock: str) -> Iterator[tuple[float, Candidate]]:
        whole = pooled(fold.train, fold.valid)
        number = np.random.default_rng(SEED).permutation(whole.n_queries) % FOLDS
        parts = [
            Fold(str(k), whole.select_queries(number != k), whole.select_queries(number == k), fold.test)
            for k in range(FOLDS)
        ]

        def one(trial: Any) -> Candidate:
            found = [boost(trial, part, ROUNDS) for part in parts]
            unseen = np.empty(whole.n_docs)
            for k, candidate in enumerate(found):
                unseen[np.repeat(number == k, whole.counts)] = candidate.valid
            test = np.mean([standardized(candidate.test, fold.test.offsets) for candidate in found], axis=0)
            return Candidate({}, unseen, test)

        return best_of(one, lambda candidate: quality(whole, candidate.valid), minutes, clock)

    return learn


def best_of(
    try_one: Callable[[Any], Candidate], judge: Callable[[Candidate], float], minutes: Sequence[float], clock: str
) -> Iterator[tuple[float, Candidate]]:
    """The best candidate that Optuna finds in each budget, all in one search."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=SEED))
    best, reached, n_trials, begun = None, -np.inf, 0, Clock(None, clock)
    for each in minutes:
        while best is None or begun.used < 60 * each:
            trial = study.ask()
            candidate = try_one(trial)
            value = judge(candidate)
            study.tell(trial, value)
            n_trials += 1
            if best is None or value > reached:
                best, reached = candidate._replace(params=dict(trial.params)), value
        yield begun.used, best._replace(params=best.params | {"trials": n_trials})


SYSTEMS: dict[str, Learn] = {
    AUTO: auto,
    "CatBoost cross-fitted": crossfitted(catboost),
    "LightGBM cross-fitted": crossfitted(lightgbm),
    "XGBoost cross-fitted": crossfitted(xgboost),
    "CatBoost tuned": tuned(catboost),
    "LightGBM tuned": tuned(lightgbm),
    "XGBoost tuned": tuned(xgboost),
}
HEADER = (
    "# AutoRanker against boosters with the same time",
    "",
    "Made by `benchmarks/quality_auto.py`, which says how. Profile `directranker`: labels are relevant or not, queries",
    "without a relevant document are left out. Every system gets the same time on every fold, on one thread; the",
    "heading says how much, and whether it was counted by the wall clock or as processor time of the process. A",
    "system's row has the folds that it was run on, and is compared with AutoRanker on these folds: the difference is",
    "AutoRanker minus the system, with its standard error; p is of a paired t-test over the test queries, two-sided,",
    "not corrected. Nothing was chosen on test parts. Trials: settings tried, mean over folds. AutoRanker ends before",
    "its time where further trials bring nothing. The machine did other work at the same time: where the wall clock",
    "counts, on another core than the one that these fits had for themselves. An earlier form of AutoRanker, which",
    "gave weight to members that are behind the best, had been measured on these test parts before; the change was",
    "chosen on made data and on validation parts.",
)

EARLIER_HEADER = (
    "## The run of 2026-11-17",
    "",
    "Of this run the tables alone were kept, made in the same way: AutoRanker 0.2.0, lightgbm 4.7.0, xgboost 3.2.0,",
    "catboost 1.2.10, optuna 5.0.0.",
)


def table(rows: list[Row], budget: str, collection: str) -> Iterator[str]:
    """A Markdown table of the systems that were run on a collection."""
    chosen = [row for row in rows if (row.key.budget, row.key.dataset) == (budget, collection)]
    found = {name: {row.key.fold: row for row in chosen if row.key.system == name} for name in SYSTEMS}
    ours = found[AUTO]
    yield from ("", f"## {collection}, {budget}", "")
    if not ours:
        yield "Not run yet."
        return
    yield "| system | folds | NDCG@10 | difference | p | MAP | difference | p | seconds a fold | trials |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, ran in found.items():
        common = [fold for fold in sorted(ran) if fold in ours]
        if not common:
            continue
        cells = []
        for measure in MEASURES:
            cells.append(f"{np.mean([ran[fold].test[measure] for fold in common]):.4f}")
            left, right = (np.concatenate([one[fold].per_query[measure] for fold in common]) for one in (ours, ran))
            gains = (left - right)[np.isfinite(left - right)]
            told = [
                f"{gains.mean():+.4f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.4f}",
                f"{paired_t(left, right).p:.3f}",
            ]
            cells += ["", ""] if name == AUTO else told
        seconds = np.mean([ran[fold].seconds for fold in common])
        n_trials = np.mean([ran[fold].trials for fold in common])
        yield f"| {name} | {len(common)} | {' | '.join(cells)} | {seconds:.0f} | {n_trials:.1f} |"
    yield from not_run({name: len(ran) for name, ran in found.items()})


def not_run(n_folds: dict[str, int]) -> Iterator[str]:
    """What is missing in a table, given how many folds each system was run on."""
    fewer = [f"{name} on {FULL - n} of {FULL} folds" for name, n in n_folds.items() if 0 < n < FULL]
    missing = [*fewer, *(name for name, n in n_folds.items() if not n)]
    if missing:
        yield from ("", *wrap(f"Not run: {', '.join(missing)}.", 120))


if __name__ == "__main__":
    main()
