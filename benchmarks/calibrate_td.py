"""How hard the synthetic collection ``td`` is for the baselines that LETOR published for TD2003, by seed.

BM25 (feature 1 as it is), RankSVM and RankBoost, five folds with three parts for training, one for validation and one
for the test; features scaled to [0, 1] inside each query, C and the number of rounds chosen by MAP on the validation
part. ``td`` was calibrated by these three figures alone. Each seed takes a quarter of a minute.

    python benchmarks/calibrate_td.py [--seeds 8] [--out docs/synthetic.md]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ordino.data.folds import Fold
from ordino.data.synthetic import td_folds
from ordino.metrics import evaluate
from ordino.ranker import Ranker
from ordino.rankers.baselines import SingleFeature
from ordino.rankers.ranksvm import RankSVM
from ordino.rankers.stump_boosting import RankBoost

# MAP on TD2003 of LETOR 2.0, as RankDE's Table 3 has it
PUBLISHED = {"BM25": 0.126, "RankSVM": 0.256, "RankBoost": 0.212}
BEGIN, END = "<!-- written by benchmarks/calibrate_td.py -->\n", "<!-- end of what the script writes -->\n"

BASELINES: Mapping[str, Callable[[], Ranker]] = {
    "BM25": lambda: SingleFeature(feature=1, sign=1, metric="map"),
    "RankSVM": lambda: RankSVM(C=(1e-4, 1e-3, 1e-2, 1e-1), scaling="minmax", metric="map"),
    "RankBoost": lambda: RankBoost(scaling="minmax", metric="map"),
}


def measure(folds: list[Fold]) -> dict[str, float]:
    """Mean over the test parts of the MAP of each baseline."""
    found = {}
    for name, make in BASELINES.items():
        fitted = [(fold.test, make().fit(fold.train, valid=fold.valid)) for fold in folds]
        values = [evaluate(test, ranker.predict(test), metrics=["map"])["map"] for test, ranker in fitted]
        found[name] = float(np.mean(values))
    return found


def table(found: list[dict[str, float]]) -> list[str]:
    """Rows with the published figure, and ours by seed."""
    lines = ["| baseline | TD2003, published | td, mean | deviation of seeds | seed 0 | least to most |"]
    lines += ["|---|---:|---:|---:|---:|---|"]
    for name, published in PUBLISHED.items():
        values = np.array([one[name] for one in found])
        cells = [f"{value:.3f}" for value in (published, values.mean(), values.std(ddof=1), values[0])]
        cells.append(f"{values.min():.3f} to {values.max():.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", type=Path, help="write the table between the marks of this page")
    args = parser.parse_args()
    found, shapes = [], []
    for seed in range(args.seeds):
        folds = list(td_folds(seed))
        found.append(measure(folds))
        n_relevant = np.concatenate([[query.y.sum() for query in fold.test] for fold in folds])
        shapes.append((n_relevant.mean(), n_relevant.min(), n_relevant.max()))
        print(seed, found[-1], shapes[-1], file=sys.stderr)
    mean, least, most = np.array(shapes).T
    lines = [f"MAP on the test parts of five folds, seeds 0 to {args.seeds - 1}:", "", *table(found), ""]
    lines += [
        f"A query has {mean.mean():.1f} relevant documents on average, from {least.min():.0f} to {most.max():.0f}."
    ]
    text = "\n".join([*lines, ""])
    print(text)
    if args.out is not None:
        before, _, rest = args.out.read_text().partition(BEGIN)
        args.out.write_text(before + BEGIN + text + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
