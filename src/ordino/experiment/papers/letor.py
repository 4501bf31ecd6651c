"""The protocol that SortNet, DeepNet and RankDE share: systems on LETOR's folds, with several seeds, on some parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, final

from ordino.data.folds import Folds
from ordino.experiment.papers.result import Axes, Number, Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.report.notes import count

LETOR_METRICS = ("map", *(f"p@{k}" for k in range(1, 11)), *(f"ndcg@{k}" for k in range(1, 11)))
WITH_ERROR = (*LETOR_METRICS, "pairwise_error")
"""What every trial is measured by, on the training part too, so that tables can share trials."""


class Row(NamedTuple):
    """A row of a paper's table: a system, and what the paper says of it, by collection and by part and metric."""

    label: str
    system: System
    paper: Mapping[str, Mapping[str, float]] = MappingProxyType({})


@final
@dataclass(frozen=True, kw_only=True)
class LetorTable:
    """A table or bar chart of systems on collections: what is trained for it, and what it shows."""

    shows: str
    takes: str
    rows: Callable[[str, Folds], Sequence[Row]]
    """The rows on a collection of this name."""
    protocol: str
    """What was done; the numbers of {folds} and {repeats} are filled in."""
    collections: Sequence[str]
    metrics: Sequence[str] = LETOR_METRICS
    parts: Sequence[str] = ("test",)
    profile: str = "standard"
    axes: Axes | None = None
    notes: Callable[[Sequence[Number]], list[str]] = field(default=lambda _: [])

    def plans(self, request: Request) -> list[Plan]:
        """A plan for each collection."""
        how: dict[str, Any] = {"measures": WITH_ERROR, "parts": ("train",), "profile": self.profile}
        return [
            request.plan({name: folds}, [row.system for row in self.rows(name, folds)], **how)
            for name, folds in request.collections(self.collections).items()
        ]

    def view(self, request: Request, trials: Trials) -> Result:
        """The means over the folds, one value for each seed."""
        collections = request.collections(self.collections)
        numbers = [
            number
            for name, folds in collections.items()
            for row in self.rows(name, folds)
            for number in self._numbers(row, name, request, trials)
        ]
        title, columns = self.shows.format(collection=" and ".join(collections)), ("collection", "method", "part")
        protocol = self.protocol.format(
            folds=count(max(map(len, collections.values())), "fold"),
            repeats=count(max(len(number.ours) for number in numbers), "repeat"),
        )
        return Result(title, (*columns, "measure"), numbers, protocol, axes=self.axes, notes=self.notes(numbers))

    def target(self) -> Target:
        """What the catalogue lists."""
        needs = ", ".join(self.collections)
        shows = self.shows.format(collection=needs)
        return Target(shows=shows, needs=needs, takes=self.takes, plans=self.plans, view=self.view)

    def _numbers(self, row: Row, collection: str, request: Request, trials: Trials) -> list[Number]:
        same_data = collection in row.paper
        paper = row.paper[collection] if same_data else next(iter(row.paper.values()), {})
        label = row.system.label(request)
        return [
            Number(
                (collection, row.label, part, metric),
                paper.get(f"{part} {metric}"),
                trials.by_seed(collection, label, metric, part),
                same_data,
            )
            for part in self.parts
            for metric in self.metrics
        ]


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
