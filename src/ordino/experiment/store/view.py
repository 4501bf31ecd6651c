"""A view of a store: boards, pages and papers read only what they show, page by page."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Self, final
from weakref import finalize

from ordino.checks import check_choice
from ordino.errors import DataError
from ordino.experiment.store.file_format import FAR, NEAR, SUMS, check, from_near, to_info, to_list, to_values, typed
from ordino.experiment.store.store import MEMORY, Store
from ordino.experiment.store.sums import KNOWN, READ, READ_QUERIES, TABLES, Sum, read_queries, read_sums
from ordino.experiment.store.trial import Trial, TrialInfo, Values, grouped

PAGE = 500
"""How many trials are read at a time."""


class Group(NamedTuple):
    """The trials of one data set and profile: what a board shows."""

    dataset: str
    profile: str
    labels: Sequence[str]
    n_trials: int


OF_SEARCH = "test = '{}' AND experiment = ? AND dataset = ? AND profile = ? AND fold = ? AND label = ?"
"""Which trials are of a search, given its key."""


class SearchKey(NamedTuple):
    """The search of one ranker's settings on one fold."""

    experiment: str
    dataset: str
    profile: str
    fold: str
    label: str


@final
class StoreView(AbstractContextManager["StoreView"]):
    """The trials in a store that were evaluated on test data.

    Parameters
    ----------
    source
        The file of a store, or an open store.
    experiment
        Only the trials of this experiment.
    keys
        Only the trials with these keys.

    Examples
    --------
    >>> trial = Trial(key="1", dataset="letters", fold="Fold1", ranker="ranknet", label="RankNet", params={}, seed=0,
    ...               profile="standard", test={"mrr": 0.75}, per_query={"mrr": [1.0, 0.5]}, query_ids=[7, 9])
    >>> with StoreView.of([trial]) as view:
    ...     view.groups(), view.trials()[0].test, [(key, values.tolist()) for key, values in view.values("mrr")]
    ([Group(dataset='letters', profile='standard', labels=['RankNet'], n_trials=1)], {'mrr': 0.75}, [('1', [1.0, 0.5])])
    """

    def __init__(
        self, source: str | Path | Store, *, experiment: str | None = None, keys: Iterable[str] | None = None
    ) -> None:
        self._store = source if isinstance(source, Store) else _opened(Path(source))
        self._owns = not isinstance(source, Store)
        if self._owns:
            finalize(self, self._store.close)
        self._where, self._given = "test <> '{}'", list[str]()
        if experiment is not None:
            check_choice("experiment", experiment, self.experiments())
            self._where, self._given = f"{self._where} AND experiment = ?", [experiment]
        if keys is not None:
            self._where += " AND key IN (SELECT value FROM json_each(?))"
            self._given.append(json.dumps(list(keys)))
        if self._owns and not self.groups():
            raise DataError(f"{source}: has no trial that was evaluated on test data; run `ordino bench` first")

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> Self:
        """A view of trials that are not in a file."""
        store = Store(MEMORY)
        store.add(*trials)
        view = cls(store)
        view._owns = True
        finalize(view, store.close)
        return view

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, if the view opened it."""
        if self._owns:
            self._store.close()

    def experiments(self) -> list[str]:
        """The names of the experiments, in the order of their first trials."""
        rows = self._store.rows("SELECT experiment FROM trials GROUP BY experiment ORDER BY min(number)")
        return [name for (name,) in rows]

    def groups(self) -> list[Group]:
        """The data sets and profiles, in the order of their first trials."""
        rows = self._rows(
            "SELECT dataset, profile, label, count(*) FROM trials WHERE {} "
            "GROUP BY dataset, profile, label ORDER BY min(number)"
        )
        found = grouped(((dataset, profile), of) for dataset, profile, *of in rows)
        return [Group(*group, [label for label, _ in of], sum(n for _, n in of)) for group, of in found.items()]

    def trials(self, group: Group | None = None, *, limit: int = -1, offset: int = 0) -> list[TrialInfo]:
        """The trials without their per-query values and histories, in the order of writing."""
        question = f"SELECT number, {', '.join(NEAR)} FROM trials WHERE {{}} ORDER BY number LIMIT ? OFFSET ?"
        return self._infos(self._rows(question, limit, offset, group=group))

    def _infos(self, rows: list[Any]) -> list[TrialInfo]:
        """Trials by their number and the columns that are quickly read; the others come from an index, if there is."""
        if not rows:
            return []
        question = f"SELECT number, {', '.join(FAR)} FROM trials WHERE number BETWEEN ? AND ?"
        far = {number: found for number, *found in self._store.rows(question, rows[0][0], rows[-1][0])}
        with self._store.reading():
            return [to_info(from_near(near, far[number])) for number, *near in rows]

    def values(
        self, metric: str, *, part: str = "test", group: Group | None = None, limit: int = -1, offset: int = 0
    ) -> list[tuple[str, Values]]:
        """The key of each trial with its values of one metric, in the order of writing."""
        rows = self._rows(
            "SELECT key, numbers, sum FROM trials JOIN query_values ON trial = number AND part = ? AND metric = ? "
            "WHERE {} ORDER BY number LIMIT ? OFFSET ?",
            limit, offset, group=group, before=(part, metric),
        )  # fmt: skip
        with self._store.reading():
            return [(key, to_values(key, part, metric, *found)) for key, *found in rows]

    def pages(self, metric: str, *, part: str = "test", group: Group | None = None) -> Iterator[tuple[str, Values]]:
        """The same for all trials, with one page in memory at a time."""
        offset = 0
        while page := self.values(metric, part=part, group=group, limit=PAGE, offset=offset):
            yield from page
            offset += PAGE

    def chosen(self, metric: str, keys: Sequence[str]) -> Iterator[tuple[str, Values]]:
        """The same for the trials with these keys."""
        for start in range(0, len(keys), PAGE):
            rows = self._store.rows(
                "SELECT key, numbers, sum FROM trials JOIN query_values ON trial = number AND part = 'test' "
                "AND metric = ? WHERE key IN (SELECT value FROM json_each(?)) ORDER BY number",
                metric, json.dumps(keys[start : start + PAGE]),
            )  # fmt: skip
            with self._store.reading():
                yield from [(key, to_values(key, "test", metric, *found)) for key, *found in rows]

    def sums(self, metric: str, settings: Iterable[str]) -> dict[str, Sum]:
        """By setting the sums over its trials, where the store has them."""
        if not self._has_sums():
            return {}
        return read_sums(self._store.rows(READ, metric, json.dumps(list(settings))), metric)

    def test_queries(self, data: Iterable[str]) -> dict[str, list[Any]]:
        """By fingerprint of a fold the ids of its test queries, where the store has them."""
        return read_queries(self._store.rows(READ_QUERIES, json.dumps(list(data)))) if self._has_sums() else {}

    def _has_sums(self) -> bool:
        return bool(self._store.rows(KNOWN)[0][0] == len(TABLES))

    def values_of(self, key: str, metric: str, *, part: str = "test") -> Values:
        """The values of one metric in one trial."""
        rows = self._store.rows(
            "SELECT numbers, sum FROM trials JOIN query_values ON trial = number "
            "WHERE key = ? AND part = ? AND metric = ?",
            key, part, metric,
        )  # fmt: skip
        with self._store.reading():
            [found] = rows
            return to_values(key, part, metric, *found)

    def query_ids(self, group: Group | None = None) -> Iterator[tuple[str, list[Any]]]:
        """The key of each trial with the ids of its test queries."""
        known: dict[str, list[Any]] = {}
        question = f"SELECT key, query_ids, {SUMS} FROM trials WHERE {{}} ORDER BY number"
        for key, text, sums in self._rows(question, group=group):
            with self._store.reading():
                check("query_ids", [text], sums)
                if text not in known:
                    known[text] = to_list(text)
            yield key, known[text]

    def searches(self) -> list[SearchKey]:
        """The searches for settings that the store has trials of, in the order of their first trials."""
        rows = self._store.rows(
            "SELECT experiment, dataset, profile, fold, label FROM trials WHERE test = '{}' "
            "GROUP BY experiment, dataset, profile, fold, label ORDER BY min(number)"
        )
        return [SearchKey(*row) for row in rows]

    def n_tuning(self, search: SearchKey) -> int:
        """The number of trials of a search."""
        return int(self._store.rows(f"SELECT count(*) FROM trials WHERE {OF_SEARCH}", *search)[0][0])

    def tuning(self, search: SearchKey, *, limit: int = -1, offset: int = 0) -> list[TrialInfo]:
        """The trials of a search, which were measured on validation data alone, in the order of writing."""
        question = f"SELECT number, {', '.join(NEAR)} FROM trials WHERE {OF_SEARCH} ORDER BY number LIMIT ? OFFSET ?"
        return self._infos(self._store.rows(question, *search, limit, offset))

    def fold_queries(self, keys: Sequence[str]) -> dict[str, list[Any]]:
        """The ids of the test queries of each fold, as the trials with these keys have them."""
        rows = self._store.rows(
            f"SELECT fold, query_ids, {SUMS} FROM trials WHERE key IN (SELECT value FROM json_each(?)) ORDER BY number",
            json.dumps(list(keys)),
        )
        with self._store.reading():
            for _, text, sums in rows:
                check("query_ids", [text], sums)
            return {fold: to_list(text) for fold, text, _ in rows}

    def are_copies(self, metric: str, keys: Sequence[str]) -> bool:
        """Whether these trials have the same value for every test query."""
        [(n_distinct,)] = self._store.rows(
            "SELECT count(DISTINCT numbers) FROM trials JOIN query_values ON trial = number "
            "WHERE part = 'test' AND metric = ? AND key IN (SELECT value FROM json_each(?))",
            metric, json.dumps(list(keys)),
        )  # fmt: skip
        return int(n_distinct) == 1

    def history(self, key: str) -> list[dict[str, Any]]:
        """What happened in each epoch, round or generation of a trial."""
        history: list[dict[str, Any]] = self._opened("history", key, list)
        return history

    def feature_weights(self, key: str) -> Mapping[str, float] | None:
        """The weight of each feature in a trial, if it has weights."""
        weights: Mapping[str, float] | None = self._opened("feature_weights", key, dict | None)
        return weights

    def _opened(self, column: str, key: str, kind: Any) -> Any:
        rows = self._store.rows(f"SELECT {column}, {SUMS} FROM trials WHERE key = ?", key)
        with self._store.reading():
            [(text, sums)] = rows
            check(column, [text], sums)
            return typed(json.loads(text), kind, column)

    def _rows(
        self, question: str, *after: object, group: Group | None = None, before: Sequence[object] = ()
    ) -> list[Any]:
        """The rows of a question, in which {} stands for the condition that view and group put on a trial."""
        wanted, given = self._where, [*before, *self._given]
        if group is not None:
            wanted, given = f"{wanted} AND dataset = ? AND profile = ?", [*given, group.dataset, group.profile]
        return self._store.rows(question.replace("{}", wanted), *given, *after)


def _opened(path: Path) -> Store:
    if not path.is_file() or path.stat().st_size == 0:  # which opening would make into a store
        raise DataError(f"{path}: there is no such store; `ordino bench` makes one")
    return Store(path, frozen=not all(os.access(one, os.W_OK) for one in (path, path.absolute().parent)))
