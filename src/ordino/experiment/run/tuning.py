"""Choosing a setting on validation data: every one of a grid, or those that Optuna draws.

A search is replayed from the store: settings that were tried before are not trained again, and since the draws depend
only on the seed and on what was found, a search that was stopped goes on as if it had not been.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, final

from ordino.errors import OrdinoError, import_extra
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.run.task import Task
from ordino.experiment.store.store import Store
from ordino.metrics import parse_metric
from ordino.parameters import Range, Space
from ordino.streams import spawn_seed

Setting = dict[str, Any]


@final
class Search:
    """The search for the best setting of an entry on a fold: it asks for trials and is told their values."""

    def __init__(self, task: Task, store: Store) -> None:
        self.task = task
        self.n_left = task.entry.n_settings
        """Settings that are still to be trained."""
        self.chosen: Setting | None = None
        self.keys: list[str] = []
        """The trials that it has asked for."""
        self._store = store
        self._steps = _settings(task.entry, spawn_seed(task.seeds[0], "search", task.fold))
        self._values: dict[str, float] = {}
        self._asked: list[str] = []

    def next_tasks(self) -> list[Task]:
        """What to train next; nothing while trials are under way, and when the setting is chosen."""
        while self.chosen is None and all(key in self._values for key in self._asked):
            try:
                values = [self._values[key] for key in self._asked]
                settings = self._steps.send(values) if self._asked else next(self._steps)
            except StopIteration as end:
                self.chosen = end.value
                return []
            tasks = {self._key(setting): replace(self.task, params=setting) for setting in settings}
            self._asked = [*map(self._key, settings)]
            self.keys += self._asked
            for key in list(tasks):
                known = self._store.valid_means(key)
                if known is not None:
                    self.tell(key, known)
                    del tasks[key]
            if tasks:
                return list(tasks.values())
        return []

    def tell(self, key: str, valid: Mapping[str, float]) -> None:
        """What a trial reached on validation data."""
        reached, task = valid[self.task.select], self.task
        if reached != reached:
            raise OrdinoError(f"{task}: no validation query counts for {task.select} in profile {task.profile!r}")
        self._values[key] = parse_metric(task.select).quality(reached)
        self.n_left -= 1

    def _key(self, setting: Setting) -> str:
        return replace(self.task, params=setting).key(self.task.seeds[0], tuning=True)


def _settings(entry: Entry, seed: int) -> Generator[list[Setting], list[float], Setting]:
    """Asks for settings, is sent their values (larger is better) and returns the best, the first of equal ones."""
    if entry.trials:
        return (yield from _drawn(entry, seed))
    settings = list(entry.settings())
    values = yield settings
    return settings[values.index(max(values))]


def _drawn(entry: Entry, seed: int) -> Generator[list[Setting], list[float], Setting]:
    optuna = import_extra("optuna", extra="search", purpose="a search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = entry.search_space()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    settings: list[Setting] = []
    for _ in range(entry.trials):
        trial = study.ask()
        drawn = {name: draw(trial, name, one) for name, one in space.items() if name not in entry.params}
        settings.append({**entry.params, **drawn})
        [value] = yield [settings[-1]]
        study.tell(trial, value)
    best: int = study.best_trial.number
    return settings[best]


def draw(trial: Any, name: str, space: Space) -> Any:
    """What a trial of Optuna draws for a parameter."""
    if not isinstance(space, Range):
        return space.values[trial.suggest_categorical(name, range(len(space.values)))]  # any value, by its number
    if isinstance(space.low, int) and isinstance(space.high, int):
        return trial.suggest_int(name, space.low, space.high, log=space.log)
    return trial.suggest_float(name, space.low, space.high, log=space.log)
