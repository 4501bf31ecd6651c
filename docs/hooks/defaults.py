"""Defaults of parameters that share a line, such as ``metric, profile``: each gets its own, from the signature."""

from __future__ import annotations

from typing import Any

import griffe


class Defaults(griffe.Extension):
    """Griffe, which reads docstrings for the site, would give all of them the default of the first."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when the whole package was read."""
        correct(pkg)


def correct(thing: griffe.Module | griffe.Class) -> None:
    """Set the defaults of every function and of every class that has an ``__init__``."""
    for member in thing.members.values():
        if isinstance(member, griffe.Function) or (isinstance(member, griffe.Class) and "__init__" in member.members):
            _take_from_signature(member)
        if isinstance(member, griffe.Class | griffe.Module):
            correct(member)


def _take_from_signature(signed: griffe.Function | griffe.Class) -> None:
    defaults = {parameter.name: parameter.default for parameter in signed.parameters}
    for section in [] if signed.docstring is None else signed.docstring.parsed:
        if isinstance(section, griffe.DocstringSectionParameters):
            for parameter in section.value:
                parameter.value = defaults.get(parameter.name)
