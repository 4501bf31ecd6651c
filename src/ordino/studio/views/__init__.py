"""One module a page: from a request to what its template shows."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ordino.studio.views import board, compare, data, features, judge, model, papers, query, run, search, why

VIEWS: Mapping[str, Callable[[Any, Any], dict[str, Any]]] = MappingProxyType(
    {
        one.__name__.rpartition(".")[2]: one.view
        for one in (board, compare, data, features, judge, model, papers, query, run, search, why)
    }
)
"""Every page by its address."""
EXPORTS: Mapping[str, Callable[[Any, Any], tuple[str | bytes, str, str]]] = MappingProxyType(
    {f"board.{kind}": board.exporter(kind) for kind in board.FORMATS}
    | {"model.ordino": model.download, "papers.svg": papers.figure, "judged.txt": judge.letor}
)
"""Every file that a page offers: its content, its kind and its name."""
