"""AutoRanker against each of its first members alone, on made data sets of many shapes.

Is the whole ever worse than its best part? On each shape AutoRanker learns with all first members and nothing more
(``trials=6``, so that the clock does not matter). Then every member that it tried learns alone, exactly as it did
inside: ``AutoRanker(plan=...)`` with this one trial, its fold models averaged. All are measured on queries that nothing
was learned from. The best member is the best *on these queries*, which nobody could have chosen, so the comparison
leans towards the member.

Every shape is a line of ``benchmarks/kept/members.jsonl``, which is committed: what is there is not run again.

    python benchmarks/quality_members.py --out docs/results/members.md
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import ordino
from ordino.data.dataset import Dataset
from shapes import SEED, SHAPES

METRIC, TRIALS = "ndcg@10", 6
TEST_QUERIES, TEST_DOCS = 400, 100_000  # at most
KEPT = Path(__file__).parent / "kept" / "members.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=KEPT, help="the rows that are there, and where new ones go")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="separated by commas")
    parser.add_argument("--smaller", type=int, default=1, help="take so many times fewer queries, but at least 20")
    parser.add_argument("--stop-after", type=float, default=np.inf, help="start nothing new after so many minutes")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.stop_after
    done = [json.loads(line) for line in args.kept.read_text().splitlines()] if args.kept.exists() else []
    for name in args.shapes.split(","):
        if name not in {row["shape"] for row in done} and time.monotonic() < until:
            done.append({"shape": name} | measured(*parts(name, smaller=args.smaller)))
            with args.kept.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    done.sort(key=lambda row: list(SHAPES).index(row["shape"]))
    lines = [*HEADER, "", f"{date.today().isoformat()}, seed {SEED}.", "", *table(done)]
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("\n".join([*lines, ""]))


def parts(name: str, *, smaller: int = 1) -> tuple[Dataset, Dataset]:
    """The queries to learn from and those to measure on; a part of both if that must be quick."""
    n_queries, make = SHAPES[name].n_queries, SHAPES[name].make
    docs_a_query = make(4).n_docs // 4
    n_test = max(min(TEST_QUERIES, TEST_DOCS // docs_a_query) // smaller, 20)
    n_train = max(n_queries // smaller, 20)
    whole = make(n_train + n_test)
    numbers = np.arange(whole.n_queries)
    return whole.select_queries(numbers[:n_train]), whole.select_queries(numbers[n_train:])


def measured(train: Dataset, test: Dataset, *, trials: int = TRIALS) -> dict[str, Any]:
    """The measure of the whole and of each member on the test queries, and how the whole stands to the best of them."""
    begun = time.process_time()
    ranker = ordino.AutoRanker(trials=trials, seed=SEED, n_jobs=1).fit(train)
    seconds = time.process_time() - begun
    whole = per_query(ranker, test)
    alone = {}
    for row in ranker.plan_["trials"]:
        plan = ranker.plan_ | {"trials": [row], "first": 1}
        alone[row["ranker"]] = per_query(ordino.AutoRanker(plan=plan, n_jobs=1).fit(train), test)
    best = max(alone, key=lambda name: float(np.nanmean(alone[name])))
    gains = (whole - alone[best])[np.isfinite(whole)]
    return {
        "train": train.n_queries,
        "test": test.n_queries,
        "whole": float(np.nanmean(whole)),
        "expected": [ranker.quality_["low"], ranker.quality_["high"]],
        "alone": {name: float(np.nanmean(values)) for name, values in alone.items()},
        "weights": [[row["ranker"], round(row["weight"], 3)] for row in ranker.members_],
        "best": best,
        "gain": float(gains.mean()),
        "error": float(gains.std(ddof=1) / np.sqrt(len(gains))),
        "seconds": round(seconds, 1),
    }


def per_query(ranker: ordino.AutoRanker, test: Dataset) -> np.ndarray:
    return np.asarray(ordino.evaluate(test, ranker.predict(test), metrics=METRIC).per_query[METRIC])


HEADER = (
    "# AutoRanker against its members alone",
    "",
    f"Made by `benchmarks/quality_members.py`, which says how. {METRIC} on test queries that nothing was learned from.",
    "The best member is the best on these queries. The difference is AutoRanker minus that member, with its standard",
    "error over queries; 'held' says whether AutoRanker is no more than one standard error below. Members: what got a",
    "weight.",
)


def table(done: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each shape."""
    yield "| shape | queries learned, test | AutoRanker | best member | alone | difference | held | members | seconds |"
    yield "|---|---:|---:|---|---:|---:|---|---|---:|"
    for row in done:
        members = ", ".join(f"{name} {weight:.2f}" for name, weight in row["weights"])
        held = "yes" if row["gain"] >= -row["error"] else "**no**"
        yield (
            f"| {row['shape']} | {row['train']}, {row['test']} | {row['whole']:.4f} | {row['best']} | "
            f"{row['alone'][row['best']]:.4f} | {row['gain']:+.4f} ± {row['error']:.4f} | {held} | {members} | "
            f"{row['seconds']:.0f} |"
        )


if __name__ == "__main__":
    main()
