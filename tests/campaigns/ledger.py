"""What the campaigns share: the options, and the counts that they write into docs/reliability.md."""

import argparse
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

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


def main(campaign: Callable[[bool], Outcome]) -> None:
    """Run a campaign from the command line; the exit code tells whether anything went wrong."""
    parser = argparse.ArgumentParser(description=(sys.modules["__main__"].__doc__ or "").partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="the full campaign, which takes minutes to hours")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/reliability.md")
    given = parser.parse_args()
    start = time.perf_counter()
    outcome = campaign(given.long)
    print(outcome.row(f"{time.perf_counter() - start:.0f} s"))
    for problem in outcome.problems[:20]:
        print(f"  {problem}")
    if given.record:
        record(outcome)
    raise SystemExit(any(outcome.failures.values()))
