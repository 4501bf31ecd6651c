"""How good the rankers that evolve are on the official folds of MQ2007 and MQ2008, beside the best single feature.

Reads the folder named by ORDINO_DATA (MQ2007/Fold1..5 and MQ2008/Fold1..5). MAP is maximized on the training part, the
generation is chosen on the validation part, the table has MAP on the test part, all in profile letor4. Prints a
Markdown table; ``--out docs/results/evolved.md`` writes it, ``--quick`` runs one fold with few generations.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, read_folds
from ordino.evolve import MUTATIONS
from ordino.metrics import evaluate
from ordino.ranker import Ranker
from ordino.rankers.baselines import SingleFeature
from ordino.rankers.evolution import CMARank, ESRank, IESRRank, IESVMRank, SwarmRank
from ordino.rankers.gp import GPRank
from ordino.rankers.rankde import RankDE

PROFILE = "letor4"

RESTARTS = 3

RANKERS: Mapping[str, Callable[[int, int], Ranker | list[Ranker]]] = {  # of several, the best on validation is taken
    "SingleFeature": lambda share, seed: SingleFeature(metric="map", profile=PROFILE),  # noqa: ARG005
    "RankDE": lambda share, seed: RankDE(generations=1000 // share, profile=PROFILE, seed=seed),
    "SwarmRank": lambda share, seed: SwarmRank(generations=300 // share, profile=PROFILE, seed=seed),
    "CMARank": lambda share, seed: CMARank(generations=200 // share, profile=PROFILE, seed=seed),
    "ESRank": lambda share, seed: ESRank(generations=1300 // share, profile=PROFILE, seed=seed),
    "ESRank, mutation chosen": lambda share, seed: [
        ESRank(generations=1300 // share, mutation=mutation, profile=PROFILE, seed=RESTARTS * seed + restart)
        for mutation in MUTATIONS
        for restart in range(RESTARTS)
    ],
    "IESRRank": lambda share, seed: IESRRank(generations=1300 // share, profile=PROFILE, seed=seed),
    "IESVMRank": lambda share, seed: IESVMRank(generations=1300 // share, profile=PROFILE, seed=seed),
    "GPRank": lambda share, seed: GPRank(generations=40 // share, profile=PROFILE, seed=seed),
}
AT_LEAST = {("RankDE", "MQ2007"): 0.455, ("RankDE", "MQ2008"): 0.465}


class Result(NamedTuple):
    """A ranker on the folds of a data set."""

    ranker: str
    data: str
    test: float
    valid: float
    train: float
    seconds: float  # of one fit
    by_seed: list[float]  # test


def mean_map(ranker: Ranker, rows: Dataset) -> float:
    return evaluate(rows, ranker.predict(rows), metrics=["map"], profile=PROFILE)["map"]


def run(name: str, data: str, folds: list[Fold], share: int, n_seeds: int) -> Result:
    values: dict[str, list[float]] = {"test": [], "valid": [], "train": []}
    seconds = []
    for seed, fold in product(range(n_seeds), folds):
        made = RANKERS[name](share, seed)
        start = time.perf_counter()
        candidates = [one.fit(fold.train, valid=fold.valid) for one in (made if isinstance(made, list) else [made])]
        assert fold.valid is not None, "the official folds have a validation part"
        ranker = candidates[int(np.argmax([mean_map(one, fold.valid) for one in candidates]))]
        seconds.append(time.perf_counter() - start)
        for part, found in values.items():
            rows = getattr(fold, part)
            found.append(mean_map(ranker, rows))
    by_seed = np.reshape(values["test"], (n_seeds, len(folds))).mean(axis=1).tolist()
    test, valid, train = (float(np.mean(found)) for found in values.values())
    result = Result(name, data, test, valid, train, float(np.mean(seconds)), by_seed)
    print(f"{name} {data}: test {result.test:.4f}, {result.seconds:.1f} s a fit", file=sys.stderr, flush=True)
    return result


def table(results: list[Result]) -> str:
    lines = [
        "| ranker | data | test MAP | of the seeds | over single feature | asked for | valid | train | seconds a fit |"
    ]
    lines.append("|---|---|---:|---|---:|---:|---:|---:|---:|")
    single = {r.data: r.test for r in results if r.ranker == "SingleFeature"}
    for r in results:
        over = "" if r.ranker == "SingleFeature" or r.data not in single else f"{r.test - single[r.data]:+.4f}"
        asked = AT_LEAST.get((r.ranker, r.data), "")
        lines.append(
            f"| {r.ranker} | {r.data} | {r.test:.4f} | {min(r.by_seed):.4f} to {max(r.by_seed):.4f} | {over} | {asked} "
            f"| {r.valid:.4f} | {r.train:.4f} | {r.seconds:.1f} |"
        )
    return "\n".join(lines)


def head(command: str, title: str, n_seeds: int) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("ordino", "numpy", "numba", "cmaes"))
    return f"""# {title}

Written by `{command}` on {date.today().isoformat()} with Python {platform.python_version()}, {packages};
seeds 0 to {n_seeds - 1}.
Means over the five official folds, profile `{PROFILE}`. MAP is maximized on the training part; the individual is chosen
on the validation part among the best of each generation. Generations: RankDE 1000 of 50 (the paper has 10,000),
SwarmRank 300 of 50, CMARank 200 of 50, ES-Rank and its kin 1300 of 1, GPRank 40 of 200. The row "mutation chosen"
takes, in each fold, the best on validation of {len(MUTATIONS)} mutations x {RESTARTS} restarts. LETOR 4.0 publishes
0.4645 and 0.4725 for RankSVM. The machine did other work at the same time, so the seconds are no benchmark.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one fold, few generations: does it run?")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0")
    parser.add_argument("--rankers", nargs="*", default=list(RANKERS), help="only these")
    parser.add_argument("--data", nargs="*", default=["MQ2008", "MQ2007"], help="only these")
    parser.add_argument("--out", type=Path, help="a Markdown file to write")
    args = parser.parse_args()
    if "ORDINO_DATA" not in os.environ:
        sys.exit("ORDINO_DATA is not set; name the folder that holds MQ2007 and MQ2008")
    results = []
    for data in args.data:
        folds = list(read_folds(Path(os.environ["ORDINO_DATA"]) / data))[: 1 if args.quick else None]
        results += [run(name, data, folds, 20 if args.quick else 1, args.seeds) for name in args.rankers]
    text = table(results)
    print(text)
    if args.out is not None:
        command = " ".join(["python", "benchmarks/quality_evolved.py", *sys.argv[1:]])
        which = "The rankers that evolve" if args.rankers == list(RANKERS) else ", ".join(args.rankers)
        title = f"{which} on {' and '.join(args.data)}, seeds: {args.seeds}"
        args.out.write_text(head(command, title, args.seeds) + text + "\n")


if __name__ == "__main__":
    main()
