"""Blind samples: mistakes that are written before anybody looks at the tests, tried once, and counted as they came out.

FILE has the form of mistakes.toml. Each of its mistakes is made once, and blind.csv says who noticed it; a later try
changes nothing there, and tests that do not end in time have noticed nothing. Only then are tests written for what
nobody noticed, and the mistakes go into mistakes.toml, from which ``--again`` takes them to see who notices them now:
another column, and another count.

    python tests/campaigns/blind.py [FILE --round N] [--again] [--minutes 5] [--record]
"""

import argparse
import csv
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import mutations
from campaigns.forked import TOO_LONG, load_libraries
from campaigns.ledger import Outcome, record

RESULTS = Path(__file__).with_name("blind.csv")
SECONDS = 240  # that the tests of one mistake may take; longer ones have noticed nothing
LATER, GONE = "noticed later by", "the text is gone"
FIELDS = ("round", "day", "file", "kind", "before", "after", "noticed by", LATER)
Row = dict[str, str]


def tried(results: Path = RESULTS) -> list[Row]:
    """What was tried so far."""
    if not results.exists():
        return []
    with results.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sample(page: Path, number: int, minutes: float = np.inf, results: Path = RESULTS) -> int:
    """Try the mistakes of a page that were never tried, as many as there is time for; how many are left."""
    known = {(row["file"], row["before"], row["after"]) for row in tried(results)}
    mistakes, stale = mutations.written(page)
    if stale:
        raise SystemExit(f"{page}: no longer there: {'; '.join(stale)}")
    new = [one for one in mutations.in_turn(mistakes, number) if place(one) not in known]
    left = len(new)
    for one, by in outcomes(new, minutes):
        left -= 1
        if by is not None:
            file, before, after = place(one)
            row = {"round": str(number), "day": f"{datetime.now(UTC):%Y-%m-%d}", "kind": one.kind, "noticed by": by}
            _write([*tried(results), row | {"file": file, "before": before, "after": after}], results)
    return left


def try_again(page: Path = mutations.WRITTEN, minutes: float = np.inf, results: Path = RESULTS) -> int:
    """Try what nobody noticed with the tests that there are now; how many are left that nobody notices."""
    rows = tried(results)
    missed = {(row["file"], row["before"], row["after"]): row for row in rows if not row["noticed by"]}
    for (file, before, _), row in missed.items():
        path = mutations.SOURCE / "ordino" / file
        if not (path.exists() and before in path.read_text(encoding="utf-8")):
            row[LATER] = GONE
    written = {place(one): one for one in mutations.written(page)[0]}
    open_ones = [written[key] for key, row in missed.items() if not row.get(LATER) and key in written]
    for one, by in outcomes(open_ones, minutes):
        if by is not None:
            missed[place(one)][LATER] = by
        _write(rows, results)
    return sum(not row.get(LATER) for row in missed.values())


def place(one: mutations.Mistake) -> tuple[str, str, str]:
    """The file of a mistake, the text and the other text."""
    file = one.path.relative_to(mutations.SOURCE / "ordino").as_posix()
    return file, one.path.read_text(encoding="utf-8")[one.start : one.stop], one.text


def outcomes(mistakes: Sequence[mutations.Mistake], minutes: float) -> Iterator[tuple[mutations.Mistake, str | None]]:
    """Who noticed each mistake, as many as there is time for; None where a test fails without it too."""
    begun = time.monotonic()
    load_libraries()
    with TemporaryDirectory() as home:
        copy = Path(home) / "src"
        shutil.copytree(mutations.SOURCE, copy, ignore=shutil.ignore_patterns("*.pyc"))
        for one in mistakes:
            if time.monotonic() - begun >= 60 * minutes:
                return
            by = mutations.noticed_by(one, copy, seconds=SECONDS)
            by = "" if by == TOO_LONG else by
            fails = mutations.fails_anyway(by, copy)
            told = f"not counted, {by} fails anyway: {one}" if fails else f"{one} | {by or mutations.NOBODY}"
            print(told, flush=True)
            yield one, None if fails else by


def _write(rows: Sequence[Row], results: Path) -> None:
    with results.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def counted(results: Path = RESULTS) -> Outcome:
    """How many of every round were noticed the first time; by kind, those of the day of the last round."""
    rows = tried(results)
    told = [f"round {number}: {_share(own)}" for number, own in _grouped(rows, "round", int)]
    latest = [row for row in rows if row["day"] == max(row["day"] for row in rows)]
    kinds = sorted(_grouped(latest, "kind", str), key=lambda group: -len(group[1]))
    told.append(f"all: {_share(rows)}; {latest[0]['day']} by kind: " if rows else "none")
    told[-1] += ", ".join(f"{kind} {_share(own)}" for kind, own in kinds)
    missed = [row for row in rows if not row["noticed by"]]
    open_ones = [f"{row['file']}, {row['kind']}: {row['after']!r}" for row in missed if not row.get(LATER)]
    counts = {"unnoticed when tried": len(missed), "unnoticed since tests were written for these": len(open_ones)}
    return Outcome("blind samples", "; ".join(told), counts, open_ones)


def _grouped(rows: Sequence[Row], field: str, kind: Callable[[str], Any]) -> list[tuple[Any, list[Row]]]:
    """The rows of each value of a field."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(kind(row[field]), []).append(row)
    return sorted(groups.items())


def _share(rows: Sequence[Row]) -> str:
    return f"{sum(bool(row['noticed by']) for row in rows)} of {len(rows)}"


def main() -> None:
    """Run from the command line; the exit code tells whether mistakes are left to try."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="mistakes that were never tried")
    parser.add_argument("--round", type=int, default=1, help="the number of this sample")
    parser.add_argument(
        "--again", action="store_true", help="try what nobody noticed with the tests that there are now"
    )
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no further mistake after so long")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/reliability.md")
    given = parser.parse_args()
    left = 0 if given.file is None else sample(given.file, given.round, given.minutes)
    if given.again:
        try_again(minutes=given.minutes)
    outcome = counted()
    print(outcome.row(""))
    if given.record:
        record(outcome)
    raise SystemExit(left > 0)


if __name__ == "__main__":
    main()
