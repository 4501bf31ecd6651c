"""The protocol that SortNet, DeepNet and RankDE share: systems on LETOR's folds, with several seeds, on some parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ordino.experiment.papers.result import Number
from ordino.experiment.papers.target import Request, System
from ordino.experiment.papers.trials import LETOR_METRICS, Trials

WITH_ERROR = (*LETOR_METRICS, "pairwise_error")
"""What every trial of SortNet's and DeepNet's tables is measured by, so that tables can share trials."""
PARTS = ("train",)
"""The parts beside validation and test whose values are stored."""


class Row(NamedTuple):
    """A row of a paper's table: a system, and what the paper says of it, by collection and by part and metric."""

    label: str
    system: System
    paper: Mapping[str, Mapping[str, float]] = MappingProxyType({})


def rows_of(
    rows: Sequence[Row],
    collection: str,
    metrics: Sequence[str],
    parts: Sequence[str],
    request: Request,
    trials: Trials,
) -> list[Number]:
    """A number for each row, part and metric, labelled so after the collection; one value for each seed."""
    numbers = []
    for label, system, papers in rows:
        same_data = collection in papers
        paper = papers[collection] if same_data else next(iter(papers.values()), {})
        for part in parts:
            for metric in metrics:
                values = trials.by_seed(collection, system.label(request), metric, part)
                printed = paper.get(f"{part} {metric}")
                numbers.append(Number((collection, label, part, metric), printed, values, same_data))
    return numbers
