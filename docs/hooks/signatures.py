"""Parameters that share a line, such as ``metric, profile``: each gets its own type and default, from the signature."""

from __future__ import annotations

from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Griffe, which reads docstrings for the site, would give all of them those of the first."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when the whole package was read."""
        correct(pkg)


def correct(thing: griffe.Module | griffe.Class) -> None:
    """Set types and defaults of every function and of every class that has an ``__init__``."""
    for member in thing.members.values():
        if isinstance(member, griffe.Function) or (isinstance(member, griffe.Class) and "__init__" in member.members):
            _take_from_signature(member)
        if isinstance(member, griffe.Class | griffe.Module):
            correct(member)


def _take_from_signature(signed: griffe.Function | griffe.Class) -> None:
    signature = {parameter.name: parameter for parameter in signed.parameters}
    for section in [] if signed.docstring is None else signed.docstring.parsed:
        if isinstance(section, griffe.DocstringSectionParameters):
            for parameter in section.value:
                if parameter.name in signature:
                    parameter.annotation = signature[parameter.name].annotation
                    parameter.value = signature[parameter.name].default
