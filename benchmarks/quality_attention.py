"""Self-attention over the list (examples/attention.py) beside RankNet on MQ2008, five official folds.

Profile ``directranker`` (labels are relevant or not, queries without a relevant document are left out). A ranker's
setting, one of two, and its best epoch are chosen on the validation part by NDCG@10 in the same profile; test parts are
only measured. LambdaRank and attention with RankNet's loss tell apart what the loss does and what attention does.

A line of ``--pieces`` is what one setting gave on one fold: a run that was stopped goes on where it was.

    ORDINO_DATA=folds python benchmarks/quality_attention.py --pieces attention.jsonl --out docs/results/attention.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import runpy
import sys
from collections.abc import Mapping
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ordino.data.folds import Fold, read_folds
from ordino.metrics import evaluate
from ordino.networks.torch_ranker import TorchRanker
from ordino.ranker import Ranker
from ordino.rankers.listwise import LambdaRank
from ordino.rankers.ranknet import RankNet

PROFILE = "directranker"
METRICS = ("ndcg@10", "map")
SCHEDULE: dict[str, Any] = {
    "l2": 0.01,
    "epochs": 40,
    "patience": 10,
    "batch": 32,
    "scaling": "zscore",
    "profile": PROFILE,
}
PERCEPTRON: dict[str, Any] = {"hidden": (100, 100), "learning_rate": 3e-3, **SCHEDULE}
LISTS: dict[str, Any] = {"list_size": 40, "learning_rate": 1e-3, **SCHEDULE}
DROPOUTS = (0.3, 0.5)
Attention = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "attention.py"))["Attention"]


def attention(dropout: float, **options: Any) -> TorchRanker:
    return TorchRanker(partial(Attention, dropout=dropout), **LISTS, **options)


ROWS: Mapping[str, list[Ranker]] = {
    "RankNet": [RankNet(dropout=d, **PERCEPTRON) for d in DROPOUTS],
    "LambdaRank": [LambdaRank(dropout=d, **PERCEPTRON) for d in DROPOUTS],
    "attention, loss of RankNet": [attention(d, loss="ranknet", loss_options={"average": "queries"}) for d in DROPOUTS],
    "attention, loss of LambdaRank": [attention(d, loss="lambdarank") for d in DROPOUTS],
}
"""The candidates of each row of the table, one for each dropout; validation data chooses, fold by fold."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first fold, one seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pieces", type=Path, help="file to keep finished pieces in, and to go on from")
    parser.add_argument("--out", type=Path, help="write the page to this file")
    args = parser.parse_args()
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2008")
    seeds = 1 if args.quick else args.seeds
    folds = list(read_folds(Path(folder) / "MQ2008"))[: 1 if args.quick else None]
    kept = args.pieces.read_text().splitlines() if args.pieces is not None and args.pieces.exists() else []
    pieces = {key: piece for line in kept for key, piece in json.loads(line).items()}
    for fold in folds:
        for name, candidates in ROWS.items():
            for number, candidate in enumerate(candidates):
                key = f"{fold.name} {name} {number} {seeds}"
                if key not in pieces:
                    pieces[key] = measured(candidate, fold, seeds)
                    print(key, pieces[key], file=sys.stderr, flush=True)
                    if args.pieces is not None:
                        with args.pieces.open("a") as file:
                            print(json.dumps({key: pieces[key]}), file=file)
    text = page([fold.name for fold in folds], seeds, pieces)
    print(text)
    if args.out is not None:
        args.out.write_text(text)


def measured(candidate: Ranker, fold: Fold, n_seeds: int) -> dict[str, Any]:
    """Quality on validation data, and test values of each seed."""
    assert fold.valid is not None
    fitted = candidate.fit_repeats(fold.train, range(n_seeds), valid=fold.valid)
    results = [evaluate(fold.test, one.predict(fold.test), metrics=METRICS, profile=PROFILE) for one in fitted]
    return {
        "valid": float(np.mean([one.score(fold.valid) for one in fitted])),
        "test": [[round(result[name], 5) for name in METRICS] for result in results],
    }


def page(folds: list[str], n_seeds: int, pieces: Mapping[str, Any]) -> str:
    libraries = ", ".join(f"{library} {version(library)}" for library in ("torch", "numpy"))
    lines = [
        "# Self-attention over the list on MQ2008",
        "",
        f"{date.today().isoformat()}, Python {platform.python_version()}, {libraries}; {n_seeds} seeds.",
        "Made by `benchmarks/quality_attention.py`, which has the settings; the module is that of",
        "`examples/attention.py`, trained by [`TorchRanker`](../torch.md). Means over the official folds in profile",
        "`directranker`; ± is the standard deviation over seeds. Epochs and dropout are chosen on validation parts.",
        "",
        "| ranker | NDCG@10 | MAP | dropout, fold by fold |",
        "|---|---|---|---|",
    ]
    for name in ROWS:
        keys = [[f"{fold} {name} {i} {n_seeds}" for i in range(len(DROPOUTS))] for fold in folds]
        chosen = [max(of_fold, key=lambda key: float(pieces[key]["valid"])) for of_fold in keys]
        dropouts = ", ".join(str(DROPOUTS[of_fold.index(key)]) for of_fold, key in zip(keys, chosen, strict=True))
        runs = np.mean([pieces[key]["test"] for key in chosen], axis=0)  # (n_seeds, n_metrics)
        cells = " | ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(runs.mean(axis=0), runs.std(axis=0), strict=True))
        lines.append(f"| {name} | {cells} | {dropouts} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
