"""A brief rehearsal of a setting on a few queries: it finds wrong values early, and compiles what training will use.

Rankers check their parameters when they are fitted. Fitting them on three queries, with two epochs or rounds, asks the
same questions and takes little more time than loading what they are made of.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.experiment.plan.ranker_entry import Entry, known_parameters
from ordino.interrupts import all_or_nothing
from ordino.parameters import Range
from ordino.ranker import Ranker

QUERIES = 3


def rehearse(ranker: Ranker, seeds: Sequence[int], train: Dataset, valid: Dataset | None) -> None:
    """Fit the ranker briefly on a few queries, with one seed or with two at once, and let it score them."""
    brief = ranker.set_params(**brief_params(ranker))
    few, held_out = _few(train), None if valid is None else _few(valid)
    with warnings.catch_warnings(), all_or_nothing():
        warnings.simplefilter("ignore")
        if len(seeds) > 1:
            brief = brief.fit_repeats(few, seeds[:2], valid=held_out)[0]
        else:
            brief.fit(few, valid=held_out)
        brief.predict(few)


def brief_params(ranker: Ranker) -> dict[str, Any]:
    """The parameters that make learning short, where the ranker has longer ones."""
    return {
        name: known.brief
        for name, known, value in known_parameters(ranker)
        if known.brief is not None and isinstance(value, int) and value > known.brief
    }


def settings_to_rehearse(entry: Entry) -> Iterator[dict[str, Any]]:
    """Every value that the entry may take, once, with all others as they come first."""
    if entry.trials:
        spaces = {name: space for name, space in entry.search_space().items() if name not in entry.params}
        ends = {name: (one.low, one.high) if isinstance(one, Range) else one.values for name, one in spaces.items()}
        tables: Sequence[Mapping[str, Sequence[Any]]] = [ends]
    else:
        tables = entry.grids or [{}]
    for values in tables:
        first = {name: several[0] for name, several in values.items()} | dict(entry.params)
        yield first
        for name, several in values.items():
            for value in several[1:]:
                yield first | {name: value}


def _few(data: Dataset) -> Dataset:
    return data.select_queries(np.arange(min(QUERIES, data.n_queries)))
