"""How fast a saved data set opens, beside parsing the LETOR text that it came from.

    python benchmarks/bench_open.py                   # 0.7 GB of text
    python benchmarks/bench_open.py --megabytes 50    # a quick look

The text has the shape of MSLR-WEB10K (``bench_read_letor.py`` writes it). Both are timed warm: packages imported, all
compiled, files in the page cache; the time is the least of the repeats. Opening maps the file, so the time until every
feature has been looked at once is shown beside it. The target is a ratio of 50; the script fails below it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench_read_letor import write_file
from history import record
from ordino.data.dataset import Dataset
from ordino.data.letor import read_letor
from timing import least_seconds

TARGET = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=700, help="size of the LETOR text")
    parser.add_argument("--repeats", type=int, default=3, help="how often the text is parsed; opening: ten times that")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, text, saved = Path(folder, "small.txt"), Path(folder, "data.txt"), Path(folder, "data.arrow")
        write_file(small, 1)
        read_letor(small)  # compiles
        write_file(text, options.megabytes)
        data = read_letor(text)
        print(f"{data}: {text.stat().st_size / 1e6:,.0f} MB of text")
        start = time.perf_counter()
        data.save(saved)
        print(f"save                  {time.perf_counter() - start:9.4f} s, {saved.stat().st_size / 1e6:,.0f} MB")
        del data
        parse = least_seconds(lambda: read_letor(text), options.repeats)
        opened = least_seconds(lambda: Dataset.open(saved, check=False), 10 * options.repeats)
        checked = least_seconds(lambda: Dataset.open(saved), options.repeats)
        looked = least_seconds(lambda: Dataset.open(saved).X.sum(), options.repeats)
    print(f"parse the text        {parse:9.4f} s")
    print(f"open                  {opened:9.4f} s   {parse / opened:9,.0f} times as fast (target {TARGET})")
    print(f"open and check        {checked:9.4f} s   {parse / checked:9,.0f} times as fast")
    print(f"open and sum X        {looked:9.4f} s   {parse / looked:9,.0f} times as fast")
    record("opening a saved data set against parsing text", parse / opened)
    return 0 if parse / opened >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
