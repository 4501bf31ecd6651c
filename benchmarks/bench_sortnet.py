"""SortNet, 20 iterations on synthetic `td` (30 + 10 queries of 1,000 documents): seconds, and where they go.

Both settings: the defaults (Adam), and the paper's (full batches with the adaptive rate).

    python benchmarks/bench_sortnet.py [--record]
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from typing import Any

from ordino.data.synthetic import synthetic
from ordino.rankers.sortnet import SortNet
from written import add_record, written

PARTS = {"_sorted_into": "sorting", "_trained": "training"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 iterations")
    add_record(parser)
    args = parser.parse_args()
    with written("bench_sortnet", record=args.record):
        measure(quick=args.quick)


def measure(*, quick: bool) -> None:
    train, valid = synthetic("td", queries=40, seed=0).split(0.75)
    SortNet(max_iter=2, epochs=1).fit(train, valid=valid)  # compile
    print("| setting | iterations | pairs | comparisons | seconds | sorting | training | MAP on validation |")
    print("|---|---|---|---|---|---|---|---|")
    for name, make in {"defaults": SortNet, "as published": SortNet.as_published}.items():
        ranker = make(max_iter=3 if quick else 20, metric="map")
        seconds: dict[str, float] = defaultdict(float)
        for part in PARTS:
            setattr(ranker, part, timed(getattr(ranker, part), PARTS[part], seconds))
        start = time.perf_counter()
        ranker.fit(train, valid=valid)
        total = time.perf_counter() - start
        rows = ranker.history_
        comparisons = sum(row["train_comparisons"] + row["valid_comparisons"] for row in rows)
        best = max(row["valid"] for row in rows)
        print(
            f"| {name} | {len(rows)} | {rows[-1]['train_known']:,} | {comparisons:,} | {total:.1f} "
            f"| {seconds['sorting']:.1f} | {seconds['training']:.1f} | {best:.3f} |",
            flush=True,
        )


def timed(function: Any, part: str, seconds: dict[str, float]) -> Any:
    def run(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            seconds[part] += time.perf_counter() - start

    return run


if __name__ == "__main__":
    main()
