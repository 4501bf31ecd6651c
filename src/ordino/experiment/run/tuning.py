"""Choosing a setting on validation data: every one of a grid, or those that Optuna draws.

A search is replayed from the store: settings that were tried before are not trained again, and since the draws depend
only on the seed and on what was found, a search that was stopped goes on as if it had not been.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ordino.errors import import_extra
from ordino.experiment.plan.space import Range, Space
from ordino.experiment.run.task import Task, try_setting
from ordino.experiment.store.store import Store


def choose_setting(task: Task) -> dict[str, Any]:
    """The parameters of a task's entry that are best on validation data, the first of equal ones."""
    with Store(task.store) as store:
        if task.entry.trials:
            return _search(task, store)
        settings = list(task.entry.settings())
        values = [try_setting(replace(task, params=setting), store) for setting in settings]
        return settings[values.index(max(values))]


def _search(task: Task, store: Store) -> dict[str, Any]:
    optuna = import_extra("optuna", extra="search", purpose="a search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = task.entry.search_space()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=task.seed))
    settings: list[dict[str, Any]] = []
    for _ in range(task.entry.trials):
        trial = study.ask()
        drawn = {name: _draw(trial, name, one) for name, one in space.items() if name not in task.entry.params}
        settings.append({**task.entry.params, **drawn})
        study.tell(trial, try_setting(replace(task, params=settings[-1]), store))
    best: int = study.best_trial.number
    return settings[best]


def _draw(trial: Any, name: str, space: Space) -> Any:
    if not isinstance(space, Range):
        return space.values[trial.suggest_categorical(name, range(len(space.values)))]  # any value, by its number
    if isinstance(space.low, int) and isinstance(space.high, int):
        return trial.suggest_int(name, space.low, space.high, log=space.log)
    return trial.suggest_float(name, space.low, space.high, log=space.log)
