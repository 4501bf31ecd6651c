"""Every ranker in fresh processes: the same bits whatever the process, the number of threads and the order of rows.

Each process fits every variant of every ranker and prints a hash of its scores for held-out documents. The wide data
has 700 features and queries of 300 documents, where libraries begin to share a product among threads.

    python tests/campaigns/same.py [--long] [--record] [--keep FILE]
"""

import json
import os
import subprocess
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns.ledger import Kept, Outcome, main
from ordino import Dataset
from rankers.test_contract import VARIANTS, quick

LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SHAPES = {"small": (24, 20, 46), "wide": (6, 300, 700)}
"""Queries, documents of each, features."""
WAYS = {
    "one thread": {"threads": 1},
    "another process": {"threads": 1, "hash_seed": 77},
    "two threads": {"threads": 2},
    "four threads": {"threads": 4},
    "other order": {"threads": 1, "order": 5},
    "other order, two threads": {"threads": 2, "order": 6},
}
SHORT_WAYS = ("one thread", "other order, two threads")
PART = 4
"""How many variants a process fits before it ends."""
SLOW_WHEN_WIDE = {"generations": 3, "restarts": 1, "sweeps": 1, "epochs": 3, "rounds": 10}


def make_data(shape: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents whose labels follow a few of the features."""
    n_queries, n_docs, n_features = SHAPES[shape]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, n_features)).astype(np.float32)
    noisy = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
    return X, np.digitize(noisy, np.quantile(noisy, [0.6, 0.85])), np.repeat(np.arange(n_queries), n_docs)


def fitted_hashes(shape: str, threads: int, order: int, variants: list[str]) -> dict[str, str]:
    """By variant a hash of the scores, or what went wrong."""
    X, y, qid = make_data(shape, seed=1)
    rows = np.arange(len(X)) if order == 0 else np.random.default_rng(order).permutation(len(X))
    train, valid = (X[rows], y[rows], qid[rows]), make_data(shape, seed=2)
    test = Dataset(*make_data(shape, seed=3))
    found = {}
    for variant in variants:
        name, changes = VARIANTS[variant]
        ranker = quick(name).set_params(**changes)
        known = ranker.get_params()
        if shape == "wide":
            ranker.set_params(**{key: least for key, least in SLOW_WHEN_WIDE.items() if key in known})
        if "n_jobs" in known:
            ranker.set_params(n_jobs=threads)
        try:
            scores = ranker.fit(train[0], train[1], qid=train[2], valid=valid).predict(test)
            found[variant] = sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()
        except Exception as error:
            found[variant] = f"{type(error).__name__}: {error}"
    return found


def in_process(shape: str, variants: list[str], *, threads: int, order: int = 0, hash_seed: int = 0) -> dict[str, str]:
    """The same in a fresh process."""
    environment = os.environ | dict.fromkeys(LIBRARIES, str(threads)) | {"PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-W", "ignore", __file__, "--child", shape, str(threads), str(order), *variants]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return dict.fromkeys(variants, f"the process ended with {done.returncode}: {done.stderr[-300:]}")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def campaign(long: bool, kept: Kept | None = None, variants: list[str] | None = None) -> Outcome:
    """Compare every way with the first."""
    kept = kept or Kept()
    chosen, ways = variants or list(VARIANTS), WAYS if long else {way: WAYS[way] for way in SHORT_WAYS}
    n_fits, problems = 0, []
    for shape in SHAPES if long else ["small"]:
        results = {way: dict[str, str]() for way in ways}
        for first_one in range(0, len(chosen), PART):
            some = chosen[first_one : first_one + PART]
            for way, settings in ways.items():
                part = partial(in_process, shape, some, **settings)
                results[way] |= kept.once(f"{shape}, {way}, {', '.join(some)}", part)
        first = results.pop("one thread")
        n_fits += len(chosen) * len(ways)
        for variant, expected in first.items():
            if ":" in expected:
                problems.append(f"{variant}, {shape}: {expected}")
            differing = [way for way, found in results.items() if found[variant] != expected]
            if differing:
                problems.append(f"{variant}, {shape}: other scores with {', '.join(differing)}")
    return Outcome(
        "determinism",
        tried=f"{len(chosen)} variants of all rankers, {n_fits:,} fits in fresh processes with 1 to 4 threads, "
        "shuffled rows and other hash seeds, with 46 and with 700 features"
        if long
        else f"{len(chosen)} variants, {n_fits:,} fits",
        failures={"differences": len(problems)},
        problems=problems,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        shape, threads, order, *names = sys.argv[2:]
        print(json.dumps(fitted_hashes(shape, int(threads), int(order), names)))
    else:
        main(campaign, in_parts=True)
