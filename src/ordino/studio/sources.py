"""What the studio was opened on: a store, models, data. Files are told apart by what is in them.

Everything is read again for each page, so that a page shows what is there now. What takes long is remembered until
the file behind it changes.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, final

from ordino.errors import DataError, OrdinoError, ParameterError
from ordino.experiment.report.board import Board, make_boards
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.kept import Kept, kept_path, models_folder
from ordino.experiment.store.store import MEMORY
from ordino.experiment.store.view import Group

REMEMBERED = 48
"""Results that are kept until their files change."""


@final
@dataclass(frozen=True)
class Sources:
    """Files by kind, in the order in which they were named."""

    store: Path | None = None
    models: tuple[Path, ...] = ()
    data: tuple[Path, ...] = ()
    judged: Path | None = None
    """The file that Judge writes to, if any."""
    results: Path | None = None
    """The folder of reproduction results that Papers shows."""

    @property
    def models_by_name(self) -> dict[str, Path]:
        """The models, each by a name of its own: that of its file as far as no other model has it."""
        return _by_name(self.models, lambda path: path.stem, lambda path: path.name)

    @property
    def data_by_name(self) -> dict[str, Path]:
        """The data, each by a name of its own: that of its file or folder as far as no other data has it."""
        return _by_name(self.data, lambda path: path.name)

    @property
    def title(self) -> str:
        """What the studio is about."""
        named = [one for one in (self.store, *self.models, *self.data) if one is not None]
        return named[0].name if named else "nothing"

    @property
    def command(self) -> str:
        """The line that opens the studio again."""
        named = [one for one in (self.store, *self.models, *self.data) if one is not None]
        return " ".join(["ordino studio", *(one.name for one in named)])


def _by_name(paths: Sequence[Path], *short: Callable[[Path], str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in paths:
        names = (*(one(path) for one in short), str(path), str(path.absolute()))
        found[next(name for name in names if name not in found or found[name].absolute() == path.absolute())] = path
    return found


def find_sources(paths: Sequence[str | Path], **more: Any) -> Sources:
    """Tell stores, models and data apart."""
    stores, models, data = list[Path](), list[Path](), list[Path]()
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise ParameterError(f"{path}: there is no such file or folder; check the path")
        (data if path.is_dir() else stores if _is_sqlite(path) else models if _is_model(path) else data).append(path)
    if len(stores) > 1:
        raise ParameterError(f"{stores[1]}: the studio shows one store at a time; open another studio for it")
    return Sources(stores[0] if stores else None, tuple(models), tuple(data), **more)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0" or (path.suffix == ".sqlite" and path.stat().st_size == 0)


def _is_model(path: Path) -> bool:
    if path.suffix == ".ordino":
        return True
    from ordino.model_file import read_card

    try:
        read_card(path)
    except OrdinoError:
        return False
    return True


@final
@dataclass
class Memory:
    """Results by what they were made from; the oldest go first."""

    _kept: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for this key before, or is made now."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)
        return made


def stamp(*paths: Path) -> tuple[tuple[int, int], ...]:
    """Something that changes with the files, their logs included."""
    found = []
    for path in paths:
        for one in (path, Path(f"{path}-wal")):
            with suppress(OSError):
                told = one.stat()
                found.append((told.st_mtime_ns, told.st_size))
    return tuple(found)


@final
class OpenStore:
    """A store that is open for one page."""

    def __init__(self, path: Path, memory: Memory) -> None:
        self.path, self._memory = path, memory
        self.stamp = (str(path), *stamp(path))
        self.damage: tuple[int, str] | None = None
        """How many trials could be read of a damaged store, and what stopped the reading."""
        self.store = self._opened()
        self.view = StoreView(self.store)

    def _opened(self) -> Store:
        store = Store(self.path, frozen=True)
        with suppress(OrdinoError):
            n_trials = sum(group.n_trials for group in StoreView(store).groups())
            StoreView(store).trials(limit=1, offset=max(0, n_trials - 1))
            return store
        return self._recovered(store)

    def _recover(self) -> None:
        self.store = self._recovered(self.store)
        self.view = StoreView(self.store)

    def _recovered(self, store: Store) -> Store:
        """A copy of what can be read of a damaged store."""
        trials, reason = store.whole_trials()
        store.close()
        self.damage = len(trials), reason
        copy = Store(MEMORY)
        copy.add(*trials)
        return copy

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    def groups(self) -> list[Group]:
        """Data sets and profiles."""
        return self.view.groups()

    def board(
        self, group: Group, measures: Sequence[str] | None, baseline: str | None, test: str, *, every: bool = False,
        only_first: bool = False,
    ) -> Board:  # fmt: skip
        """A board of this group: of the measures to show, of every one, or of the first alone."""
        chosen_by = (tuple(measures or ()), baseline, test, every, only_first)
        key = ("board", self.stamp, group.dataset, group.profile, *chosen_by)

        def remember(name: Hashable, read: Callable[[], Any]) -> Any:
            return self._memory.get(("values", self.stamp, group.dataset, group.profile, name), read)

        def make() -> Board:
            chosen: dict[str, Any] = {"measures": measures, "baseline": baseline, "test": test}
            chosen |= {"only_shown": not every, "only_first": only_first}
            return make_boards(self.view, **chosen, groups=[group], remember=remember)[0]

        try:
            found: Board = self._memory.get(key, make)
        except DataError:
            if self.damage is not None:
                raise
            self._recover()  # what is damaged may be what a board alone reads
            if group.dataset not in {one.dataset for one in self.view.groups()}:
                raise
            found = make()
        return found

    def remembered(self, name: str, make: Callable[[], Any], *more: Hashable) -> Any:
        """A result that stands until the store changes."""
        return self._memory.get((name, self.stamp, *more), make)

    @contextmanager
    def kept(self) -> Iterator[Kept | None]:
        """What lies beside the store, if anything."""
        path = kept_path(self.path)
        if not path.is_file():
            yield None
            return
        with Kept(path) as opened:
            yield opened

    @property
    def models(self) -> Path:
        """The folder of models beside the store."""
        return models_folder(self.path)
