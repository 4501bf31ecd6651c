"""A ranker in a plan: its parameters, its settings to choose from, and its search space."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, final

from ordino.checks import check_int
from ordino.errors import OrdinoError, ParameterError, import_extra, unknown_name
from ordino.experiment.plan.contestants import FOLD, KINDS, is_file_name, kind_of
from ordino.experiment.store.trial import TUNED
from ordino.parameters import Choices, Parameter, Range, Space, parameters_of
from ordino.ranker import Ranker
from ordino.rankers import NAMES, ranker_class


@final
@dataclass(frozen=True, kw_only=True)
class Entry:
    """A ranker in a plan: with fixed parameters, or with settings to choose among on validation data.

    Parameters
    ----------
    ranker
        Its name on the command line; or a file that competes as it is: a saved model, a TREC run, or one score for
        each row of the data. ``{fold}`` in its name stands for the name of each fold.
    params
        Parameters that differ from their defaults; ``ranker__hidden`` sets one of a ranker inside the ranker.
    grid
        Values to try by parameter; every combination is trained on each fold. A list of such tables tries the
        combinations of each.
    trials
        The number of settings that Optuna tries on each fold, instead of a grid.
    space
        What Optuna draws from by parameter: a list of values, or a table with ``low``, ``high`` and perhaps
        ``log = true``; by default the spaces that the ranker's parameters have of their own.
    preset
        ``"published"`` starts from the settings of the ranker's paper instead of the defaults; its metric is then the
        paper's too.
    repeats
        How often to train it, if not as often as the plan says.
    label
        What reports call it; the name of its class by default, with ", tuned" where settings are chosen.
    """

    ranker: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    trials: int = 0
    space: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    repeats: int = 0
    label: str = ""

    @property
    def name(self) -> str:
        """What reports call it."""
        if is_file_name(self.ranker):
            return self.label or Path(self.ranker).name.partition(".")[0].replace(FOLD, "").strip("-_ ") or self.ranker
        return self.label or ranker_class(self.ranker).__name__ + (TUNED if self.is_tuned else "")

    @property
    def command(self) -> str:
        """The ranker's name on the command line, however the plan writes it."""
        return self.kind or NAMES[ranker_class(self.ranker).__name__]

    @property
    def kind(self) -> str:
        """What kind of file competes; empty for a ranker that is trained."""
        return kind_of(str(self.params.get("file", self.ranker))) if is_file_name(self.ranker) else ""

    @property
    def is_tuned(self) -> bool:
        """Whether a setting has to be chosen on validation data."""
        return bool(self.grid or self.trials)

    @property
    def grids(self) -> list[Mapping[str, Sequence[Any]]]:
        """The tables of the grid."""
        return [self.grid] * bool(self.grid) if isinstance(self.grid, Mapping) else list(self.grid)

    @property
    def n_settings(self) -> int:
        """How many settings are tried on each fold."""
        return self.trials or sum(prod(map(len, grid.values())) for grid in self.grids)

    def settings(self) -> Iterator[dict[str, Any]]:
        """Every combination of the grid, each with the fixed parameters."""
        for grid in self.grids:
            for values in product(*grid.values()):
                yield {**self.params, **dict(zip(grid, values, strict=True))}

    def search_space(self) -> dict[str, Space]:
        """What Optuna draws from."""
        return check_space(self.space) if self.space else default_space(self.make(self.params))

    def make(self, params: Mapping[str, Any]) -> Ranker:
        """A fresh ranker with these parameters."""
        if self.kind:
            return KINDS[self.kind](**params)
        given = dict(params)
        inner = given.get("ranker")
        if isinstance(inner, str):  # so that ranker__... reaches it
            given["ranker"] = ranker_class(inner)()
        cls = ranker_class(self.ranker)
        made: Ranker = cls.as_published(**given) if self.preset else cls().set_params(**given)
        return made

    def problems(self) -> list[str]:
        """Everything that is wrong with the entry, a sentence each."""
        strange = [
            f"{self.ranker}: {name} is {getattr(self, name)!r}; give {kind}"
            for name, (of, kind) in _KINDS.items()
            if not isinstance(getattr(self, name), of)
        ]
        if isinstance(self.grid, Sequence) and not all(isinstance(one, Mapping) for one in self.grid):
            strange.append(
                f"{self.ranker}: grid is {self.grid!r}; give a table of parameters, or a list of such tables"
            )
        if strange:
            return strange
        if is_file_name(self.ranker):
            return self._file_problems()
        if self.preset and (self.preset != "published" or not ranker_class(self.ranker).published):
            return [f"{self.ranker}: there is no preset {self.preset!r}; leave it out"]
        try:
            known = self.make({k: v for k, v in self.params.items() if k == "ranker"}).get_params()
        except OrdinoError as error:
            return [str(error)]
        tried = [one for grid in self.grids for one in grid.items()]
        named = dict.fromkeys((*self.params, *(name for name, _ in tried), *self.space))
        found = [str(unknown_name("parameter", name, known)) for name in named if name not in known]
        found += [
            f"grid of {name} is {values!r}; give a list of values to try"
            for name, values in tried
            if isinstance(values, str) or not isinstance(values, Sequence) or not values
        ]
        found += [
            f"{name}={value!r} cannot be stored; use numbers, text, lists and names of rankers"
            for name, value in (*self.params.items(), *tried)
            if not _is_plain(value)
        ]
        if self.grid and self.trials:
            found.append("there is a grid and a number of trials; choose one way to tune")
        if self.space and not self.trials:
            found.append("there is a space to search but no number of trials; add one")
        try:
            check_int("trials", self.trials, low=0)
            check_int("repeats", self.repeats, low=0)
            if self.trials and not found:
                import_extra("optuna", extra="search", purpose="a search")
                self.search_space()
        except OrdinoError as error:
            found.append(str(error))
        return [f"{self.ranker}: {problem}" for problem in found]

    def _file_problems(self) -> list[str]:
        found = []
        if FOLD not in self.ranker and not Path(self.ranker).is_file():
            found.append("there is no such file; check the name, or choose a ranker from `ordino rankers`")
        if self.params or self.is_tuned or self.preset or self.space:
            found.append("a file competes as it is; leave out params, grid, trials, space and preset")
        return [f"{self.ranker}: {problem}" for problem in found]


_KINDS = {
    "ranker": (str, "its name on the command line"),
    "label": (str, "a text"),
    "preset": (str, "a text"),
    "grid": (Mapping | list | tuple, "a table of parameters"),
    **dict.fromkeys(("params", "space"), (Mapping, "a table of parameters")),
}


def as_entry(given: str | Mapping[str, Any] | Entry) -> Entry:
    """An entry from a ranker's name, from a table with the fields of an entry, or as it is."""
    if isinstance(given, Entry):
        return given
    if isinstance(given, str):
        return Entry(ranker=given)
    if not isinstance(given, Mapping):
        raise ParameterError(f"rankers: {given!r} is not a ranker; give a name, or a table with the fields of an entry")
    known = [one.name for one in fields(Entry)]
    for name in given:
        if name not in known:
            raise ParameterError(f"rankers: {unknown_name('field', name, known)}")
    if "ranker" not in given:
        raise ParameterError(f"rankers: {dict(given)!r} has no field 'ranker'; add it with the ranker's name")
    return Entry(**given)


def _is_plain(value: Any) -> bool:
    """Whether a value can stand in the store as it is."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def known_parameters(ranker: Ranker) -> Iterator[tuple[str, Parameter, Any]]:
    """Every parameter of a ranker with its value, those of rankers inside it as ``ranker__hidden``."""
    params = ranker.get_params()
    for name, value in params.items():
        owner, _, own = name.rpartition("__")
        known = parameters_of(type(params[owner] if owner else ranker)).get(own)
        if known is not None:
            yield name, known, value


def default_space(ranker: Ranker) -> dict[str, Space]:
    """Where a search looks by default: the spaces that a ranker's parameters have; those of rankers inside it too.

    Examples
    --------
    >>> from ordino.rankers.ranksvm import RankSVM
    >>> default_space(RankSVM())["C"]
    Range(low=0.0001, high=100.0, log=True)
    """
    known = [(name, own.space) for name, own, value in known_parameters(ranker) if value is not None]
    found = {name: space for name, space in known if space is not None}
    if not found:
        who = type(ranker).__name__
        raise ParameterError(f"{who} has no parameter that is searched by default; name some in the search space")
    return found


def check_space(given: Mapping[str, Any]) -> dict[str, Space]:
    """A space as a plan writes it: lists of values, and tables with low, high and perhaps log.

    Examples
    --------
    >>> check_space({"l2": {"low": 0.1, "high": 10, "log": True}, "hidden": [[8], [16]]})
    {'l2': Range(low=0.1, high=10, log=True), 'hidden': Choices(values=[[8], [16]])}
    """
    found: dict[str, Space] = {}
    for name, one in given.items():
        try:
            space = Range(**one) if isinstance(one, Mapping) else Choices(one) if isinstance(one, Sequence) else one
        except (ParameterError, TypeError) as error:
            raise ParameterError(f"space of {name}: {error}") from None
        if not isinstance(space, Range | Choices):
            raise ParameterError(f"space of {name} is {one!r}; give a list of values, or low and high")
        found[name] = space
    return found
