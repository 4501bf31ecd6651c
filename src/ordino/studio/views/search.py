"""Search: the history of a tuning, its settings as parallel coordinates, and which parameter mattered."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ordino.experiment.store.trial import TrialInfo
from ordino.experiment.store.view import SearchKey
from ordino.metrics import parse_metric
from ordino.pages.numbers import fixed, listed, measure_title
from ordino.studio.ask import Ask, State, StateError
from ordino.studio.parallel import AXES, draw_parallel, is_inside, numbers_of, ranges_of, text_of

MOST = 1000
"""Trials of one search that are read: the last ones."""
ROWS = 30
BINS = 4  # of a numeric parameter, when asking how much it explains


class Tried(NamedTuple):
    """A setting that was tried."""

    number: int
    value: float
    params: dict[str, Any]
    fold: str
    seconds: float


class Mattered(NamedTuple):
    """How much of the spread of the metric a parameter explains."""

    name: str
    share: float
    best: str
    """Its value in the best setting."""


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with studio.store() as opened:
        searches = opened.view.searches()
        if not searches:
            then = "A search tries settings on validation data and keeps every one. Start one:"
            code = f"ordino search DATA --ranker ranknet --trials 30 --out {opened.path.name}"
            raise StateError(State("No setting was searched for in this store.", then, code))
        names = _names(searches)
        name = ask.choice("search", names, names[0])
        chosen = searches[names.index(name)]
        first = max(opened.view.n_tuning(chosen) - MOST, 0)
        trials = opened.view.tuning(chosen, limit=MOST, offset=first)
    metric = next((trial.chosen_by for trial in trials if trial.chosen_by), next(iter(trials[0].valid)))
    tried = _tried(trials, metric, first)
    quality = parse_metric(metric).quality
    best = max(tried, key=lambda one: float(quality(one.value)))
    varied = _varied(tried)
    best_first = sorted(range(len(tried)), key=lambda i: -float(quality(tried[i].value)))
    columns = {name: [one.params.get(name) for one in tried] for name in varied[:AXES]}
    columns[metric] = [one.value for one in tried]
    as_numbers = {name: numbers_of(values)[0] for name, values in columns.items()}
    ranges = ranges_of(ask, as_numbers)
    picked = [i for i in best_first if is_inside({name: own[i] for name, own in as_numbers.items()}, ranges)]
    titles = {name: measure_title(name) if name == metric else name for name in columns}
    named = [f"Setting {one.number}: {fixed(one.value)}" for one in tried]
    mattered = sorted((_mattered(name, tried, best) for name in varied), key=lambda one: -one.share)
    return {
        "names": names,
        "name": name,
        "metric": metric,
        "tried": [tried[i] for i in picked[:ROWS]],
        "n_picked": len(picked),
        "ranges": ranges,
        "titles": titles,
        "n_tried": len(tried),
        "best": best,
        "varied": varied,
        "mattered": mattered,
        "damage": opened.damage,
        "finding": _finding(tried, best, mattered, metric, is_cut=first > 0),
        "fixed_params": _fixed(tried, varied),
        "history": _history(tried, metric),
        "parallel": draw_parallel(titles, columns, best_first, named, ranges) if varied else None,
        "seconds": sum(one.seconds for one in tried),
    }


def _names(searches: Sequence[SearchKey]) -> list[str]:
    """A name for each search: experiment and profile are in it where the store has several."""
    several = [name for name in ("profile", "experiment") if len({getattr(one, name) for one in searches}) > 1]
    return [
        ", ".join([f"{one.label} on {one.dataset}", one.fold, *(f"{name} {getattr(one, name)}" for name in several)])
        for one in searches
    ]


def _tried(trials: Sequence[TrialInfo], metric: str, first: int) -> list[Tried]:
    """The settings with a value, by their numbers in the search, of which so many stand before these."""
    tried = [
        Tried(first + i, trial.valid[metric], dict(trial.params), trial.fold, trial.train_seconds)
        for i, trial in enumerate(trials, 1)
        if trial.valid.get(metric) is not None and trial.valid[metric] == trial.valid[metric]
    ]
    if not tried:
        raise StateError(State("No setting of this search has a value yet."))
    return tried


def _varied(tried: Sequence[Tried]) -> list[str]:
    names = dict.fromkeys(name for one in tried for name in one.params)
    return [name for name in names if len({json.dumps(one.params.get(name)) for one in tried}) > 1]


def _fixed(tried: Sequence[Tried], varied: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, json.dumps(value)) for name, value in tried[0].params.items() if name not in varied]


def _mattered(name: str, tried: Sequence[Tried], best: Tried) -> Mattered:
    """The share of the variance of the metric between the values of a parameter, or between quarters of its range."""
    values = [one.params.get(name) for one in tried]
    y = np.array([one.value for one in tried])
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        ranks = np.argsort(np.argsort(np.array(values, float), kind="stable"), kind="stable")
        groups = (ranks * min(BINS, max(1, len(tried) // 3)) // len(tried)).astype(int).tolist()
        if len(set(values)) <= BINS:
            groups = [sorted(set(values)).index(value) for value in values]  # type: ignore[type-var]
    else:
        texts = [json.dumps(value) for value in values]
        groups = [sorted(set(texts)).index(text) for text in texts]
    total = float(((y - y.mean()) ** 2).sum())
    within = sum(float(((own - own.mean()) ** 2).sum()) for g in set(groups) if len(own := y[np.array(groups) == g]))
    return Mattered(name, 0.0 if total == 0 else max(0.0, 1 - within / total), text_of(best.params.get(name)))


def _finding(tried: Sequence[Tried], best: Tried, mattered: Sequence[Mattered], metric: str, *, is_cut: bool) -> str:
    which = f"{'the last ' if is_cut else ''}{len(tried):,} settings"
    told = f"The best of {which} reaches {fixed(best.value)} {measure_title(metric)} on validation data"
    strong = [one.name for one in mattered if one.share >= 0.2][:2]
    if len(tried) >= 8 and strong:
        return f"{told}; {listed(strong)} mattered most."
    return f"{told}."


def _history(tried: Sequence[Tried], metric: str) -> str:
    """Settings as grey dots in their order, and the best so far as a step."""
    sign = parse_metric(metric).quality(1)
    best = -np.inf
    values = []
    for one in tried:
        best = max(best, sign * one.value)
        values.append({"trial": one.number, "value": round(one.value, 5), "best": round(sign * best, 5)})
    x = {
        "field": "trial",
        "type": "quantitative",
        "title": "setting",
        "scale": {"nice": False},
        "axis": {"tickMinStep": 1},
    }
    return json.dumps(
        {
            "data": {"values": values},
            "width": "container",
            "height": 220,
            "layer": [
                {
                    "mark": {"type": "point", "filled": True, "size": 36, "color": "@rule"},
                    "encoding": {
                        "x": x,
                        "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}},
                        "tooltip": [{"field": "trial"}, {"field": "value"}],
                    },
                },
                {
                    "mark": {"type": "line", "interpolate": "step-after", "color": "@ink"},
                    "encoding": {"x": x, "y": {"field": "best", "type": "quantitative"}},
                },
            ],
            "description": "Each setting by its value, and the best so far",
        }
    )
