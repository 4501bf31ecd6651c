"""Blind samples: mistakes that are written before anybody looks at the tests, tried once, and counted as they came out.

FILE has the form of mistakes.toml. Each of its mistakes is made once, and blind.csv says who noticed it; a later try
changes nothing there. Only then are tests written for what nobody noticed, and the mistakes go into mistakes.toml, with
which mutations.py tries them again.

    python tests/campaigns/blind.py [FILE --round N] [--minutes 5] [--record]
"""

import argparse
import csv
import shutil
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import mutations
from campaigns.forked import load_libraries
from campaigns.ledger import Outcome, record

RESULTS = Path(__file__).with_name("blind.csv")
FIELDS = ("round", "day", "file", "kind", "before", "after", "noticed by")
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
    begun, rows = time.monotonic(), []
    for one in mutations.in_turn(mistakes, number):
        file = one.path.relative_to(mutations.SOURCE / "ordino").as_posix()
        before = one.path.read_text(encoding="utf-8")[one.start : one.stop]
        if (file, before, one.text) not in known:
            rows.append((one, {"file": file, "kind": one.kind, "before": before, "after": one.text}))
    load_libraries()
    with TemporaryDirectory() as home:
        copy = Path(home) / "src"
        shutil.copytree(mutations.SOURCE, copy, ignore=shutil.ignore_patterns("*.pyc"))
        while rows and time.monotonic() - begun < 60 * minutes:
            one, row = rows.pop(0)
            by = mutations.noticed_by(one, copy)
            if mutations.fails_anyway(by, copy):
                print(f"not counted, {by} fails anyway: {one}", flush=True)
                continue
            print(f"{one} | {by or mutations.NOBODY}", flush=True)
            _append(results, {"round": str(number), "day": f"{datetime.now(UTC):%Y-%m-%d}", **row, "noticed by": by})
    return len(rows)


def _append(results: Path, row: Row) -> None:
    is_new = not results.exists()
    with results.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def counted(results: Path = RESULTS) -> Outcome:
    """The counts of every round, by kind, as they came out the first time."""
    rows = tried(results)
    told = []
    for number in sorted({int(row["round"]) for row in rows}):
        own = [row for row in rows if row["round"] == str(number)]
        made, noticed = Counter[str](), Counter[str]()
        for row in own:
            made[row["kind"]] += 1
            noticed[row["kind"]] += bool(row["noticed by"])
        share = noticed.total() / made.total()
        kinds = ", ".join(f"{kind} {noticed[kind]} of {n}" for kind, n in made.most_common())
        told.append(f"round {number}: {noticed.total()} of {made.total()} noticed ({share:.0%}): {kinds}")
    missed = [f"{row['file']}, {row['kind']}: {row['after']!r}" for row in rows if not row["noticed by"]]
    return Outcome("blind samples", "; ".join(told), {"unnoticed when tried": len(missed)}, missed)


def main() -> None:
    """Run from the command line; the exit code tells whether mistakes are left to try."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="mistakes that were never tried")
    parser.add_argument("--round", type=int, default=1, help="the number of this sample")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no further mistake after so long")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/reliability.md")
    given = parser.parse_args()
    left = 0 if given.file is None else sample(given.file, given.round, given.minutes)
    outcome = counted()
    print(outcome.row(""))
    if given.record:
        record(outcome)
    raise SystemExit(left > 0)


if __name__ == "__main__":
    main()
