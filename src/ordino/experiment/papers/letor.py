"""The protocol that SortNet, DeepNet and RankDE share: systems on LETOR's folds, with several seeds, on some parts."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.data.folds import Folds
from ordino.experiment.papers.result import Axes, Number, Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan

LETOR_METRICS = ("map", *(f"p@{k}" for k in range(1, 11)), *(f"ndcg@{k}" for k in range(1, 11)))
WITH_ERROR = (*LETOR_METRICS, "pairwise_error")
"""What every trial is measured by, on the training part too, so that tables can share trials."""


class Row(NamedTuple):
    """A row of a paper's table: a system, and what the paper says of it, by collection and by part and metric."""

    label: str
    system: System
    paper: Mapping[str, Mapping[str, float]] = MappingProxyType({})


def letor_table(
    *, shows: str, takes: str, rows: Callable[[str, Folds], Sequence[Row]], protocol: str, collections: Sequence[str],
    metrics: Sequence[str] = LETOR_METRICS, parts: Sequence[str] = ("test",), profile: str = "standard",
    axes: Axes | None = None, notes: Callable[[Sequence[Number]], Sequence[str]] = lambda _: (),
) -> Target:  # fmt: skip
    """A table or bar chart of systems on collections: means over the folds, one value for each seed.

    ``rows`` gives the rows on a collection of a name; ``notes`` says something of the numbers.
    """

    def plans(request: Request) -> list[Plan]:
        how: dict[str, Any] = {"measures": WITH_ERROR, "parts": ("train",), "profile": profile}
        return [
            request.plan({name: folds}, [row.system for row in rows(name, folds)], **how)
            for name, folds in request.collections(collections).items()
        ]

    def view(request: Request, trials: Trials) -> list[Number | str]:
        numbers = [
            row_number(row, name, part, metric, request, trials)
            for name, folds in request.collections(collections).items()
            for row in rows(name, folds)
            for part in parts
            for metric in metrics
        ]
        return [*numbers, *notes(numbers)]

    needs = ", ".join(collections)
    columns = ("collection", "method", "part", "measure")
    page = Result(shows, columns, protocol=protocol, axes=axes)
    return Target(shows=shows.format(data=needs), needs=needs, takes=takes, plans=plans, page=page, view=view)


def row_number(row: Row, collection: str, part: str, metric: str, request: Request, trials: Trials) -> Number:
    """One cell: what the paper says of another collection stands in brackets."""
    same_data = collection in row.paper
    paper = row.paper[collection] if same_data else next(iter(row.paper.values()), {})
    ours = trials.by_seed(collection, row.system.label(request), metric, part)
    return Number((collection, row.label, part, metric), paper.get(f"{part} {metric}"), ours, same_data)


def printed_rows(table: Mapping[str, str], *, part: str = "test") -> dict[str, dict[str, float]]:
    """The rows of a paper's LETOR table by label, as ``papers.toml`` writes them.

    Examples
    --------
    >>> printed_rows({"RankNet": ".25 | .5 .4 | .6 .7"})
    {'RankNet': {'test map': 0.25, 'test p@1': 0.5, 'test p@2': 0.4, 'test ndcg@1': 0.6, 'test ndcg@2': 0.7}}
    """
    rows = {}
    for label, text in table.items():
        means, *at_k = text.split("|")
        named = [*zip(("map", "pairwise_error"), means.split(), strict=False)]
        for name, numbers in zip(("p", "ndcg"), at_k, strict=True):
            named += [(f"{name}@{k}", number) for k, number in enumerate(numbers.split(), 1)]
        rows[label] = {f"{part} {name}": float(number) for name, number in named if number != "-"}
    return rows
