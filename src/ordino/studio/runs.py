"""Runs of a store: whether one is at work, and what of it is done."""

import os
from pathlib import Path

from ordino.experiment.store.kept import RunRecord
from ordino.studio.sources import OpenStore


def is_alive(run: RunRecord) -> bool:
    """Whether a run is still at work."""
    if run.ended is not None:
        return False
    try:
        os.kill(run.process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return Path(run.folder).is_dir()


def done_trials(opened: OpenStore) -> dict[tuple[str, str, str], float]:
    """Seconds of training of what is done, by data set, fold and label."""
    rows = opened.store.rows(
        "SELECT dataset, fold, label, avg(train_seconds) FROM trials WHERE test <> '{}' GROUP BY dataset, fold, label"
    )
    return {(dataset, fold, label): seconds for dataset, fold, label, seconds in rows}
