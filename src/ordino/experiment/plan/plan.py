"""A plan: which rankers, on which data, with which metrics; checked as a whole before anything runs.

It is written in Python (:class:`Plan`), in a TOML file (:meth:`Plan.from_toml`) or as flags of ``ordino bench``.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Self, final

from ordino.checks import check_choice, check_int
from ordino.data.dataset import Dataset
from ordino.data.files import COLUMNS, read_data
from ordino.data.folds import Folds, make_folds, read_folds
from ordino.errors import DataError, OrdinoError, ParameterError, unknown_name
from ordino.experiment.plan.contestants import is_file_name
from ordino.experiment.plan.ranker_entry import Entry, as_entry
from ordino.metrics import DEFAULT_METRICS, find_profile, parse_metric, parse_metrics
from ordino.rankers import RANKERS
from ordino.streams import spawn_seed

Source = str | Path | Dataset | Folds
"""A folder of folds, a file (cut into folds), or what was read from one."""


@final
@dataclass(frozen=True, kw_only=True)
class Plan:
    """The plan of an experiment: what to compare.

    Parameters
    ----------
    data
        A folder of folds, a file, a data set, or folds; or several of these, in a list or by name.
    rankers
        Names, files of models or scores, entries, or tables with the fields of :class:`Entry`.
    measures
        The metrics to compute on test data.
    profile
        The metric profile.
    select
        The metric for model selection on validation data; by default the first of ``measures``. Rankers that choose
        rounds or epochs by a ``metric`` and ``profile`` get both from the plan, unless ``params`` sets them.
    repeats
        How often a ranker that uses randomness is trained; all others are trained once.
    seed
        The seed of the first repeat; those of the others are spawned from it.
    parts
        Parts other than the test part for which the value of every query is stored: "train", "valid".
    folds
        The number of folds that a file is split into.
    name
        The name of the experiment in the store.
    columns
        How the files are read: arguments of :func:`~ordino.data.files.read_data`, such as ``qid`` or ``drop``.

    Examples
    --------
    >>> plan = Plan(data="nowhere", rankers=["ranknett"], measures=["ndgc@10"])
    >>> plan.check()
    Traceback (most recent call last):
    ordino.errors.ParameterError: the plan has 3 problems:
    - nowhere: there is no such file or folder; check the path
    - unknown ranker 'ranknett'; did you mean 'ranknet'?
    - unknown metric 'ndgc@10'; did you mean 'ndcg@10'?
    """

    data: Source | Sequence[Source] | Mapping[str, Source]
    rankers: Sequence[str | Mapping[str, Any] | Entry]
    measures: Sequence[str] = DEFAULT_METRICS
    profile: str = "standard"
    select: str = ""
    repeats: int = 1
    seed: int = 0
    parts: Sequence[str] = ()
    folds: int = 5
    name: str = "bench"
    columns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a plan from a TOML file; paths in it are relative to the file's folder.

        TOML has no None: in the tables of rankers, write ``"none"``, as on the command line.
        """
        try:
            read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DataError(f"{path}: cannot be read as a plan ({error})") from None
        known = [one.name for one in fields(cls)]
        strange = [str(unknown_name("field", name, known)) for name in read if name not in known]
        strange += [f"{name} is missing" for name in ("data", "rankers") if name not in read]
        if strange:
            raise ParameterError(f"{path}: {'; '.join(strange)}")
        home = Path(path).parent
        data = _changed(read["data"], lambda one: home / one if isinstance(one, str) else one)
        rankers = _changed(read["rankers"], lambda one: None if one == "none" else one, but=("label",))
        rankers = [_found_from(home, one) for one in rankers] if isinstance(rankers, list) else rankers
        return cls(**(read | {"data": data, "rankers": rankers}))

    @property
    def selection(self) -> str:
        """The metric for model selection."""
        return str(parse_metric(self.select or self.measures[0]))

    def seeds_of(self, entry: Entry) -> list[int]:
        """The seed of each repeat of a ranker."""
        return repeat_seeds(self.seed, entry.repeats or self.repeats)

    def entries(self) -> list[Entry]:
        """The rankers, each as an entry."""
        return [as_entry(one) for one in self.rankers]

    def sources(self) -> dict[str, Source]:
        """The data by name."""
        if isinstance(self.data, Mapping):
            return dict(self.data)
        return {_name(one): one for one in ([self.data] if isinstance(self.data, Source) else self.data)}

    def collections(self) -> Iterator[tuple[str, Folds]]:
        """The folds of all data, by name; the name of data that is split here includes the number of folds.

        The files of a folder are read only when a fold is needed.
        """
        for name, source in self.sources().items():
            if isinstance(source, Folds):
                yield name, source
            elif isinstance(source, str | Path) and Path(source).is_dir():
                yield name, read_folds(source, **self.columns)
            else:
                data = source if isinstance(source, Dataset) else read_data(source, **self.columns)
                yield f"{name}, {self.folds} folds", make_folds(data, self.folds)

    def check(self) -> None:
        """Refuse a plan that cannot be carried out, and report all problems at once."""
        refuse([*self._data_problems(), *self._ranker_problems(), *self._metric_problems()])

    def _data_problems(self) -> Iterator[str]:
        yield from _sentence(lambda: check_int("folds", self.folds, low=3))
        if not isinstance(self.data, Source):
            listed = self.data.values() if isinstance(self.data, Mapping) else self.data
            if not isinstance(listed, Iterable) or not all(isinstance(one, Source) for one in listed):
                yield f"data is {self.data!r}; give a folder of folds or a file, or several in a list or by name"
                return
        several = isinstance(self.data, Sequence) and not isinstance(self.data, str | Folds)
        if several and len(self.sources()) < len(self.data):  # type: ignore[arg-type]
            yield "two sources of data have the same name; give them names: data = {first = ..., second = ...}"
        if not self.sources():
            yield "there is no data; name a folder of folds or a file"
        yield from _sentence(self._check_columns)
        for source in self.sources().values():
            if isinstance(source, str | Path) and not Path(source).exists():
                yield f"{source}: there is no such file or folder; check the path"
            elif isinstance(source, str | Path) and Path(source).is_dir():
                yield from _sentence(partial(read_folds, source))

    def _check_columns(self) -> None:
        for name in self.columns:
            check_choice("columns", name, COLUMNS)

    def _ranker_problems(self) -> Iterator[str]:
        if isinstance(self.rankers, str | Mapping) or not isinstance(self.rankers, Sequence):
            yield f"rankers is {self.rankers!r}; give a list, or in TOML [[rankers]] before each"
            return
        if not self.rankers:
            yield f"there is no ranker; choose from: {', '.join(RANKERS)}"
        sound = []
        for one in self.rankers:
            found = _sentence(partial(as_entry, one)) or as_entry(one).problems()
            yield from found
            sound += [] if found else [as_entry(one).name]
        for name in sorted({name for name in sound if sound.count(name) > 1}):
            yield f"two rankers are called {name!r}; give each a label of its own"

    def _metric_problems(self) -> Iterator[str]:
        texts = {"profile": self.profile, "select": self.select, "name": self.name}
        strange = {name: one for name, one in texts.items() if not isinstance(one, str)}
        yield from (f"{name} is {one!r}; it must be a text" for name, one in strange.items())
        listed = self.measures if isinstance(self.measures, Sequence) else [None]
        if isinstance(listed, str) or not all(isinstance(one, str) for one in listed):
            yield f"measures is {self.measures!r}; give a list of names, such as {list(DEFAULT_METRICS)}"
        else:
            for one in self.measures:
                yield from _sentence(partial(parse_metric, one))
            if not self.measures:
                yield from _sentence(lambda: parse_metrics([]))
        if self.select and "select" not in strange:
            yield from _sentence(lambda: parse_metric(self.select))
        if isinstance(self.parts, str) or not set(self.parts) <= {"train", "valid"}:
            yield f"parts is {self.parts!r}; give a list of 'train' and 'valid'"
        if "profile" not in strange:
            yield from _sentence(lambda: find_profile(self.profile))
        yield from _sentence(lambda: check_int("repeats", self.repeats, low=1))
        yield from _sentence(lambda: check_int("seed", self.seed, low=0))


def repeat_seeds(seed: int, repeats: int) -> list[int]:
    """The seed itself for the first repeat, and a seed spawned from it for each of the others.

    Examples
    --------
    >>> repeat_seeds(7, 3)[0], len(set(repeat_seeds(7, 3) + repeat_seeds(8, 3)))
    (7, 6)
    """
    return [seed, *(spawn_seed(seed, "repeat", number) for number in range(1, repeats))]


def refuse(problems: Sequence[str]) -> None:
    """Raise all problems of a plan at once, if there are any."""
    if problems:
        count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise ParameterError("\n- ".join([f"the plan has {count}:", *problems]))


def _sentence(action: Callable[[], object]) -> list[str]:
    """What an action complains of, if it does."""
    try:
        action()
    except OrdinoError as error:
        return [str(error)]
    return []


def _changed(given: Any, change: Callable[[Any], Any], but: Sequence[str] = ()) -> Any:
    """Lists and tables of TOML with every value in them changed, but for those of some names."""
    if isinstance(given, dict):
        return {name: one if name in but else _changed(one, change, but) for name, one in given.items()}
    return [_changed(one, change, but) for one in given] if isinstance(given, list) else change(given)


def _found_from(home: Path, given: Any) -> Any:
    """An entry of TOML, whose file is relative to the plan's folder."""
    if isinstance(given, dict) and is_file_name(given.get("ranker")):
        return given | {"ranker": str(home / given["ranker"])}
    return str(home / given) if is_file_name(given) else given


def _name(source: Source) -> str:
    if isinstance(source, str | Path):
        path = Path(source).resolve()
        return path.name if path.is_dir() else path.name.split(".")[0]
    return "data"
