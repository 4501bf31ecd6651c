"""``ordino rankers``: the table of algorithms."""

from __future__ import annotations

from ordino.cli.options import Json


def rankers(json: Json = False) -> None:
    """Tell every ranker with one line each; `ordino params NAME` tells its parameters.

    Example: ordino rankers
    """
    from ordino.cli.output import print_json, print_table
    from ordino.rankers import RANKERS

    if json:
        print_json({name: {"class": entry.cls, "description": entry.description} for name, entry in RANKERS.items()})
        return
    print_table(
        ["name", "class", "what it is"], [(name, entry.cls, entry.description) for name, entry in RANKERS.items()]
    )
