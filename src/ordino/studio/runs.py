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


def done_trials(opened: OpenStore, run: RunRecord) -> dict[tuple[str, str, str], float]:
    """Seconds of training of what is done of a run, by data set, fold and label.

    A trial by another profile, or on a file that was another, is none of it; earlier versions noted neither.
    """
    rows = opened.store.rows(
        "SELECT dataset, fold, label, profile, data, avg(train_seconds) FROM trials "
        "WHERE test <> '{}' AND experiment = ? GROUP BY dataset, fold, label, profile, data",
        run.experiment,
    )
    wanted = {(task["dataset"], task["fold"], task["label"]): task for task in run.tasks}
    found = {}
    for dataset, fold, label, profile, data, seconds in rows:
        task = wanted.get((dataset, fold, label))
        if task is not None and (task.get("profile", profile), task.get("data", data)) == (profile, data):
            found[dataset, fold, label] = seconds
    return found
