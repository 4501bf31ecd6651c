"""The algorithms: ``RANKERS`` names each, where it lives and what it is in one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ordino.errors import unknown_name

if TYPE_CHECKING:
    from ordino.rankers.base import Ranker


class RankerEntry(NamedTuple):
    """A line of the table of rankers."""

    cls: str
    module: str
    description: str


RANKERS: Mapping[str, RankerEntry] = MappingProxyType({})


def ranker_class(name: str) -> type[Ranker]:
    """The class behind a ranker's command-line name, such as ``rank-svm`` or its class name."""
    for key, entry in RANKERS.items():
        if name in (key, entry.cls):
            found: type[Ranker] = getattr(import_module(entry.module), entry.cls)
            return found
    raise unknown_name("ranker", name, RANKERS)
