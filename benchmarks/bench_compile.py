"""Seconds of compiling on first use with an empty cache: every ranker's first fit, measuring, reading, writing, README.

Each case runs in a process of its own whose numba cache is a fresh folder. Compiling is measured by numba's own events
(outermost ones only), in processor time, so that a busy machine changes little; the clock's time of the whole case,
imports included, stands beside it. Exits with 1 if a limit is broken.
``python benchmarks/bench_compile.py [CASE ...]``
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from doctest import DocTestParser
from pathlib import Path
from typing import Any

MOST_COMPILING = 3.0  # seconds of processor time, in any case but README
MOST_README = 10.0  # seconds on the clock
README, WITHOUT_RANKER = "README", ("evaluate", "read_letor", "write_letor")
QUICK = {
    "rounds": 8, "generations": 4, "population": 8, "epochs": 2, "pretraining": 1, "max_iter": 2, "restarts": 2,
    "sweeps": 2, "n_perceptrons": 5, "n_components": 12, "hidden": (8,), "min_leaf": 5, "n_pairs": 400,
    "n_valid_pairs": 200, "n": 2, "sizes": (None, 10),
}  # fmt: skip


def run_case(case: str, folder: Path) -> None:
    """Do what is measured."""
    if case == README:
        text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
        names: dict[str, Any] = {}
        for example in DocTestParser().get_examples(text.partition("```python")[2].partition("```")[0]):
            exec(example.source, names)
        return
    import numpy as np

    import ordino

    with np.load(folder / "data.npz") as given:
        data = ordino.Dataset(given["X"], given["y"], qid=given["qid"])
    if case == "evaluate":
        ordino.evaluate(data, data.X[:, 0])
    elif case == "read_letor":
        lines = (f"{y:g} qid:{q} " + " ".join(f"{f + 1}:{x}" for f, x in enumerate(row)) for y, q, row in
                 zip(data.y.tolist(), data.qid.tolist(), data.X.tolist(), strict=True))  # fmt: skip
        (folder / "some.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        ordino.read_letor(folder / "some.txt")
    elif case == "write_letor":
        ordino.write_letor(data, folder / "all.txt")
    else:
        from ordino.rankers import ranker_class

        own = ranker_class(case)().get_params(deep=False)
        train, valid = data.split(0.75, 0.25)
        ranker_class(case)(**{name: value for name, value in QUICK.items() if name in own}).fit(train, valid=valid)


def child(case: str, folder: Path) -> None:
    """Run a case and print what it cost, as JSON."""
    start = time.perf_counter()
    from numba.core import event

    seconds: dict[str, float] = {}

    class Compiling(event.Listener):
        """Adds up the seconds of the outermost functions that numba compiles."""

        depth, since = 0, 0.0

        def on_start(self, _: Any) -> None:
            self.since = self.since if self.depth else time.thread_time()
            self.depth += 1

        def on_end(self, ended: Any) -> None:
            self.depth -= 1
            if not self.depth:
                name = ended.data["dispatcher"].py_func.__name__
                seconds[name] = seconds.get(name, 0.0) + time.thread_time() - self.since

    event.register("numba:compile", Compiling())  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_case(case, folder)
    wall = time.perf_counter() - start
    worst = max(seconds.items(), key=lambda item: item[1], default=("", 0.0))
    print(json.dumps({"compiling": sum(seconds.values()), "wall": wall, "worst": worst}))


def measure(case: str) -> dict[str, Any]:
    """What a case costs in a fresh process with an empty cache; its data is made in this one."""
    import numpy as np

    import ordino

    with tempfile.TemporaryDirectory() as folder:
        data = ordino.synthetic("mq", queries=16, seed=1)
        np.savez(Path(folder) / "data.npz", X=data.X[:, :12], y=data.y, qid=data.qid)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        command = [sys.executable, __file__, "--child", case, folder]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{case} failed:\n{done.stderr}")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", nargs="*", help="which; all without")
    options.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.child:
        child(chosen.child[0], Path(chosen.child[1]))
        return 0
    from ordino.rankers import RANKERS

    broken = []
    print("| first use of | compiling, s | clock, s | slowest kernel | s |\n|---|---:|---:|---|---:|")
    for case in chosen.cases or [README, *WITHOUT_RANKER, *RANKERS]:
        found = measure(case)
        name, seconds = found["worst"]
        print(f"| {case} | {found['compiling']:.2f} | {found['wall']:.1f} | {name} | {seconds:.2f} |", flush=True)
        if case == README and found["wall"] > MOST_README:
            broken.append(f"README's example took {found['wall']:.1f} s; the limit is {MOST_README:g} s")
        if case != README and found["compiling"] > MOST_COMPILING:
            broken.append(f"{case} compiled for {found['compiling']:.1f} s; the limit is {MOST_COMPILING:g} s")
    print("\n" + ("\n".join(broken) or "no limit is broken"))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
