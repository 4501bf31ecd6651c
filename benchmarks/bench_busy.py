"""LambdaMART beside another program that keeps every processor busy: all processors' threads, one, and what None takes.

Threads of LightGBM wait for one another by spinning, so one that must share its processor holds up all. Synthetic data
of the size of MQ2008; processes that only count run beside it, one for each processor. Smallest and largest of several
times, taken in turns in one run.

    python benchmarks/bench_busy.py [--repeats 3] [--spinners 2] [--rounds 100]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import ordino
from history import record
from ordino.processors import allowed_processors

AT_MOST = 1.5  # times as long as one thread


@contextmanager
def busy(n_spinners: int) -> Iterator[None]:
    """Other processes that never rest."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_spinners)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--spinners", type=int, default=allowed_processors())
    options.add_argument("--rounds", type=int, default=100)
    asked = options.parse_args()
    data = ordino.synthetic("mq", queries=230, seed=1)
    print(f"{data}; {asked.rounds} rounds, {asked.spinners} spinners, {allowed_processors()} processors")
    times: dict[str, list[float]] = {"all threads": [], "one thread": [], "n_jobs=None": []}
    with busy(asked.spinners):
        for _ in range(asked.repeats):
            for (name, found), n_jobs in zip(times.items(), (allowed_processors(), 1, None), strict=True):
                ranker = ordino.LambdaMART(rounds=asked.rounds, n_jobs=n_jobs)
                start = time.perf_counter()
                ranker.fit(data)
                found.append(time.perf_counter() - start)
                print(f"  {name:12}{found[-1]:8.2f} s", file=sys.stderr)
    for name, found in times.items():
        print(f"{name:12}{min(found):8.2f} to {max(found):.2f} s")
    ratio = min(times["n_jobs=None"]) / min(times["one thread"])
    print(f"n_jobs=None takes {ratio:.2f} times as long as one thread (target {AT_MOST} at most)")
    record("LambdaMART with n_jobs=None against one thread, busy machine", 1 / ratio)
    return 0 if ratio <= AT_MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
