"""An entry of ``nav`` that ends in ``/`` becomes the pages in that folder, the index first, the others by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Called by mkdocs when it has read mkdocs.yml."""
    config.nav = expand(config.nav, Path(config.docs_dir))
    return config


def expand(entries: list[Any], docs: Path) -> list[Any]:
    """The entries, with each folder as its pages."""
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            found += [{title: expand(below, docs)} for title, below in entry.items()]
        elif entry.endswith("/"):
            pages = sorted((docs / entry).rglob("*.md"), key=lambda page: (page.stem != "index", page.as_posix()))
            found += [page.relative_to(docs).as_posix() for page in pages]
        else:
            found.append(entry)
    return found
