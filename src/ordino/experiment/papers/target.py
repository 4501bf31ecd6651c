"""A target: a table or figure of a paper as plans to carry out and a view of the store that they fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from ordino.data.folds import Folds, read_folds
from ordino.errors import DataError
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.trials import Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry
from ordino.rankers import ranker_class

EXPERIMENT = "papers"
"""What a store calls all that is trained for papers: targets that need the same trial share it."""
NOT_SETTINGS = ("seed", "n_jobs", "verbose")


@final
@dataclass(frozen=True)
class Request:
    """What a person asks for; every target understands it."""

    data: Path | None = None
    quick: bool = False
    """Run a small part of the work, to see that everything works; the numbers then mean nothing."""
    seed: int = 0
    repeats: int | None = None
    """Repeats per setting, where the paper's number takes too long; None is the target's own number."""
    kept: Path | None = field(default=None, compare=False)
    """Folder for the store and the models, from which a stopped run goes on; None keeps nothing."""
    n_jobs: int = field(default=1, compare=False)
    """Worker processes that train."""
    verbose: bool = field(default=False, compare=False)
    """Show progress on a terminal."""

    def at_most(self, n_repeats: int) -> int:
        """How many repeats to make where the paper makes this many."""
        return min(n_repeats, 2 if self.quick else n_repeats, self.repeats or n_repeats)

    def collections(self, names: Sequence[str]) -> dict[str, Folds]:
        """The folds of each named collection that the data folder has.

        The folder may hold the collections by name (``TD2003/Fold1``), or it may itself be one collection of any name,
        which then stands in for them under its own name: the paper has no numbers for it.
        """
        wanted = " or ".join(names)
        if self.data is None:
            raise DataError(f"this needs {wanted}; name the folder that holds it with --data")
        found = {name: read_folds(self.data / name) for name in names if (self.data / name).is_dir()}
        if not found and not self.data.is_dir():
            raise DataError(f"{self.data}: there is no such directory; name the one that holds {wanted}")
        found = found or {self.data.resolve().name: read_folds(self.data)}
        return {name: folds[: 2 if self.quick else None] for name, folds in found.items()}

    def plan(self, data: Mapping[str, Folds], systems: Sequence[System], **fields: Any) -> Plan:
        """A plan of systems; two that are the same are trained once."""
        entries = {entry.label: entry for entry in (system.entry(self) for system in systems)}
        common: dict[str, Any] = {"name": EXPERIMENT, "seed": self.seed}
        return Plan(data=data, rankers=list(entries.values()), **(common | fields))


@final
@dataclass(frozen=True)
class System:
    """A ranker with its settings, as a paper compares it with others."""

    ranker: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """A system among the values stands for a ranker inside the ranker."""
    preset: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """What ``--quick`` changes."""
    grid: Sequence[Mapping[str, Sequence[Any]]] = ()
    """Settings to choose from on the validation part of each fold."""
    repeats: int = 1
    like: System | None = None
    """Take over all settings of this system, of another ranker."""

    def label(self, request: Request) -> str:
        """The ranker with everything that is set, as a store names it."""
        told = [f"{name}={_told(value, request)}" for name, value in self._own(request).items()]
        told += [f"like {self.like.label(request)}"] if self.like else []
        told += [f"{name} of {values}" for grid in self._grids(request) for name, values in grid.items()]
        return " ".join(
            [self.ranker, *([self.preset] if self.preset else []), *([f"({', '.join(told)})"] if told else [])]
        )

    def entry(self, request: Request) -> Entry:
        """The system in a plan."""
        params = {} if self.like is None else self.like.settings(request)
        for name, value in self._own(request).items():
            inner = value.settings(request) if isinstance(value, System) else {}
            params[name] = value.ranker if isinstance(value, System) else value
            params |= {f"{name}__{key}": one for key, one in inner.items()}
        return Entry(
            ranker=self.ranker, params=params, preset=self.preset, grid=self._grids(request),
            repeats=request.at_most(self.repeats), label=self.label(request),
        )  # fmt: skip

    def settings(self, request: Request) -> dict[str, Any]:
        """All parameters, those with the paper's or the default value too."""
        cls: Any = ranker_class(self.ranker)
        made = (cls.as_published if self.preset else cls)(**self._own(request))
        return {name: value for name, value in made.get_params(deep=False).items() if name not in NOT_SETTINGS}

    def _own(self, request: Request) -> dict[str, Any]:
        return {**self.params, **(self.quick if request.quick else {})}

    def _grids(self, request: Request) -> list[dict[str, Sequence[Any]]]:
        fixed = self.quick if request.quick else {}
        return [{name: values for name, values in grid.items() if name not in fixed} for grid in self.grid]


def _told(value: Any, request: Request) -> str:
    return value.label(request) if isinstance(value, System) else str(value)


def _no_plans(_: Request) -> list[Plan]:
    return []


@final
@dataclass(frozen=True, kw_only=True)
class Target:
    """A table or figure that can be run again."""

    shows: str
    needs: str
    """The data to name with ``--data``; any folder of the same shape will do."""
    takes: str
    """About how long on two cores."""
    view: Callable[[Request, Trials], Result]
    """From the trials to what the page shows."""
    plans: Callable[[Request], Sequence[Plan]] = _no_plans
    """What has to be trained."""
    is_timed: bool = False
    """Whether it shows training times, for which one ranker is trained after the other, and everything anew."""


NOTHING = "nothing"
ANY_JUDGED = "any judged folder (the paper's data is private)"
