"""``ordino rankers`` and ``ordino params``: the algorithms, and what can be set on each."""

from __future__ import annotations

from typing import Annotated

import typer

from ordino.cli.options import Json, ranker_names


def rankers(json: Json = False) -> None:
    """List all rankers; `ordino params NAME` lists the parameters of one.

    Example: ordino rankers
    """
    from ordino.cli.output import print_found
    from ordino.rankers import RANKERS

    facts = {name: {"class": entry.cls, "description": entry.description} for name, entry in RANKERS.items()}
    print_found(
        json, facts, ["name", "class", "what it is"], [(name, *entry.values()) for name, entry in facts.items()]
    )


def params(
    ranker: Annotated[str, typer.Argument(help="Ranker name; see `ordino rankers`.", autocompletion=ranker_names)],
    json: Json = False,
) -> None:
    """List the parameters of a ranker: name, default and meaning.

    Example: ordino params ranknet
    """
    from ordino.cli.output import first_line, print_found
    from ordino.parameters import parameters_of
    from ordino.rankers import ranker_class

    cls = ranker_class(ranker)
    known = parameters_of(cls)
    facts = {
        name: {"default": value, "meaning": known[name].text if name in known else ""}
        for name, value in cls().get_params(deep=False).items()
    }
    rows = [(name, _typed(fact["default"]), fact["meaning"]) for name, fact in facts.items()]
    print_found(json, facts, ["name", "default", "meaning"], rows, title=f"{cls.__name__}: {first_line(cls)}")


def _typed(value: object) -> str:
    """A default as one would type it after ``--param name=``."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or "()"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
