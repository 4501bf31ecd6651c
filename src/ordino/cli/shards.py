"""What commands do with a folder of shards: train, rank and evaluate without reading all of it into memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ordino.cli import options
from ordino.cli.output import print_found, say
from ordino.interrupts import PRESSES

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset
    from ordino.metrics import Evaluation


def how_to_work(cluster: str | None = None) -> dict[str, Any]:
    """Threads, progress and cluster, as the options have them."""
    said = options.shared_options()
    return {"n_jobs": said.threads, "verbose": not said.quiet, "cluster": cluster}


def refuse_cluster(cluster: str | None, data: str) -> None:
    """Refuse a cluster for one file."""
    if cluster is not None:
        fix = f"ordino convert {data} DIR --shards 8"
        raise typer.BadParameter(f"a cluster works on shards, and {data} is a file; make them with: {fix}")


def refuse_columns(columns: options.Columns) -> None:
    """Refuse a choice of columns, which shards do not have any more."""
    if columns.given():
        raise typer.BadParameter("shards are read as they are: choose columns in convert, and leave them out here")


def train(model: Any, data: str, valid: str | None, out: Path, cluster: str | None, *, json: bool) -> None:
    """Train on shards, on this machine or divided over a cluster, and write the model."""
    from ordino.data.files import read_data
    from ordino.data.shards import ShardedDataset, is_sharded
    from ordino.model_file import read_card, save
    from ordino.ranker import measure_of
    from ordino.sharded import evaluate_shards

    shards = ShardedDataset(data, cluster=cluster)
    held_out: Any = None
    if valid is not None:
        held_out = ShardedDataset(valid) if is_sharded(valid) else read_data(valid, n_features=shards.n_features)
    fit_or_stop(model, shards, held_out)
    metric, profile = measure_of(model)
    source = {"source": Path(data).name, "shards": len(shards), "documents": shards.n_docs, "queries": shards.n_queries}
    save(model, out, notes=source | {"interrupted": PRESSES.pressed > 0})
    n_jobs = options.shared_options().threads
    reached = evaluate_shards(out, shards, [metric], profile, n_jobs=n_jobs, cluster=cluster)[metric]
    print_found(json, read_card(out), ["data", f"{metric} ({profile})"], [("train", f"{reached:.4f}")])
    if not json:
        say(f"{out}: {type(model).__name__}")


def fit_or_stop(model: Any, documents: Any, held_out: Any) -> None:
    """Fit; a Ctrl-C before anything is learned ends the command in a sentence."""
    try:
        PRESSES.raise_if_pressed()
        model.fit(documents, valid=held_out)
    except KeyboardInterrupt:
        sys.stderr.write("ordino: stopped before anything was learned; no file was written\n")
        raise typer.Exit(130) from None


def rank(model: str, data: str, out: str, form: str | None, cluster: str | None) -> None:
    """Rank every shard into a file of its own."""
    from ordino.checks import check_choice
    from ordino.data.shards import ShardedDataset
    from ordino.sharded import ENDINGS, rank_shards

    if out == "-":
        raise typer.BadParameter("shards are ranked into a folder; name one with --out", param_hint="--out")
    shards, chosen = ShardedDataset(data), check_choice("format", form or "scores", ENDINGS)
    kept = len(shards) - rank_shards(model, shards, out, form=chosen, **how_to_work(cluster))
    say(f"{out}: {len(shards)} shards, {shards.n_docs:,} documents" + (f"; {kept} were done before" if kept else ""))


def evaluate(model: str, data: str, metrics: list[str], profile: str | None, cluster: str | None) -> Evaluation:
    """Metrics of a model on all shards."""
    from ordino.data.shards import ShardedDataset
    from ordino.sharded import evaluate_shards

    return evaluate_shards(model, ShardedDataset(data), metrics, profile, **how_to_work(cluster))


def write(parts: Iterator[Dataset] | Dataset, folder: Path, n_shards: int) -> None:
    """Write data as shards."""
    from ordino.data.shards import write_shards

    made = write_shards(parts, folder, n_shards)
    size = f"{made.n_docs:,} documents, {made.n_queries:,} queries, {made.n_features} features"
    say(f"{folder}: {len(made)} shards, {size}")


def synthetic_parts(name: str, queries: int, seed: int) -> Iterator[Dataset]:
    """A synthetic data set of any size, some queries at a time; every part has a stream of its own."""
    import numpy as np

    from ordino.data.columns import Groups
    from ordino.data.synthetic import synthetic
    from ordino.streams import spawn_seed

    for first in range(0, queries, AT_A_TIME):
        n = min(AT_A_TIME, queries - first)
        part = synthetic(name, queries=n, seed=spawn_seed(seed, "part", first))
        yield part.take_rows(slice(None), Groups(None, part.offsets, np.arange(first + 1, first + n + 1)))


AT_A_TIME = 2000  # queries of a synthetic part
