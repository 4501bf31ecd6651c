"""The rankings of one query: kept beside a store, or made now by models that were named with their data.

A document without an id is called by its place in the data: ``d007`` is the seventh of its query.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.data.files import read_data
from ordino.data.folds import read_folds
from ordino.errors import OrdinoError
from ordino.experiment.report.board import Board
from ordino.experiment.run.driver import documents_path, model_path
from ordino.experiment.store import TrialInfo
from ordino.experiment.store.trial import grouped
from ordino.studio.ask import State, StateError
from ordino.studio.sources import Memory, OpenStore, Sources, stamp

Floats = NDArray[np.float64]
LOOKED_INTO = 64_000_000
"""Bytes of data up to which Query looks whether it is still what was measured."""


class Place(NamedTuple):
    """Where a query stands."""

    query: str
    fold: str
    number: int
    """Of the query in the test part of the fold."""


class Opened(NamedTuple):
    """A query with its documents and the scores of rankers."""

    place: Place
    doc_ids: Sequence[str]
    labels: Floats
    scores: Mapping[str, Floats]
    """By the label of a ranker; those whose rankings are not kept are missing."""

    @property
    def highest(self) -> float:
        """The highest label of the query."""
        return float(np.max(self.labels, initial=0))

    def order(self, ranker: str) -> NDArray[np.intp]:
        """The documents, best first; equal scores keep the order of the data."""
        return np.argsort(-self.scores[ranker], kind="stable")

    def row(self, doc_id: str) -> int | None:
        """The row of a document."""
        return self.doc_ids.index(doc_id) if doc_id in self.doc_ids else None


class Shelf(Protocol):
    """Rankings, and perhaps the models and documents behind them."""

    def labels(self) -> list[str]:
        """The rankers, best first where that is known."""

    def places(self) -> Mapping[str, Place]:
        """Every query by its id."""

    def open(self, place: Place, labels: Sequence[str]) -> Opened:
        """A query with the scores of these rankers."""

    def model(self, label: str, place: Place) -> Any:
        """The ranker behind a label."""

    def documents(self, place: Place) -> Dataset:
        """The documents of the query, with their features, as a data set of one query."""

    def changed(self, place: Place, documents: Dataset, label: str = "", scores: Floats | None = None) -> State | None:
        """What to say if these are not the documents that were measured, or not what the model of a label scored."""


def names_of(n_docs: int, given: Sequence[Any] | None) -> list[str]:
    """The ids of documents, or names by their places."""
    if given is not None and len({str(one) for one in given}) == n_docs:
        return [str(one) for one in given]
    width = max(3, len(str(n_docs)))
    return [f"d{i + 1:0{width}d}" for i in range(n_docs)]


@final
class StoreShelf:
    """The rankings beside a store."""

    def __init__(self, opened: OpenStore, board: Board, sources: Sources, memory: Memory) -> None:
        self._opened, self._board, self._sources, self._memory = opened, board, sources, memory
        self._trials = {line.label: grouped((trial.fold, trial) for trial in line.trials) for line in board.lines}

    def labels(self) -> list[str]:
        """As :class:`Shelf` says."""
        return [line.label for line in self._board.lines]

    def places(self) -> Mapping[str, Place]:
        """As :class:`Shelf` says."""

        def make() -> dict[str, Place]:
            found = self._opened.view.fold_queries([trial.key for trial in self._one_of_each_fold().values()])
            return {
                str(query): Place(str(query), fold, n) for fold, own in found.items() for n, query in enumerate(own)
            }

        key = (self._board.dataset, self._board.profile)
        places: dict[str, Place] = self._opened.remembered("places", make, *key)
        return places

    def _one_of_each_fold(self) -> dict[str, TrialInfo]:
        return {trial.fold: trial for line in self._board.lines for trial in line.trials}

    def open(self, place: Place, labels: Sequence[str]) -> Opened:
        """As :class:`Shelf` says."""
        with self._opened.kept() as kept:
            candidates = {label: [one.key for one in self._trials[label].get(place.fold, [])] for label in labels}
            there = set[str]() if kept is None else kept.keys([key for own in candidates.values() for key in own])
            first = {label: next((key for key in own if key in there), "") for label, own in candidates.items()}
            data = self._one_of_each_fold()[place.fold].data
            found = None if kept is None else kept.query(data, place.number, list(filter(None, first.values())))
        if found is None:
            raise StateError(self._nothing_kept(place))
        scored = {label: found.scores[key] for label, key in first.items() if key in found.scores}
        scores = {label: own for label, own in scored.items() if len(own) == len(found.labels)}
        return Opened(place, names_of(len(found.labels), found.doc_ids), found.labels, scores)

    def _nothing_kept(self, place: Place) -> State:
        name = self._opened.path.name
        then = f"To see query {place.query}, make the trials again with a newer Ordino, which keeps rankings:"
        code = f"ordino bench DATA --rankers … --models --out {name}"
        return State("This store has no rankings, only measures.", then, code, kind="late")

    def model(self, label: str, place: Place) -> Any:
        """As :class:`Shelf` says."""
        if (trial := self._with_model(label, place)) is not None:
            return loaded(model_path(self._opened.models, trial.key), self._memory)
        then = "Keep it: run the same command with --models; what lacks a model is trained again."
        code = f"ordino bench … --models --out {self._opened.path.name}"
        raise StateError(State(f"The model of {label} on {place.fold} was not kept.", then, code, kind="late"))

    def _with_model(self, label: str, place: Place) -> TrialInfo | None:
        own = self._trials[label].get(place.fold, [])
        return next((trial for trial in own if model_path(self._opened.models, trial.key).is_file()), None)

    def changed(self, place: Place, documents: Dataset, label: str = "", scores: Floats | None = None) -> State | None:
        """As :class:`Shelf` says."""
        trial = self._with_model(label, place) if label else None
        data = self._one_of_each_fold()[place.fold].data
        with self._opened.kept() as kept:
            found = None if kept is None else kept.query(data, place.number, [trial.key] if trial else [])
        if found is None:
            return None
        measured = None if trial is None or scores is None else found.scores.get(trial.key)
        if np.array_equal(found.labels, documents.y) and (
            measured is None or scores is None or np.allclose(measured, scores, rtol=1e-4, atol=1e-6)
        ):
            return None
        then = (
            f"What you see are the stored figures. Why cannot tell of query {place.query} until the data of "
            f"{place.fold} has the fingerprint {data[:12]} again."
        )
        return State("The data has changed since these trials were made.", then, kind="late")

    def named_documents(self, place: Place, most: float = LOOKED_INTO) -> Dataset | None:
        """The query in data that was named beside the store, if that is not too large to look into.

        Several data sets may have a query of this id: that which was measured is the first choice.
        """
        sources = [source for source in self._sources.data if most == inf or _size(source) <= most]
        found = [one for source in sources if (one := _query_in(source, place.query, self._memory)) is not None]
        return next((one for one in found if self.changed(place, one) is None), found[0] if found else None)

    def documents(self, place: Place) -> Dataset:
        """As :class:`Shelf` says."""
        data = self._one_of_each_fold()[place.fold].data
        path = documents_path(self._opened.models, data)
        if path.is_file():
            whole: Dataset = self._memory.get(("documents", str(path), stamp(path)), lambda: Dataset.open(path))
            return whole.select_queries([place.number])
        if (found := self.named_documents(place, most=inf)) is not None:
            return found
        then = "Keep them with --models, or name the data beside the store:"
        code = f"ordino studio {self._opened.path.name} DATA"
        raise StateError(State("The documents of this query were not kept.", then, code, kind="late"))


@final
class ModelShelf:
    """Models and data that were named, without a store: the rankings are made now."""

    def __init__(self, sources: Sources, memory: Memory) -> None:
        self._memory = memory
        self._models, self._data = sources.models_by_name, sources.data_by_name

    def labels(self) -> list[str]:
        """As :class:`Shelf` says."""
        return list(self._models)

    def places(self) -> Mapping[str, Place]:
        """As :class:`Shelf` says."""
        return {
            str(query): Place(str(query), name, number)
            for name, path in self._data.items()
            for part in parts_of(path, self._memory).values()
            for number, query in enumerate(part.query_ids.tolist())
        }

    def open(self, place: Place, labels: Sequence[str]) -> Opened:
        """As :class:`Shelf` says."""
        data = self.documents(place)
        scores = {label: np.asarray(self.model(label, place).predict(data)) for label in labels}
        return Opened(place, names_of(data.n_docs, _ids(data)), data.y, scores)

    def model(self, label: str, place: Place) -> Any:  # noqa: ARG002
        """As :class:`Shelf` says."""
        return loaded(self._models[label], self._memory)

    def documents(self, place: Place) -> Dataset:
        """As :class:`Shelf` says."""
        if (found := _query_in(self._data[place.fold], place.query, self._memory)) is not None:
            return found
        raise StateError(State(f"There is no query {place.query} in {place.fold}.", kind="wrong", role="alert"), 404)

    def changed(self, place: Place, documents: Dataset, label: str = "", scores: Floats | None = None) -> State | None:  # noqa: ARG002
        """Nothing was measured before."""
        return None


def loaded(path: Path, memory: Memory) -> Any:
    """A ranker, which stays in memory while its file does not change."""
    from ordino.model_file import load

    try:
        return memory.get(("model", str(path), stamp(path)), lambda: load(path))
    except OrdinoError as error:
        raise StateError(State(str(error), kind="wrong", role="alert"), 400) from None


def parts_of(path: Path, memory: Memory) -> dict[str, Dataset]:
    """The parts of a folder of folds (of its first fold), or the one data set of a file, by name."""

    def read() -> dict[str, Dataset]:
        if not path.is_dir():
            return {path.name: read_data(path)}
        first = read_folds(path)[0]
        return {name: own for name, own in first._asdict().items() if isinstance(own, Dataset)}

    inside = sorted(path.rglob("*"))[:50] if path.is_dir() else []
    found: dict[str, Dataset] = memory.get(("data", str(path), stamp(path, *inside)), read)
    return found


def _query_in(path: Path, query: str, memory: Memory) -> Dataset | None:
    with suppress(OrdinoError):
        for part in parts_of(path, memory).values():
            numbers = np.flatnonzero(np.array([str(one) for one in part.query_ids.tolist()]) == query)
            if len(numbers):
                return part.select_queries(numbers[:1])
    return None


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file())


def _ids(data: Dataset) -> list[Any] | None:
    return None if data.doc_ids is None else list(data.doc_ids.tolist())
