"""AutoRanker on much data: whether it ends in its minutes, and the memory it takes, with as many rows as MSLR's shape.

240,000 documents of 136 features in lists of 120, saved first and learned in a process of its own,
as by ``ordino train --ranker auto``. Seconds are of the whole ``fit`` on the clock; memory is the peak of the process
over that before the fit, relative to the features. NDCG@10 is of 200 further queries, beside LambdaMART's defaults. The
minutes may be exceeded by a tenth; exits with 1 if they are exceeded by more.
``python benchmarks/bench_auto.py [--queries 2000] [--minutes 5]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bare_lightgbm import peak_memory
from history import record

DOCS, FEATURES, TEST_QUERIES = 120, 136, 200
LEEWAY = 1.1


def fit(folder: Path, minutes: float) -> None:
    """Learn from saved data, and print what it cost."""
    import ordino

    train, test = ordino.Dataset.open(folder / "train"), ordino.Dataset.open(folder / "test")
    before, start = peak_memory(), time.perf_counter()
    ranker = ordino.AutoRanker(minutes=minutes).fit(train)
    seconds, peak = time.perf_counter() - start, peak_memory()
    usual = ordino.LambdaMART().fit(train)
    found = {
        "seconds": seconds,
        "memory": (peak - before) / train.X.nbytes,
        "trials": len(ranker.plan_["trials"]),
        "members": [member["ranker"] for member in ranker.members_],
        "auto": ordino.evaluate(test, ranker.predict(test))["ndcg@10"],
        "lambda-mart": ordino.evaluate(test, usual.predict(test))["ndcg@10"],
    }
    print(json.dumps(found))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=2000)
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.child:
        fit(given.child, given.minutes)
        return 0
    from shapes import made

    with tempfile.TemporaryDirectory() as folder:
        data = made(given.queries + TEST_QUERIES, DOCS, FEATURES, seed=0)
        for name, part in zip(("train", "test"), data.split(given.queries / data.n_queries), strict=True):
            part.save(Path(folder) / name)
        print(f"{given.queries * DOCS:,} x {FEATURES}, {given.minutes:g} minutes", flush=True)
        command = [sys.executable, __file__, "--child", folder, "--minutes", str(given.minutes)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
    share = found["seconds"] / (60 * given.minutes)
    record("AutoRanker's minutes against the time it takes on 240,000 x 136", 1 / share)
    print(f"{found['seconds']:.0f} s, {share:.2f} of its minutes; memory {found['memory']:.1f} times the features")
    print(f"{found['trials']} trials, members: {', '.join(found['members'])}")
    print(f"NDCG@10 of {TEST_QUERIES} further queries: {found['auto']:.4f}; LambdaMART {found['lambda-mart']:.4f}")
    return int(share > LEEWAY)


if __name__ == "__main__":
    raise SystemExit(main())
