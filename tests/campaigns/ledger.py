"""What the campaigns share: the options, and the counts that they write into docs/reliability.md."""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


@dataclass(frozen=True)
class Outcome:
    """What a campaign tried and what went wrong."""

    name: str
    tried: str
    failures: Mapping[str, int]
    problems: Sequence[str] = field(default=())
    """The first things that went wrong, for people."""

    def row(self, day: str) -> str:
        """The line of the page's table."""
        failures = ", ".join(f"{n:,} {what}" for what, n in self.failures.items())
        return f"| {self.name} | {self.tried} | {failures} | {day} |"


def record(outcome: Outcome, page: Path = PAGE) -> None:
    """Write the counts into the campaign's line of the page."""
    text, row = page.read_text(encoding="utf-8"), outcome.row(f"{datetime.now(UTC):%Y-%m-%d}")
    changed, n = re.subn(rf"^\| {re.escape(outcome.name)} \|.*$", lambda _: row, text, flags=re.MULTILINE)
    if n != 1:
        raise SystemExit(f"{page}: there are {n} lines that start with '| {outcome.name} |'; write one")
    page.write_text(changed, encoding="utf-8")


class Kept:
    """The parts of a campaign that are done, in a file if it has one: what was stopped goes on with the next part.

    Parts of other code would prove nothing, so the file is given up when a source of Ordino changes.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._parts = path, {"code": _code()}
        if path is not None and path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))
            self._parts = before if before.get("code") == self._parts["code"] else self._parts

    def once(self, name: str, work: Callable[[], Any]) -> Any:
        """What the work gave, now or earlier; it must be JSON."""
        if name not in self._parts:
            self._parts[name] = work()
            if self._path is not None:
                beside = self._path.with_suffix(".new")
                beside.write_text(json.dumps(self._parts), encoding="utf-8")
                beside.replace(self._path)
        return self._parts[name]


def _code() -> str:
    """A fingerprint of Ordino's source."""
    files = sorted((PAGE.parents[1] / "src").rglob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def main(campaign: Callable[[bool], Outcome] | Callable[[bool, Kept], Outcome], *, in_parts: bool = False) -> None:
    """Run a campaign from the command line; the exit code tells whether anything went wrong."""
    parser = argparse.ArgumentParser(description=(sys.modules["__main__"].__doc__ or "").partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="the full campaign, which takes minutes to hours")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/reliability.md")
    if in_parts:
        text = "keep finished parts in this file, and go on from there when the campaign was stopped"
        parser.add_argument("--keep", type=Path, help=text)
    given = parser.parse_args()
    start = time.perf_counter()
    outcome = campaign(given.long, Kept(given.keep)) if in_parts else campaign(given.long)
    print(outcome.row(f"{time.perf_counter() - start:.0f} s"))
    for problem in outcome.problems[:20]:
        print(f"  {problem}")
    if given.record:
        record(outcome)
    raise SystemExit(any(outcome.failures.values()))
