"""How fast networks learn: against an earlier version of Ordino, torch's own step, and the bare matrix products.

    python benchmarks/bench_networks.py [--before SRC] [--only PART ...] [--record]

``--before`` is the src folder of a checkout of commit b0134f3, the last one whose networks learned in torch; it must be
installed with torch. Every contestant is a process of its own, and they take turns, so that all of them see the same
machine; a time is the least of all turns. Milliseconds are the clock's; the ratio of processor times stands beside that
of the clock's, for a machine that does other work.

Both versions do the same work. The earlier one learned from all queries and kept the last epoch where it got no
validation data; ours then holds out some queries and ranks them after every epoch, unless it is told not to, as here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import numpy as np

from history import record
from written import add_record, written

TURNS = 4
STEPS = {"640 x 46, 64-32": (640, 46, (64, 32)), "640 x 46, 10": (640, 46, (10,)),
         "1,920 x 136, 64-32": (1920, 136, (64, 32)), "10,000 x 136, 128-64": (10_000, 136, (128, 64))}  # fmt: skip
ASKED = {"640 x 46, 64-32": 2.0, "640 x 46, 10": 3.0, "10,000 x 136, 128-64": 1.0, "pairs, batches of 500": 8.0,
         "pairs, full batch": 3.0, "RankNet on MQ2008's shape": 2.0, "RankNet on MQ2007's shape": 2.0,
         "SortNet as published on td": 4.0}  # fmt: skip
RATE = 1e-3
OPEN = ExitStack()  # what a worker holds until it ends


def rows_of(shape: tuple[int, int, tuple[int, ...]]) -> tuple[Any, Any]:
    """Documents, and the slopes of a loss in their scores: what the loss costs is not a part of the step."""
    rng = np.random.default_rng(0)
    return rng.normal(size=shape[:2]).astype(np.float32), (rng.normal(size=shape[0]) / shape[0]).astype(np.float32)


def our_step(shape: tuple[int, int, tuple[int, ...]]) -> Callable[[], object]:
    from ordino.networks.nets import MOST_BLOCKS, RowNet
    from ordino.networks.optimizers import OPTIMIZERS
    from ordino.networks.supply import Batch
    from ordino.threads import products, worker_threads

    (X, slopes), options = rows_of(shape), {"activation": "relu", "initializer": "he", "seed": 0}
    net = RowNet([shape[1], *shape[2], 1], output_bias=False, **options)
    OPEN.enter_context(products.on_one_thread())
    net.run = OPEN.enter_context(worker_threads(None, MOST_BLOCKS))
    move, batch = OPTIMIZERS["adamw"](net.is_weight, 0.01), Batch(X, lambda _: (0.0, slopes[:, None]), 1.0)

    def step() -> None:
        net.error(batch)
        move(net.theta, net.slopes, RATE)

    return step


def earlier_step(shape: tuple[int, int, tuple[int, ...]]) -> Callable[[], object]:
    import torch
    from ordino.learn import training  # type: ignore[import-not-found]
    from ordino.learn.network import Network  # type: ignore[import-not-found]

    X, slopes = (torch.from_numpy(array) for array in rows_of(shape))
    net = Network([shape[1], *shape[2]], activation="relu", initializer="he", dropout=0.0, seeds=[0])
    optimizer, rates = training.OPTIMIZERS["adamw"](net.parameters, 0.01), torch.full((1,), RATE)

    def step() -> None:
        for p in net.parameters:
            p.grad = None
        with training._threads_for(len(X) * sum(W.numel() for W in net.W)):
            torch.autograd.backward(net(X, training=True), slopes[None])
            optimizer.step(rates)

    return step


def torch_step(shape: tuple[int, int, tuple[int, ...]]) -> Callable[[], object]:
    import torch

    X, slopes = (torch.from_numpy(array) for array in rows_of(shape))
    widths, layers = [shape[1], *shape[2]], []
    for n_in, n_out in pairwise(widths):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(widths[-1], 1, bias=False))
    optimizer = torch.optim.AdamW(net.parameters(), RATE)

    def step() -> None:
        optimizer.zero_grad()
        net(X).backward(slopes[:, None])
        optimizer.step()

    return step


def bare_products(shape: tuple[int, int, tuple[int, ...]]) -> Callable[[], object]:
    (X, _), widths = rows_of(shape), [shape[1], *shape[2]]
    weights = [np.ones(pair, np.float32) for pair in pairwise(widths)]

    def step() -> None:
        seen = [X]
        for W in weights:
            seen.append(seen[-1] @ W)
        above = seen.pop()
        for i in reversed(range(len(weights))):
            seen[i].T @ above
            above = above @ weights[i].T if i else above

    return step


def fits() -> dict[str, Callable[[], object]]:
    """Whole fits through what users call, the same in both versions."""
    import ordino

    rng = np.random.default_rng(0)
    X = rng.normal(size=(66 * 150, 45)).astype(np.float32)
    y = np.clip(X[:, 0] + rng.normal(size=len(X)), 0, 2).round()
    pairs = ordino.Dataset(X, y, qid=np.repeat(np.arange(66), 150))
    mq2008, mq2007 = (ordino.synthetic(name, seed=0).split(0.75) for name in ("mq2008", "mq2007"))
    X = rng.normal(size=(40 * 1000, 44)).astype(np.float32)
    relevant = X[:, :3].sum(axis=1) + rng.normal(size=len(X)) > 4.6  # about 1 %
    td = ordino.Dataset(X, relevant.astype(float), qid=np.repeat(np.arange(40), 1000)).split(0.75)
    some: dict[str, Any] = {"n_pairs": 100_000, "patience": None}
    if "hold_out" in ordino.DeepNet().get_params():
        some["hold_out"] = None

    def compared(epochs: int, **options: Any) -> None:
        ordino.DeepNet(hidden=40, epochs=epochs, **some, **options).fit(pairs)

    def scored(epochs: int, parts: Any) -> None:
        ordino.RankNet(epochs=epochs, patience=None, scaling="symlog", dropout=0.0).fit(parts[0], valid=parts[1])

    full = {"batch": None, "dropout": 0.0}
    return {
        "pairs, batches of 500": lambda: compared(6),
        "pairs, batches of 500, one epoch": lambda: compared(1),
        "pairs, full batch": lambda: compared(31, **full),
        "pairs, full batch, one epoch": lambda: compared(1, **full),
        "RankNet on MQ2008's shape": lambda: scored(20, mq2008),
        "RankNet on MQ2007's shape": lambda: scored(10, mq2007),
        "SortNet as published on td": lambda: ordino.SortNet.as_published(max_iter=5).fit(td[0], valid=td[1]),
    }


CONTESTANTS: Mapping[str, Any] = {
    "ours": our_step,
    "before": earlier_step,
    "torch": torch_step,
    "products": bare_products,
}


def work(contestant: str) -> None:
    """Time what the lines of the standard input name."""
    if contestant == "ours":  # which would count the processors that the others used in their turns as busy
        from ordino import threads

        threads.__dict__["free_processors"] = lambda: os.cpu_count() or 1
    ready: dict[str, Callable[[], object]] = {}
    known = set()  # what ran once: its first run compiles
    for line in sys.stdin:
        name = line.strip()
        if name in STEPS:
            if name not in ready:
                ready[name] = CONTESTANTS[contestant](STEPS[name])
            n = 100
        else:
            ready = ready if "fits" in ready else ready | fits() | {"fits": print}
            n = 1
        action = ready[name]
        if name not in known:
            action()
            known.add(name)
        times = []
        for _ in range(n):
            start, busy = time.perf_counter(), time.process_time()
            action()
            times.append((time.perf_counter() - start, time.process_time() - busy))
        print(*map(min, zip(*times, strict=True)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="src folder of commit b0134f3")
    parser.add_argument("--only", nargs="*", default=[], help="parts whose name contains one of these")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    add_record(parser)
    args = parser.parse_args()
    if args.worker:
        work(args.worker)
        return
    with written("bench_networks", record=args.record):
        race(args.before, args.only)


def race(earlier: str | None, only: list[str]) -> None:
    """Let all contestants take turns at every part, and print a table."""
    here = os.environ.get("PYTHONPATH", "")
    teams = [name for name in CONTESTANTS if name != "before" or earlier]
    workers = {
        name: subprocess.Popen(
            [sys.executable, __file__, "--worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": (earlier or "") if name == "before" else here},
        )
        for name in teams
    }
    fit_names = [name for name in ASKED if name not in STEPS]
    failed = False
    print(f"| | {' | '.join(f'{name}, ms' for name in teams)} | before / ours | by processor time | asked |")
    print(f"|---|{'---:|' * (len(teams) + 3)}")
    for part in [*STEPS, *fit_names]:
        if only and not any(word in part for word in only):
            continue
        own = {team: workers[team] for team in (teams if part in STEPS else teams[: len(teams) - 2])}
        whole = best_of(own, part)
        if part.startswith("pairs"):
            n_more, first = 5 if "500" in part else 30, best_of(own, f"{part}, one epoch")
            whole = {team: (whole[team] - first[team]) / n_more for team in whole}
        by_clock, by_processor = whole["before"] / whole["ours"] if "before" in whole else (np.nan, np.nan)
        failed |= bool(by_clock < ASKED.get(part, 0))
        record(f"{part} against the version before", by_clock)
        cells = [f"{1000 * whole[team][0]:.3f}" if team in whole else "" for team in teams]
        ratios = f"{by_clock:.2f} | {by_processor:.2f}"
        print(f"| {part} | {' | '.join(cells)} | {ratios} | {ASKED.get(part, '')} |", flush=True)
    for worker in workers.values():
        worker.communicate()
    sys.exit(failed)


def best_of(workers: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Seconds of each contestant by the clock and of its processors, the least of several turns."""
    times: dict[str, list[list[float]]] = {team: [] for team in workers}
    for _ in range(TURNS):
        for team, worker in workers.items():
            worker.stdin.write(part + "\n")
            worker.stdin.flush()
            times[team].append([float(word) for word in worker.stdout.readline().split()])
    return {team: np.min(some, axis=0) for team, some in times.items()}


if __name__ == "__main__":
    main()
