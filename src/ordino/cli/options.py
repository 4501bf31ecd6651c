"""Options that commands share, written once, and what the options before the command's name said."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated

import typer

from ordino.rankers import RANKERS

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Label = Annotated[str | None, typer.Option(help="The column of a table with the labels; `label` if not said.")]
Qid = Annotated[str | None, typer.Option(help="The column of a table with the query ids; `qid` if not said.")]
Seed = Annotated[int | None, typer.Option(min=0, help="The same seed gives the same result.")]


@dataclass(frozen=True)
class Shared:
    """What holds for any command."""

    quiet: bool = False
    threads: int | None = None
    seed: int | None = None


_SHARED: ContextVar[Shared] = ContextVar("shared")


def ranker_names(incomplete: str) -> list[str]:
    """Names of rankers that start so, for completion by the shell."""
    return [name for name in RANKERS if name.startswith(incomplete)]


def shared_options() -> Shared:
    """What was said before the command's name, or the defaults where there is no command line."""
    return _SHARED.get(Shared())


def share(options: Shared) -> None:
    """Let every command know."""
    _SHARED.set(options)


def chosen_seed(seed: int | None) -> int | None:
    """The command's own ``--seed``, else the one before the command's name, else None."""
    return shared_options().seed if seed is None else seed
