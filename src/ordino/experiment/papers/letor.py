"""The protocol that SortNet, DeepNet and RankDE share: systems on LETOR's folds, with several seeds, on some parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Folds
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.networks.learning_sets import draw_pairs
from ordino.streams import stream

LETOR_METRICS = ("map", *(f"p@{k}" for k in range(1, 11)), *(f"ndcg@{k}" for k in range(1, 11)))
WITH_ERROR = (*LETOR_METRICS, "pairwise_error")
"""What every trial is measured by, on the training part too, so that tables can share trials."""


COLUMNS = ("collection", "method", "part", "measure")


class Row(NamedTuple):
    """A row of a paper's table: a system, and what the paper says of it, by collection and by part and metric."""

    label: str
    system: System
    paper: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    deviations: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    """What the paper prints behind ±, in the same way."""


class Drawing(NamedTuple):
    """How pairs are drawn; the fields are parameters of DeepNet."""

    configuration: str = "C"
    n_pairs: int | None = None
    distinct: bool = False


def letor_table(
    *, shows: str, takes: str, rows: Callable[[str, Folds], Sequence[Row]], protocol: str, collections: Sequence[str],
    metrics: Sequence[str] = LETOR_METRICS, parts: Sequence[str] = ("test",), profile: str = "standard",
    axes: Axes | None = None, notes: Callable[[Sequence[Number]], Sequence[str]] = lambda _: (),
    choices: Sequence[str] = (), claims: Sequence[Claim] = (),
) -> Target:  # fmt: skip
    """A table or bar chart of systems on collections: means over the folds, one value for each seed.

    ``rows`` gives the rows on a collection of a name; ``notes`` says something of the numbers; ``claims`` are made with
    :func:`row_claim`.
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

    def pairs(request: Request) -> Iterator[str]:
        for name, folds in request.collections(collections).items():
            yield from pair_notes(name, folds, [row.system for row in rows(name, folds)], request)

    needs = ", ".join(collections)
    page = Result(shows, COLUMNS, protocol=protocol, axes=axes, choices=choices, claims=claims)
    return Target(
        shows=shows.format(data=needs), needs=needs, takes=takes, plans=plans, page=page, view=view, pairs=pairs
    )


def row_number(row: Row, collection: str, part: str, metric: str, request: Request, trials: Trials) -> Number:
    """One cell: what the paper says of another collection stands in brackets.

    A ranker that draws nothing is trained once and has the same value in every repeat.
    """
    same_data = collection in row.paper
    paper, deviations = (
        said[collection] if collection in said else next(iter(said.values()), {})
        for said in (row.paper, row.deviations)
    )
    label, name = row.system.label(request), f"{part} {metric}"
    ours = trials.by_seed(collection, label, metric, part)
    if not any(trial.is_random for trial in trials.of(collection, label)):
        ours = ours[:1] * request.at_most(row.system.repeats)
    return Number((collection, row.label, part, metric), paper.get(name), ours, same_data, deviations.get(name))


def row_claim(says: str, better: Row, worse: Row, metric: str = "map", *, part: str = "test", **more: Any) -> Claim:
    """The claim that one row beats another, with the numbers that the paper prints in both on its first collection.

    ``more`` are other fields of :class:`Claim`, such as ``p``, ``smaller_is_better`` or ``margin``.
    """
    name = f"{part} {metric}"
    values, deviations = (
        [said[name] for one in both if name in (said := next(iter(one.values()), {}))]
        for both in ((better.paper, worse.paper), (better.deviations, worse.deviations))
    )
    where = {"part": part, "measure": metric}
    printed: dict[str, Any] = {}
    if len(values) == 2:
        printed["difference"] = round(values[0] - values[1], 9)
    if len(deviations) == 2:
        printed["deviations"] = tuple(deviations)
    return Claim(
        says=says, better={"method": better.label, **where}, worse={"method": worse.label, **where}, **printed, **more
    )


def pair_notes(collection: str, folds: Folds, systems: Iterable[System], request: Request) -> Iterator[str]:
    """How many distinct pairs there are among those that comparators draw from the training parts.

    A query with fewer pairs than its share gives them several times; a pair and its turned form are one.
    """
    asked = {how: None for system in systems if (how := _drawn_by(system, request)) is not None}
    for how in asked:
        n_drawn, n_distinct = pair_counts(((fold.train, how) for fold in folds), request.seed)
        asked_for = "all" if how.n_pairs is None else f"{how.n_pairs:,}"
        yield (
            f"Training pairs of configuration {how.configuration} on {collection}, {asked_for} asked for: "
            f"{n_drawn} drawn in a fold, {n_distinct} of them distinct."
        )


def pair_counts(draws: Iterable[tuple[Dataset, Drawing]], seed: int) -> tuple[str, str]:
    """How many pairs are drawn from some data, and how many of them are distinct: the least and the most, as text."""
    counts = []
    for data, (configuration, n_pairs, distinct) in draws:
        drawn = draw_pairs(data.y, data.offsets, configuration, n_pairs, stream(seed, "pairs"), distinct=distinct)
        rows = np.sort(drawn.rows(data.n_docs), axis=0)
        counts.append((drawn.n_pairs, np.unique(rows, axis=1).shape[1]))
    n_drawn, n_distinct = map(span, zip(*counts, strict=True))
    return n_drawn, n_distinct


def span(counts: Iterable[int]) -> str:
    """The least and the most, or what all are.

    Examples
    --------
    >>> span([1200, 900, 1000]), span([1200, 1200])
    ('900 to 1,200', '1,200')
    """
    low, *_, high = sorted(counts) * 2
    return " to ".join(f"{one:,}" for one in dict.fromkeys((low, high)))


def _drawn_by(system: System, request: Request) -> Drawing | None:
    """How a system, or what it is made of, draws its pairs, if it does."""
    inner = system.like or next((one for one in system.params.values() if isinstance(one, System)), None)
    if inner is not None:
        return _drawn_by(inner, request)
    settings = system.settings(request)
    if "distinct_pairs" not in settings:
        return None
    return Drawing(settings["pairs"], settings["n_pairs"], settings["distinct_pairs"])


def printed_rows(table: Mapping[str, str], *, part: str = "test") -> dict[str, dict[str, float]]:
    """The rows of a paper's LETOR table by label, as the paper's TOML file writes them.

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
