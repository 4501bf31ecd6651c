"""``ordino rankers`` and ``ordino params``: the algorithms, and what can be set on each."""

from __future__ import annotations

from typing import Annotated

import typer

from ordino.cli.options import Json, ranker_names


def rankers(json: Json = False) -> None:
    """List all rankers; `ordino params NAME` lists the parameters of one.

    Example: ordino rankers
    """
    from ordino.cli.output import print_json, print_table
    from ordino.rankers import RANKERS

    if json:
        print_json({name: {"class": entry.cls, "description": entry.description} for name, entry in RANKERS.items()})
        return
    rows = [(name, entry.cls, entry.description) for name, entry in RANKERS.items()]
    print_table(["name", "class", "what it is"], rows)


def params(
    ranker: Annotated[str, typer.Argument(help="Ranker name; see `ordino rankers`.", autocompletion=ranker_names)],
    json: Json = False,
) -> None:
    """List the parameters of a ranker: name, default and meaning.

    Example: ordino params ranknet
    """
    from ordino.cli.output import first_line, print_json, print_table
    from ordino.cli.values import meanings
    from ordino.rankers import ranker_class

    cls = ranker_class(ranker)
    meaning = meanings(cls)
    defaults = cls().get_params(deep=False)
    if json:
        print_json({name: {"default": value, "meaning": meaning.get(name, "")} for name, value in defaults.items()})
        return
    rows = [(name, _typed(value), meaning.get(name, "")) for name, value in defaults.items()]
    print_table(["name", "default", "meaning"], rows, title=f"{cls.__name__}: {first_line(cls)}")


def _typed(value: object) -> str:
    """A default as one would type it after ``--param name=``."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or "()"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
