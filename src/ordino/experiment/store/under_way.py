"""How far the trials of a run are: each worker rewrites one small file, and whoever looks reads them all.

Nothing depends on these files. They lie in the folder of the run and go with it.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ordino.progress import WATCHER

EVERY = 0.5
"""Seconds between two states of a file."""
POINTS = 400
"""Of a curve; from there on every other one is dropped."""


class Report(NamedTuple):
    """How far the training of a setting is."""

    label: str
    dataset: str
    fold: str
    began: float
    done: int
    total: int
    figures: str
    """The name of the figure that the curve shows."""
    curve: list[tuple[int, float]]
    """Steps, each with the figure that the ranker shows beside its progress."""


@contextmanager
def reporting(folder: Path | None, label: str, dataset: str, fold: str) -> Iterator[None]:
    """Write how far the training in this block is to a file in the folder; without a folder, do nothing."""
    if folder is None:
        yield
        return
    path, began, state = folder / f"{os.getpid()}-{time.monotonic_ns()}.json", time.time(), _State()

    def write(done: int, total: int) -> None:
        report = Report(label, dataset, fold, began, done, total, state.name, state.curve)
        with suppress(OSError):  # a full disk must not end the training
            draft = path.with_suffix(".draft")
            draft.write_text(json.dumps(report._asdict()), encoding="utf-8")
            draft.replace(path)

    def watch(done: int, total: int, figures: Mapping[str, float]) -> None:
        state.add(done, figures)
        if time.monotonic() - state.written >= EVERY:
            state.written = time.monotonic()
            write(done, total)

    write(0, 0)
    told = WATCHER.set(watch)
    try:
        yield
    finally:
        WATCHER.reset(told)
        path.unlink(missing_ok=True)


class _State:
    """The curve so far."""

    def __init__(self) -> None:
        self.written = 0.0
        self.name = ""
        self.curve: list[tuple[int, float]] = []

    def add(self, done: int, figures: Mapping[str, float]) -> None:
        self.name = next((name for name in ("now", "valid", *figures) if name in figures), "")
        if self.curve and done <= self.curve[-1][0]:
            self.curve = []  # another loop of the same training
        if self.name:
            self.curve.append((done, float(figures[self.name])))
        if len(self.curve) > POINTS:
            self.curve = self.curve[::2]


def reports(folder: str | Path) -> list[Report]:
    """What the workers of a run tell, the longest under way first.

    Examples
    --------
    >>> reports("there is no such folder")
    []
    """
    found = []
    for path in Path(folder).glob("*.json"):
        with suppress(OSError, ValueError, TypeError):  # one that is just going
            found.append(Report(**json.loads(path.read_text(encoding="utf-8"))))
    return sorted(found, key=lambda one: one.began)
