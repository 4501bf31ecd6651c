"""What a script prints goes to a page of the docs as well, between two marks with the name of the script."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


class _Both(io.StringIO):
    """Text that is shown and kept."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)  # type: ignore[union-attr]
        return super().write(text)

    def flush(self) -> None:
        sys.__stdout__.flush()  # type: ignore[union-attr]


def add_record(parser: argparse.ArgumentParser) -> None:
    """The option that asks for it."""
    parser.add_argument("--record", action="store_true", help="write what is printed to the docs")


@contextmanager
def written(name: str, *, record: bool, page: Path = PAGE) -> Iterator[None]:
    """Write what is printed inside to a page at the end if ``record``, also where a target was missed."""
    kept, load, is_whole = _Both(), os.getloadavg()[0], False
    try:
        with redirect_stdout(kept):
            yield
        is_whole = True
    except SystemExit:
        is_whole = True
        raise
    finally:
        if record and is_whole:
            _write(page, name, kept.getvalue(), load)


def _write(page: Path, name: str, printed: str, load: float) -> None:
    told = f"`{name}.py` of {datetime.now(UTC):%Y-%m-%d}; load {load:.1f} when it began."
    block = "\n".join([f"<!-- {name} -->", told, "", *_as_markdown(printed), f"<!-- end of {name} -->"])
    text = page.read_text(encoding="utf-8")
    changed, n = re.subn(rf"<!-- {name} -->.*<!-- end of {name} -->", lambda _: block, text, flags=re.DOTALL)
    if n != 1:
        raise SystemExit(f"{page}: there is no place between <!-- {name} --> and <!-- end of {name} -->")
    page.write_text(changed, encoding="utf-8")


def _as_markdown(printed: str) -> Iterator[str]:
    """Lines of a table stay, others become points of a list; an empty line stands between the two."""
    before = ""
    for line in filter(str.strip, printed.splitlines()):
        told = line if line.startswith("|") else f"- {line.strip()}"
        if before and before != told[0]:
            yield ""
        yield told
        before = told[0]
