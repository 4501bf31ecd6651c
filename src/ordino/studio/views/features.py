"""Features: what each is worth, how its values lie by label, how much it varies inside queries, and drift."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.data.dataset import Dataset
from ordino.errors import OrdinoError
from ordino.explain import permutation_importance
from ordino.metrics import parse_metric
from ordino.pages.numbers import listed, measure_title
from ordino.studio.ask import Ask, State, StateError
from ordino.studio.shelf import ModelShelf, loaded
from ordino.studio.sources import stamp
from ordino.studio.views.board import chosen_board, chosen_group
from ordino.studio.views.data import open_parts
from ordino.studio.views.model import _asked as asked_model

PAGE = 25
SAMPLE = 20_000
"""Rows that distributions are drawn from."""
BINS = 12
RANKERS = 3
"""Columns of weights."""
DRIFTED = 0.1
"""The distance of two distributions (Kolmogorov and Smirnov) from which on a feature is said to have drifted."""
SORTS = ("worth", "name", "labels", "spread", "missing", "drift")


class Feature(NamedTuple):
    """A row of the table."""

    name: str
    weights: Sequence[float | None]
    relevant: Sequence[float]
    others: Sequence[float]
    labels: float
    """The mean over queries of its rank correlation with the labels."""
    spread: float
    """The share of its variance that lies inside queries."""
    missing: float
    drift: float | None


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    there = ask.text("against")  # a part of the data, where other pages name a ranker
    ask = Ask(ask.page, [one for one in ask.given if one[0] != "against"])
    weights = _weights(studio, ask)
    try:
        parts = open_parts(studio, ask)
    except StateError:
        if not weights:
            raise
        parts = {}
    names = list(parts)
    here = ask.text("part", names[0] if names else "")
    if here not in parts and parts:
        here = names[0]
    facts = _facts(studio, parts[here], parts.get(there)) if parts else {}
    importance = _importance(studio, ask, parts.get(here))
    if importance:
        weights = {f"{ask.text('ranker')}, {measure_title(importance[0])}": importance[1]} | weights
    shown = dict(list(weights.items())[:RANKERS])
    sort = ask.choice("sort", SORTS, "worth")
    features = _sorted(_rows(facts, shown), sort)
    containing = ask.text("containing").lower()
    features = [one for one in features if containing in one.name.lower()]
    start = min(ask.whole("from", 1, 10**6) - 1, max(0, len(features) - 1))
    tallest = [max((abs(w) for w in own.values()), default=1.0) or 1.0 for own in shown.values()]
    return {
        "features": features[start : start + PAGE],
        "n_features": len(features),
        "start": start,
        "page_size": PAGE,
        "rankers": list(shown),
        "largest": tallest,
        "sets": names,
        "part": here,
        "against": there,
        "sort": sort,
        "finding": _finding(features, list(shown)),
        "containing": ask.text("containing"),
        "has_data": bool(parts),
        "measures": ["ndcg@10", "map", "mrr"],
        "ranker": ask.text("ranker"),
        "importance": importance is not None,
        "labels": _labels(studio, ask),
        "drifted": sum((one.drift or 0) > DRIFTED for one in features),
        "limit": DRIFTED,
    }


def _weights(studio: Any, ask: Ask) -> dict[str, dict[str, float]]:
    """By ranker the weights of its features, as the store has them; the asked one first."""
    if studio.sources.store is None:
        return {}
    found: dict[str, dict[str, float]] = {}
    with studio.store() as opened:
        group, _ = chosen_group(opened, ask)
        board = chosen_board(opened, ask, group, only_lines=True)
        lines = sorted(board.lines, key=lambda line: line.label != ask.text("ranker"))
        for line in lines:
            total: dict[str, float] = {}
            for trial in line.trials[:10]:
                known = opened.view.feature_weights(trial.key)
                largest = max(map(abs, (known or {}).values()), default=0.0) or 1.0
                for name, weight in (known or {}).items():
                    total[name] = total.get(name, 0.0) + weight / largest / len(line.trials[:10])
            if total:
                found[line.label] = total
            if len(found) == RANKERS:
                break
    return found


def _labels(studio: Any, ask: Ask) -> list[str]:
    if studio.sources.store is None:
        return ModelShelf(studio.sources, studio.memory).labels()
    with studio.store() as opened:
        return [line.label for line in chosen_board(opened, ask, chosen_group(opened, ask)[0], only_lines=True).lines]


def _importance(studio: Any, ask: Ask, data: Dataset | None) -> tuple[str, dict[str, float]] | None:
    """How much a measure falls when a feature is shuffled, where that was asked for."""
    measure = ask.text("importance")
    if not measure or data is None:
        return None
    parse_metric(measure)
    asked = asked_model(studio, ask)
    if asked.path is None:
        then = "Keep it: run the same command with --models."
        raise StateError(State(f"The model of {asked.name} was not kept.", then, kind="late"))
    path = asked.path

    def make() -> tuple[Dataset, dict[str, float]]:  # with the data, so that no other gets its id meanwhile
        some = data.select_queries(np.arange(min(60, data.n_queries)))
        try:
            found = permutation_importance(loaded(path, studio.memory), some, metric=measure, repeats=1, n_jobs=1)
        except OrdinoError as error:
            raise StateError(State(str(error), kind="wrong", role="alert"), 400) from None
        return data, {one.feature: one.importance for one in found}

    return measure, studio.memory.get(("importance", str(path), stamp(path), measure, id(data)), make)[1]


def _facts(studio: Any, data: Dataset, other: Dataset | None) -> dict[str, Any]:
    """What is known of each feature in the data."""
    key = ("features", id(data), id(other))
    *_, found = studio.memory.get(key, lambda: (data, other, _measure(data, other)))  # no other gets their ids
    return dict(found)


def _measure(data: Dataset, other: Dataset | None) -> dict[str, Any]:
    few = data.select_queries(np.arange(data.n_queries)[: _queries_of(data)])
    X, y = few.X.astype(np.float64), few.y
    query = few.query_number
    names = list(name_features(data.feature_names, data.n_features))
    low, high = np.nanpercentile(X, 1, axis=0), np.nanpercentile(X, 99, axis=0)
    found = {}
    place = _places_in(other, names)
    for j, name in enumerate(names):
        x = X[:, j]
        there = np.isfinite(x)
        edges = (
            np.linspace(low[j], high[j], BINS + 1)
            if high[j] > low[j]
            else np.linspace(low[j] - 1, low[j] + 1, BINS + 1)
        )
        shares = [_histogram(x[there & mask], edges) for mask in (y > 0, y <= 0)]
        own, of = x[there], query[there]  # what is missing goes with nothing
        total = float(np.var(own)) if len(own) else 0.0
        inside = float(np.mean((own - _means_within(own, of)) ** 2) / total) if total > 0 else 0.0
        found[name] = {
            "relevant": shares[0],
            "others": shares[1],
            "spread": inside,
            "missing": float(1 - there.mean()),
            "labels": _correlation(_ranks_within(own, of), _ranks_within(y[there], of)) if total > 0 else 0.0,
            "drift": _distance(own, other.X[:SAMPLE, place[name]].astype(np.float64))
            if other is not None and name in place
            else None,
        }
    return found


def _places_in(other: Dataset | None, names: Sequence[str]) -> dict[str, int]:
    """Where other data has the features: by name, or by place if it has no names."""
    if other is None:
        return {}
    theirs = other.feature_names or names[: other.n_features]
    return {name: j for j, name in enumerate(theirs)}


def _queries_of(data: Dataset) -> int:
    return max(1, int(np.searchsorted(data.offsets, SAMPLE)))


def _histogram(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[float]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    most = counts.max(initial=0)
    return (counts / most).round(3).tolist() if most else [0.0] * (len(edges) - 1)


def _ranks_within(values: NDArray[np.float64], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ranks inside queries, centered; equal values share the middle rank."""
    order = np.lexsort((values, query))
    v, q = values[order], query[order]
    new = np.append(True, (v[1:] != v[:-1]) | (q[1:] != q[:-1]))
    group = np.cumsum(new) - 1
    middle = (np.bincount(group, np.arange(len(v))) / np.bincount(group))[group]
    ranks = np.empty(len(v))
    ranks[order] = middle
    return ranks - _means_within(ranks, query)


def _means_within(values: NDArray[np.float64], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each document the mean over its query."""
    return np.asarray((np.bincount(query, values) / np.maximum(np.bincount(query), 1))[query])


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum() / size) if size else 0.0


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The largest distance of two cumulated distributions."""
    b = b[np.isfinite(b)]
    if not len(a) or not len(b):
        return 0.0
    every = np.sort(np.concatenate((a, b)))
    left, right = (np.searchsorted(np.sort(one), every, side="right") / len(one) for one in (a, b))
    return float(np.max(np.abs(left - right)))


def _rows(facts: Mapping[str, Any], weights: Mapping[str, Mapping[str, float]]) -> list[Feature]:
    names = list(facts) or list(dict.fromkeys(name for own in weights.values() for name in own))
    empty = {"relevant": [], "others": [], "labels": 0.0, "spread": 0.0, "missing": 0.0, "drift": None}
    columns = weights.values()
    return [Feature(name, [of.get(name) for of in columns], **facts.get(name, empty)) for name in names]


def _sorted(rows: list[Feature], by: str) -> list[Feature]:
    keys = {
        "worth": lambda one: -(abs(one.weights[0] or 0.0) if one.weights else abs(one.labels)),
        "name": lambda one: one.name,
        "labels": lambda one: -abs(one.labels),
        "spread": lambda one: -one.spread,
        "missing": lambda one: -one.missing,
        "drift": lambda one: -(one.drift or 0.0),
    }
    return sorted(rows, key=keys[by])


def _finding(features: Sequence[Feature], rankers: Sequence[str]) -> str:
    if not features:
        return "No feature has this in its name."
    if rankers:
        top = sorted(features, key=lambda one: -abs(one.weights[0] or 0.0))[:3]
        return f"{listed([one.name for one in top])} {'weighs' if len(top) == 1 else 'weigh'} most in {rankers[0]}."
    top = sorted(features, key=lambda one: -abs(one.labels))[:3]
    return f"{listed([one.name for one in top])} {'goes' if len(top) == 1 else 'go'} best with the labels."
