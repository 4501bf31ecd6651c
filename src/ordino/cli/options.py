"""Options that commands share, written once, and help texts that name the entries of tables."""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ordino.rankers import RANKERS

TABLES = {
    "endings": "ordino.data.files:ENDINGS",
    "formats": "ordino.data.trec:FORMATS",
    "metrics": "ordino.metrics:METRICS",
    "profiles": "ordino.metrics:PROFILES",
    "reports": "ordino.experiment.report.page:FORMATS",
    "scalings": "ordino.data.scaling:SCALERS",
    "tests": "ordino.experiment.compare.significance:TESTS",
}
"""The tables that a help text may name in braces; they are loaded when help is asked for."""


def ranker_names(incomplete: str) -> list[str]:
    """Names of rankers that start like this, for completion by the shell."""
    return [name for name in RANKERS if name.startswith(incomplete)]


_RANKER: Any = {"help": "Ranker name; see `ordino rankers`.", "autocompletion": ranker_names}
RankerName = Annotated[str, typer.Option("--ranker", "-r", **_RANKER)]
RankerArgument = Annotated[str, typer.Argument(**_RANKER)]
ModelFile = Annotated[str, typer.Argument(help="Model file that `ordino train` or ordino.save wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Label = Annotated[str | None, typer.Option(help="Column of a table with the labels; `label` by default.")]
Qid = Annotated[str | None, typer.Option(help="Column of a table with the query ids; `qid` by default.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Random seed; the same seed gives the same result.")]
Metrics = Annotated[str, typer.Option("--metrics", "-m", help="Metrics, separated by commas: {metrics}.")]
Profile = Annotated[
    str | None,
    typer.Option(help="Metric profile: {profiles}; by default the model's, else `standard`, or `trec` for TREC runs."),
]
Test = Annotated[str, typer.Option(help="Significance test: {tests}.")]
Scaling = Annotated[str | None, typer.Option(help="Feature scaling: {scalings}.")]
Binarize = Annotated[float | None, typer.Option(help="Turn labels of this value or more into 1, all others into 0.")]


class Command(TyperCommand):
    """A command whose help text is filled in from :data:`TABLES`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill in the tables, then print as usual."""
        for param in self.params:
            text = getattr(param, "help", None)
            if text is not None:
                param.help = re.sub(r"\{(\w+)\}", lambda found: _entries(found[1]), text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _entries(table: str) -> str:
    module, _, name = TABLES[table].partition(":")
    return ", ".join(getattr(import_module(module), name))


def split_names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(frozen=True)
class Shared:
    """The options of every command."""

    quiet: bool = False
    threads: int | None = None
    seed: int | None = None


SHARED: ContextVar[Shared] = ContextVar("shared")


def shared_options() -> Shared:
    """The options given before the command's name, or the defaults where there is no command line."""
    return SHARED.get(Shared())


def chosen_seed(seed: int | None) -> int | None:
    """The command's own ``--seed``, else the one before the command's name, else None."""
    return shared_options().seed if seed is None else seed
