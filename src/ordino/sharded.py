"""A model over a folder of shards: every shard is a task, on this machine or on a cluster.

Each task reads one shard, so memory does not grow with the data. Results are put together in the order of the shards:
a mean does not depend on who worked on which of them, or when.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, TypeVar, final

import numpy as np

from ordino.arrays import mean_of_counted
from ordino.backends import Failure, open_backend
from ordino.data.arrow import write_whole
from ordino.data.columns import check_features
from ordino.data.dataset import Dataset
from ordino.data.shards import ShardedDataset, read_shard
from ordino.data.trec import write_ranked
from ordino.errors import OrdinoError
from ordino.metrics import Evaluation, measure
from ordino.model_file import load_scorer
from ordino.progress import Steps
from ordino.threads import count_threads

R = TypeVar("R")
ENDINGS = {"scores": ".txt", "trec": ".run", "rows": ".parquet"}
"""The ending of the file of each shard, by the format that is written."""
RECORD = ".json"  # after the name of a shard: what it was ranked with, when it was finished


@final
@dataclass(frozen=True)
class ShardTask:
    """One shard and the model to use on it."""

    number: int
    files: Mapping[str, Path]  # model and shard
    checksum: str
    """Of the model's file, which another training may write anew under the same name."""
    fingerprint: str
    metrics: tuple[str, ...] = ()
    profile: str = "standard"
    form: str = "scores"
    out: Path | None = None
    """Where the ranking is written, by the worker if its machine sees the folder, else by the driver."""

    def __str__(self) -> str:
        return f"shard {self.number}"


def rank_shards(
    model: str | Path, data: ShardedDataset, out: str | Path, *, form: str = "scores", n_jobs: int | None = None,
    cluster: str | None = None, verbose: bool = False,
) -> int:  # fmt: skip
    """Rank every shard into a file of its own in a folder; the number of shards that were left to do.

    Shards that were finished before, with the same model and in the same format, are not done again.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    whole = list(_tasks(model, data, form=form))
    wanted = {task.number: json.dumps([task.checksum, task.fingerprint, form]) for task in whole}

    def file(number: int, ending: str) -> Path:
        return folder.absolute() / (data.files[number].stem + ending)

    def is_done(number: int) -> bool:
        record = file(number, RECORD)
        return file(number, ENDINGS[form]).is_file() and record.is_file() and record.read_text() == wanted[number]

    tasks = [replace(task, out=file(task.number, ENDINGS[form])) for task in whole if not is_done(task.number)]
    for task, content in _worked(_ranked, tasks, "shards", n_jobs, cluster, verbose):
        if content is not None:
            write_whole(file(task.number, ENDINGS[form]), content)
        write_whole(file(task.number, RECORD), wanted[task.number])
    return len(tasks)


def evaluate_shards(
    model: str | Path, data: ShardedDataset, metrics: Sequence[str], profile: str | None = None, *,
    n_jobs: int | None = None, cluster: str | None = None, verbose: bool = False,
) -> Evaluation:  # fmt: skip
    """Evaluate a model on all shards; values of queries are in the order of the shards."""
    _, card = load_scorer(model)
    style = profile or card["measure"]["profile"] or "standard"
    found: dict[int, Evaluation] = {}
    tasks = list(_tasks(model, data, metrics=tuple(metrics), profile=style))
    for task, one in _worked(_measured, tasks, "shards", n_jobs, cluster, verbose):
        found[task.number] = one
    parts = [found[number] for number in range(len(data))]
    per_query = {name: np.concatenate([one.per_query[name] for one in parts]) for name in parts[0]}
    counts = ("n_queries", "n_empty", "n_tied", "n_short", "n_left_out")
    return Evaluation(
        means=MappingProxyType({name: mean_of_counted(values) for name, values in per_query.items()}),
        per_query=MappingProxyType(per_query),
        query_ids=np.concatenate([one.query_ids for one in parts]),
        profile=parts[0].profile,
        largest_k=parts[0].largest_k,
        **{name: sum(getattr(one, name) for one in parts) for name in counts},
    )


def _tasks(model: str | Path, data: ShardedDataset, **how: Any) -> Iterator[ShardTask]:
    _, card = load_scorer(model)
    names = card["features"]["names"]
    known = None if data.feature_names is None else names
    check_features(_empty(data), card["features"]["count"], known)
    checksum = sha256(Path(model).read_bytes()).hexdigest()
    for number, file in enumerate(data.files):
        files = {"model": Path(model).absolute(), "shard": file.absolute()}
        yield ShardTask(number, files, checksum, data.fingerprint(number), **how)


def _empty(data: ShardedDataset) -> Dataset:
    return Dataset(np.zeros((1, data.n_features)), [0.0], feature_names=data.feature_names)


def _worked(
    function: Any, tasks: list[ShardTask], label: str, n_jobs: int | None, cluster: str | None, verbose: bool
) -> Iterator[tuple[ShardTask, Any]]:
    """Each task with its result, as they finish; failures are reported at the end, and nothing else is lost."""
    failures: list[str] = []
    if not tasks:
        return
    n_workers = min(count_threads(n_jobs), len(tasks))
    with (
        closing(open_backend(n_workers, cluster)) as backend,
        Steps(label, len(tasks), verbose=verbose, kept="what is done") as steps,
    ):
        for _, (number, found) in zip(steps, backend.map(function, tasks), strict=False):
            if isinstance(found, Failure):
                failures.append(found.sentence)
            else:
                yield tasks[number], found
    if steps.interrupted:
        raise KeyboardInterrupt
    if failures:
        count = "a shard" if len(failures) == 1 else f"{len(failures)} shards"
        raise OrdinoError("\n- ".join([f"{count} failed, all others are done:", *failures]))


def _ranked(task: ShardTask) -> bytes | None:
    """In a worker: write the ranking of a shard, or give back what is to be written elsewhere."""
    score, _ = _scorer(task.files["model"], task.checksum)
    data = _read(task)
    if task.out is not None and task.out.parent.is_dir():
        write_ranked(data, score(data), str(task.out), form=task.form)
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"shard{ENDINGS[task.form]}"
        write_ranked(data, score(data), str(path), form=task.form)
        return path.read_bytes()


def _measured(task: ShardTask) -> Evaluation:
    """In a worker: the values of a shard's queries."""
    score, _ = _scorer(task.files["model"], task.checksum)
    data = _read(task).as_grouped()
    found = measure(
        data.y, score(data), data.offsets, list(task.metrics), profile=task.profile, query_ids=data.query_ids,
        doc_ids=data.doc_ids, n_jobs=1,
    )  # fmt: skip
    return replace(found, means=dict(found.means), per_query=dict(found.per_query))  # which can leave the process


def _read(task: ShardTask) -> Dataset:
    return read_shard(task.files["shard"], task.fingerprint)


@lru_cache(maxsize=1)
def _scorer(model: Path, checksum: str) -> Any:  # noqa: ARG001  (it tells files of one name apart)
    return load_scorer(model)
