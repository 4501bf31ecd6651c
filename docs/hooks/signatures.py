"""What griffe, which reads the source for the site, cannot see: parameters of rankers, shared lines of docstrings.

A ranker's parameters are fields whose text stands with them; its signature and docstring are made when the class is.
In other docstrings, parameters that share a line, such as ``metric, profile``, each get their own type and default.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Completes what griffe read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when the whole package was read."""
        if pkg.name == "ordino":
            rankers(pkg)
        correct(pkg)


def rankers(package: griffe.Module) -> None:
    """Give every ranker the signature and the docstring that its class has."""
    from ordino.ranker import Ranker
    from ordino.rankers import RANKERS

    homes = {entry.cls: entry.module for entry in RANKERS.values()} | {"TorchRanker": "ordino.networks.torch_ranker"}
    for name, home in homes.items():
        real = getattr(import_module(home), name)
        assert issubclass(real, Ranker)
        member = package[home.removeprefix("ordino.")][name]
        signature = inspect.signature(real)
        for parameter in signature.parameters:
            member.members.pop(parameter, None)  # a field, which would be shown as an attribute
        member.docstring = griffe.Docstring(inspect.cleandoc(real.__doc__), parser="numpy", parent=member)
        parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    one.name,
                    annotation=str(one.annotation),
                    kind=griffe.ParameterKind[one.kind.name.lower()],
                    default=repr(one.default),
                )
                for one in signature.parameters.values()
            )
        )
        member.set_member("__init__", griffe.Function("__init__", parameters=parameters))


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
