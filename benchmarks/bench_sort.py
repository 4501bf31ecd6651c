"""How fast a comparator orders: sorts against ``sorted`` and a torch batch, all pairs against their arithmetic.

30 TD-shaped queries of 1,000 documents. ``sorted`` is timed on a part (a query's first 200 documents, pair by pair
through the torch net) and scaled to the number of comparisons that our sort makes. The batch evaluates as many pairs at
once, their features gathered beforehand. All pairs of 1,000 documents and a query of 60,000 are timed as well; the
arithmetic of all pairs is a plain vectorized loop over as many activations of neurons and duals as they need. Ratios of
the smallest of several times, taken in turns in one run.

    python benchmarks/bench_sort.py [--repeats 5] [--record]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from resource import RUSAGE_SELF, getrusage

import numpy as np
import torch

import ordino
from history import record
from ordino.compiled import OUTER, njit
from ordino.data.scaling import make_scaler
from ordino.layers import Layer
from ordino.order import PairNetwork, order_queries, sort_queries
from ordino.order.kernels import ACTIVATIONS
from ordino.order.meetings import Meetings
from written import add_record, written

PART = 200  # documents that sorted() gets
TARGETS = {(20,): 200.0, (24, 12, 6): 100.0}
WITHIN_BATCH = 3.0


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def processor_seconds(action: Callable[[], object]) -> float:
    """Of all threads, so that a busy machine changes little."""
    start = time.process_time()
    action()
    return time.process_time() - start


def make_network(n_features: int, hidden: tuple[int, ...], activation: str) -> PairNetwork:
    """A symmetric network with random weights."""
    rng = np.random.default_rng(0)

    def shared(n_in: int, n_out: int) -> np.ndarray:
        W: np.ndarray = rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)
        W += np.roll(W, (n_in // 2, n_out // 2), (0, 1))
        return W / 2

    left = rng.normal(size=(n_features, hidden[0])) / np.sqrt(n_features)
    layers = tuple(Layer(shared(a, b), np.zeros(b)) for a, b in pairwise([*hidden, 2]))  # type: ignore[arg-type]
    right = np.roll(left, hidden[0] // 2, 1)
    return PairNetwork(left, right, np.zeros(hidden[0]), layers, activation)  # type: ignore[arg-type]


def in_torch(network: PairNetwork) -> torch.nn.Sequential:
    """The same network on pairs of concatenated features."""
    steps: list[torch.nn.Module] = []
    for W, b in [Layer(np.concatenate([network.left, network.right]), network.bias), *network.deeper]:
        linear = torch.nn.Linear(*W.shape)
        linear.weight.data, linear.bias.data = torch.tensor(W.T.copy()), torch.tensor(b)
        steps += [linear, torch.nn.ReLU() if network.activation == "relu" else torch.nn.Sigmoid()]
    return torch.nn.Sequential(*steps[:-1], torch.nn.Sigmoid())


def sort_pair_by_pair(net: torch.nn.Sequential, rows: torch.Tensor) -> int:
    """Python's sort around the torch net; gives the number of comparisons."""
    made = 0

    def compare(a: int, b: int) -> int:
        nonlocal made
        made += 1
        first, second = net(torch.cat((rows[a], rows[b]))).tolist()
        return -1 if first > second else int(first < second)

    with torch.no_grad():
        sorted(range(len(rows)), key=cmp_to_key(compare))
    return made


def race(X: np.ndarray, offsets: np.ndarray, hidden: tuple[int, ...], activation: str, repeats: int) -> bool:
    network = make_network(X.shape[1], hidden, activation)
    net, rows = in_torch(network), torch.from_numpy(np.array(X[:PART]))
    n_pairs = int(sort_queries(network, X, offsets).comparisons.sum())
    chosen = np.random.default_rng(1).integers(len(X), size=(n_pairs, 2))
    gathered = torch.from_numpy(X[chosen].reshape(n_pairs, -1))
    with torch.no_grad():
        ahead = net(gathered)
        same = (ahead[:, 0] > ahead[:, 1]).numpy() == (network.compare(*X[chosen].swapaxes(0, 1)) > 0.5)
    assert same.mean() > 0.999, "both must decide the same"
    best = dict.fromkeys(["ours", "ours, 1 thread", "batch", "sorted"], np.inf)
    for _ in range(repeats):
        with torch.no_grad():
            batch = seconds(lambda: net(gathered))
        start, made = time.perf_counter(), sort_pair_by_pair(net, rows)
        slow = (time.perf_counter() - start) / made * n_pairs
        alone = seconds(lambda: sort_queries(network, X, offsets, n_jobs=1))
        ours = min(seconds(lambda: sort_queries(network, X, offsets)) for _ in range(3))
        timed = {"ours": ours, "ours, 1 thread": alone, "batch": batch, "sorted": slow}
        best = {name: min(best[name], timed[name]) for name in best}
    faster, of_batch, target = best["sorted"] / best["ours"], best["ours"] / best["batch"], TARGETS[hidden]
    name = "/".join(map(str, hidden)) + f" {activation}"
    print(f"| {name} | {n_pairs:,} | {1e3 * best['ours']:.1f} | {1e3 * best['ours, 1 thread']:.1f} "
          f"| {1e3 * best['batch']:.1f} | {of_batch:.2f} (at most {WITHIN_BATCH:g}) "
          f"| {best['sorted']:.1f} | {faster:.0f} (at least {target:g}) |")  # fmt: skip
    record(f"sorting with {name} against sorted()", faster)
    record(f"sorting with {name} against one torch batch", 1 / of_batch)
    return faster >= target and of_batch <= WITHIN_BATCH


def all_pairs(X: np.ndarray, repeats: int) -> None:
    """The kernel of all pairs, 40 hidden neurons, beside a loop that does nothing but its activations."""
    squash = ACTIVATIONS["tanh"]

    @njit(**{**OUTER, "cache": False})
    def activate(values: np.ndarray, out: np.ndarray, rounds: int) -> None:
        for _ in range(rounds):
            for i in range(len(values)):
                out[i] = squash(values[i])

    rows = X[:1000]
    network, offsets = make_network(X.shape[1], (40,), "tanh"), np.array([0, len(rows)])
    meetings = Meetings(network, rows, 1)
    n_pairs, values = len(rows) * (len(rows) - 1) // 2, np.random.default_rng(0).standard_normal(1024, np.float32)
    out, rounds = np.empty_like(values), 40 * n_pairs // 1024
    alone = whole = np.inf
    for _ in range(8 * repeats):
        alone = min(alone, processor_seconds(lambda: activate(values, out, rounds)))
        whole = min(whole, processor_seconds(lambda: meetings.totals(offsets)))
    print(
        f"all {n_pairs:,} pairs of 1,000 documents, 40 hidden: {1e3 * whole:.1f} ms of one thread; "
        f"their activations alone {1e3 * alone:.1f} ms, so {whole / alone:.2f} times the arithmetic"
    )


def one_large_query(n_features: int) -> None:
    network = make_network(n_features, (40,), "tanh")
    X = np.random.default_rng(0).standard_normal((60_000, n_features), np.float32)
    for algorithm in ("merge", "copeland", "borda"):
        order_queries(network, X[:100], [0, 100], algorithm=algorithm)
        before = getrusage(RUSAGE_SELF).ru_maxrss
        start, busy = time.perf_counter(), time.process_time()
        order_queries(network, X, [0, len(X)], algorithm=algorithm)
        taken, busy = time.perf_counter() - start, time.process_time() - busy
        more = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024
        print(
            f"60,000 documents in a query, {algorithm}: {taken:.2f} s ({busy:.2f} s of all threads), "
            f"{more:.0f} MB besides the {X.nbytes / 2**20:.0f} MB of data"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    add_record(parser)
    args = parser.parse_args()
    with written("bench_sort", record=args.record):
        measure(args.repeats)


def measure(repeats: int) -> None:
    data = ordino.synthetic("td", queries=30)
    X = np.asarray(make_scaler("querymax").fit_transform(data).X)
    all_pairs(X, repeats)
    one_large_query(X.shape[1])
    print(
        "\n| net | comparisons | ours, ms | 1 thread | one torch batch | ours is x batch | sorted, s | times faster |"
    )
    print("|---|---:|---:|---:|---:|---|---:|---|")
    reached = [
        race(X, data.offsets, (20,), "sigmoid", repeats),
        race(X, data.offsets, (24, 12, 6), "relu", repeats),
    ]
    if not all(reached):
        sys.exit("a target was missed")


if __name__ == "__main__":
    main()
