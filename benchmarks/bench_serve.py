"""What the service costs beside bare ``predict``, how it scales with processes, how even it is, and how long it lasts.

    python benchmarks/bench_serve.py                       # about three minutes, with a soak of 30 s
    python benchmarks/bench_serve.py --soak 600 --record   # the full measurement, written to docs/benchmarks.md
    python benchmarks/bench_serve.py --only cost           # CPU time alone, which a busy machine does not spoil
    python benchmarks/bench_serve.py --only soak --soak 600 --record   # one part anew; the others stay in the table

1,000 documents x 136 features, a linear model and a network 136-64-32-1, bodies in Arrow and JSON (rows), on loopback.

- cost: CPU time of the whole server process for a request (from /proc, all threads), less that of ``predict`` on the
  same array in this process. Requests come one by one on one connection; JSON has every digit of a float32.
- scale: requests a second with two processes over those with one, on 8 connections, from a small client in C (load.c)
  that sends without copying: client and server share the processors, and what the client takes, the server lacks. The
  client's processor time a request is told beside the ratio.
- even: 99th over 50th percentile of latency at half of the highest rate, with requests at equal distances, as wrk2 and
  vegeta send them, and at random times (Poisson). At random times even a server that takes the same time for every
  request lets some wait behind others; the ratio of such a server, from a simulation, stands beside ours.
  Latency counts from the time at which a request was due, so that waiting for a late server counts. Of three runs the
  median counts.
- soak: as many requests as take 80 % of the processor time of one process, while the model's file is replaced every
  5 s: errors, and memory in the last third over that in the middle third. The rate follows what a request takes from
  second to second, since a processor that shares its core is not always equally fast.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import uvloop
from numpy.typing import NDArray

import ordino
from ordino import LinearRegressionRanker, RankNet
from ordino.model_file import load_scorer

DOCS, FEATURES = 1000, 136
KINDS = {"Arrow": "application/vnd.apache.arrow.stream", "JSON": "application/json"}
MODELS = ("linear", "network")
COST = {"Arrow": 1.5, "JSON": 6.0}  # ms of CPU time
SCALE, EVEN, FLAT = 1.7, 3.0, 1.05
RELOAD = 5.0  # seconds
CONNECTIONS = 8
SOAKED = 0.8  # of the server's processor
STALL = 0.25  # seconds by which the client is late only if the whole machine stood still
PARTS = {"cost": ("CPU time",), "scale": ("requests",), "even": ("99th",), "soak": ("errors", "memory")}
"""With which words the rows of a part begin."""
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


class Row(NamedTuple):
    """A line of the result: what was measured, the figure, the target and whether it was met."""

    what: str
    result: str
    target: str
    is_met: bool


def write_models(folder: Path) -> None:
    """Two models, and a second version of each, which the reloads alternate with."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, FEATURES)).astype(np.float32)
    y, qid = (X[:, 0] + X[:, 1] > 0.5).astype(float), np.repeat(np.arange(100), 20)
    for suffix, sign in (("", 1), ("-2", -1)):
        ordino.save(LinearRegressionRanker().fit(X, sign * y, qid=qid), folder / f"linear{suffix}.ordino")
        network = RankNet(hidden=(64, 32), epochs=1, seed=0, scaling="symlog").fit(X, y if sign > 0 else 1 - y, qid=qid)
        ordino.save(network, folder / f"network{suffix}.ordino")


def bodies(X: NDArray[np.float32]) -> dict[str, bytes]:
    """The same documents in both kinds of body."""
    names = [f"f{j + 1}" for j in range(FEATURES)]
    table, sink = pa.table({name: X[:, j] for j, name in enumerate(names)}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    rows = [[float(str(value)) for value in row] for row in X]
    return {"Arrow": sink.getvalue().to_pybytes(), "JSON": json.dumps({"features": names, "rows": rows}).encode()}


class Server(NamedTuple):
    """A running service."""

    pid: int
    port: int

    def pids(self) -> list[int]:
        """The process and those that it started."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii").split()
        return [self.pid, *map(int, children)]

    def cpu_seconds(self) -> float:
        """CPU time of all threads so far, from the scheduler, in nanoseconds' steps."""
        tasks = [task for pid in self.pids() for task in Path(f"/proc/{pid}/task").iterdir()]
        return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks) / 1e9

    def megabytes(self) -> float:
        """Memory of all processes; what they share counts once."""
        texts = [Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii") for pid in self.pids()]
        return sum(int(re.findall(r"^Pss: +(\d+)", text, re.MULTILINE)[0]) for text in texts) / 1024


@contextmanager
def serving(folder: Path, processes: int) -> Iterator[Server]:
    """The service with both models, as the command starts it; its log goes to a file."""
    files = [str(folder / f"{model}.ordino") for model in MODELS]
    words = [sys.executable, "-m", "ordino", "serve", *files, "--port", "0", "--processes", str(processes)]
    log = folder / "log"
    with log.open("w") as stderr, subprocess.Popen(words, stderr=stderr) as process:
        try:
            end = time.monotonic() + 120
            while not (found := re.search(r"serving on http://127\.0\.0\.1:(\d+)", log.read_text())):
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the service did not start: {log.read_text()}")
                time.sleep(0.1)
            server = Server(process.pid, int(found[1]))
            ask(server, "/live")
            yield server
        finally:
            process.terminate()


def ask(server: Server, path: str, body: bytes | None = None, kind: str = "") -> bytes:
    """One request on a connection of its own."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    line.request("GET" if body is None else "POST", path, body, {"content-type": kind})
    answer = line.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {content[:200]!r}")
    line.close()
    return content


def cost(folder: Path, X: NDArray[np.float32], content: dict[str, bytes], n: int) -> list[Row]:
    """CPU time of a request beyond that of ``predict``, the least of several rounds, interleaved."""
    rows = []
    with serving(folder, 1) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        for model in MODELS:
            score, _ = load_scorer(folder / f"{model}.ordino")
            data = ordino.Dataset(X, np.zeros(len(X)))
            bare, spent = list[float](), dict[str, list[float]]({kind: [] for kind in KINDS})
            for round_ in range(6):
                start = time.process_time()
                for _ in range(n):
                    score(data)
                bare.append((time.process_time() - start) / n * 1000)
                for kind, name in KINDS.items():
                    before = server.cpu_seconds()
                    for _ in range(n):
                        line.request("POST", f"/v1/models/{model}/rank", content[kind], {"content-type": name})
                        line.getresponse().read()
                    if round_:  # the first warms up
                        spent[kind].append((server.cpu_seconds() - before) / n * 1000)
            for kind in KINDS:
                over = min(spent[kind]) - min(bare[1:])
                what = f"CPU time of a request beyond `predict`, {model}, {kind}"
                result = f"{over:.2f} ms (whole {min(spent[kind]):.2f}, `predict` {min(bare[1:]):.2f})"
                rows.append(Row(what, result, f"{COST[kind]:g} ms", over <= COST[kind]))
                show(rows[-1])
    return rows


def request_of(model: str, kind: str, body: bytes) -> bytes:
    """A whole request, head and body."""
    head = (
        f"POST /v1/models/{model}/rank HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {KINDS[kind]}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Rate(NamedTuple):
    """Requests a second that a service answered, and the client's own processor time for each, in ms."""

    requests: float
    client: float


def rate_of(server: Server, folder: Path, model: str, kind: str, body: bytes, seconds: float) -> Rate:
    """What the service answers to the client in C, which is compiled when it is first used."""
    client, request = folder / "load", folder / "request"
    if not client.exists():
        subprocess.run(["cc", "-O2", "-pthread", Path(__file__).with_name("load.c"), "-o", client], check=True)
    request.write_bytes(request_of(model, kind, body))
    before = os.times()
    words = [str(client), str(server.port), str(CONNECTIONS), str(seconds), str(request)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    after = os.times()
    right, wrong, elapsed = printed.split()
    if int(wrong):
        raise SystemExit(f"{wrong} of {int(right) + int(wrong)} answers were not 200")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Rate(int(right) / float(elapsed), 1000 * spent / int(right))


def busy_seconds() -> float:
    """Processor time of this machine so far, of all processes."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, Path("/proc/stat").read_text(encoding="ascii").split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def scale(folder: Path, content: dict[str, bytes], seconds: float) -> list[Row]:
    """Two processes against one, three times in turn."""
    rates: dict[tuple[int, str, str], list[Rate]] = {}
    busy: dict[tuple[int, str, str], float] = {}
    for _ in range(3):
        for processes in (1, 2):
            with serving(folder, processes) as server:
                time.sleep(2)
                for model in MODELS:
                    for kind in KINDS:
                        before = busy_seconds()
                        rate = rate_of(server, folder, model, kind, content[kind], seconds)
                        rates.setdefault((processes, model, kind), []).append(rate)
                        busy[processes, model, kind] = (busy_seconds() - before) / seconds
    rows = []
    for model in MODELS:
        for kind in KINDS:
            one, two = (
                statistics.median(rate.requests for rate in rates[processes, model, kind]) for processes in (1, 2)
            )
            client = statistics.median(rate.client for rate in rates[2, model, kind])
            what = f"requests a second, two processes over one, {model}, {kind}"
            full = f"{busy[2, model, kind]:.1f} of {os.cpu_count()} processors busy"
            result = f"{two / one:.2f} ({two:.0f} over {one:.0f}; {full}, {client:.2f} ms a request by the client)"
            rows.append(Row(what, result, f"{SCALE:g}", two / one >= SCALE))
            show(rows[-1])
    return rows


def highest_rate(server: Server, folder: Path, model: str, kind: str, body: bytes, seconds: float) -> float:
    """The requests a second of one process, the median of three times."""
    return statistics.median(rate_of(server, folder, model, kind, body, seconds).requests for _ in range(3))


class Load(NamedTuple):
    """What a load met: latencies in seconds, what went wrong, and how long the client itself stood still."""

    latencies: list[float]
    errors: list[str]
    sent: int
    stalls: list[float]


class Pace:
    """How many requests are sent a second, which may change on the way, and how many were answered."""

    def __init__(self, rate: float) -> None:
        self.rate, self.answered, self.busy = rate, 0, list[float]()

    async def follow(self, server: Server, share: float) -> None:
        """Keep the server busy for this share of the time."""
        spent, answered, begin = server.cpu_seconds(), self.answered, time.perf_counter()
        while True:
            await asyncio.sleep(1.0)
            now = server.cpu_seconds(), self.answered, time.perf_counter()
            if now[1] > answered:
                self.busy.append((now[0] - spent) / (now[2] - begin))
                self.rate += 0.3 * (share * (now[1] - answered) / (now[0] - spent) - self.rate)
            spent, answered, begin = now


async def load(
    server: Server, model: str, kind: str, body: bytes, rate: float | Pace, seconds: float, *, is_random: bool = True
) -> Load:
    """Send requests at random times or at equal distances, on as many connections as it takes."""
    request = request_of(model, kind, body)
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    found = Load([], [], 0, [])
    rng = random.Random(0)
    pace = rate if isinstance(rate, Pace) else Pace(rate)

    async def one(due: float) -> None:
        try:
            async with asyncio.timeout(30):
                while free and free[-1][0].at_eof():  # the server closes what is idle for long
                    free.pop()[1].close()
                reader, writer = free.pop() if free else await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(request)
                told = await reader.readuntil(b"\r\n\r\n")
                length = int(re.findall(rb"content-length: (\d+)", told)[0])
                answer = await reader.readexactly(length)
            if b" 200 " not in told[:20]:
                found.errors.append(answer[:200].decode(errors="replace"))
            pace.answered += 1
            found.latencies.append(time.perf_counter() - due)
            if b"connection: close" in told:
                writer.close()
            else:
                free.append((reader, writer))
        except (OSError, TimeoutError, EOFError, IndexError) as error:
            found.errors.append(repr(error))

    start = due = time.perf_counter()
    tasks = set[asyncio.Task[None]]()
    sent = 0
    while due < start + seconds:
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        elif -wait > STALL:  # the machine stood still, and the server with it: what was due is not sent at once
            found.stalls.append(-wait)
            due -= wait
        task = asyncio.create_task(one(due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        sent += 1
        due += rng.expovariate(pace.rate) if is_random else 1 / pace.rate
    if tasks:
        await asyncio.wait(tasks, timeout=60)
    for _, writer in free:
        writer.close()
    return found._replace(sent=sent)


def even(folder: Path, content: dict[str, bytes], seconds: float) -> list[Row]:
    """How much slower the slow requests are, at half load."""
    rows = []
    with serving(folder, 1) as server:
        for model in MODELS:
            for kind in KINDS:
                rate = 0.5 * highest_rate(server, folder, model, kind, content[kind], seconds)
                uvloop.run(load(server, model, kind, content[kind], rate, 2))
                for is_random, when in ((False, "equal distances"), (True, "random times")):
                    runs = [
                        uvloop.run(load(server, model, kind, content[kind], rate, seconds, is_random=is_random))
                        for _ in range(3)
                    ]
                    found = [np.percentile(run.latencies, [50, 99]) * 1000 for run in runs]
                    p50, p99 = sorted(found, key=lambda pair: float(pair[1] / pair[0]))[1]  # the median run
                    what = f"99th over 50th percentile of latency at half load, {when}, {model}, {kind}"
                    result = f"{p99 / p50:.1f} ({p99:.1f} over {p50:.1f} ms at {rate:.0f} a second)"
                    ideal = f"none; {ideal_ratio():.1f} if every request took the same time"
                    is_met = not any(run.errors for run in runs) and (is_random or p99 / p50 <= EVEN)
                    rows.append(Row(what, result, ideal if is_random else f"{EVEN:g}", is_met))
                    show(rows[-1])
    return rows


def ideal_ratio() -> float:
    """The 99th over the 50th percentile of a server that takes one second for every request, at half load."""
    rng = np.random.default_rng(0)
    free, due, latencies = 0.0, 0.0, []
    for gap in rng.exponential(2.0, 100_000).tolist():
        due += gap
        free = max(free, due) + 1.0
        latencies.append(free - due)
    p50, p99 = np.percentile(latencies, [50, 99])
    return float(p99 / p50)


def soak(folder: Path, content: dict[str, bytes], each: float, seconds: float) -> list[Row]:
    """Most of the highest rate for a long time, while the file of the model changes."""
    model, kind = "network", "Arrow"
    path = folder / f"{model}.ordino"
    versions = [path.read_bytes(), (folder / f"{model}-2.ordino").read_bytes()]
    memory = list[float]()

    async def change() -> int:
        n = 0
        while True:
            await asyncio.sleep(RELOAD)
            n += 1
            part = path.with_suffix(".part")
            part.write_bytes(versions[n % 2])
            part.replace(path)
            changes.append(time.perf_counter())
            memory.append(server.megabytes())

    async def run() -> Load:
        beside = [asyncio.create_task(one) for one in (change(), pace.follow(server, SOAKED))]
        try:
            return await load(server, model, kind, content[kind], pace, seconds)
        finally:
            for one in beside:
                one.cancel()

    changes = list[float]()
    with serving(folder, 1) as server:
        pace = Pace(0.5 * highest_rate(server, folder, model, kind, content[kind], each))
        found = uvloop.run(run())
        text = ask(server, "/metrics").decode()
    made = re.findall(rf'ordino_reloads_total{{model="{model}",outcome="made"}} (\d+)', text)[0]
    path.write_bytes(versions[0])
    third = max(1, len(memory) // 3)
    growth = max(memory[-third:]) / max(memory[third : 2 * third] or memory[:third])
    for error in found.errors[:5]:
        print("  ", error)
    busy = 100 * statistics.mean(pace.busy[5:] or pace.busy)
    length = f"{seconds:.0f} s at {busy:.0f} % load ({found.sent:,} requests), {made} reloads"
    if found.stalls:
        length += f"; the client stood still {len(found.stalls)} times, {sum(found.stalls):.1f} s in all"
    rows = [
        Row(f"errors in {length}", f"{len(found.errors)}", "0", not found.errors and found.sent > 0),
        Row(
            "memory in its last third over its middle third",
            f"{growth:.2f} ({memory[-1]:.0f} MB)",
            f"{FLAT}",
            growth <= FLAT,
        ),
    ]
    for row in rows:
        show(row)
    return rows


def show(row: Row) -> None:
    print(f"{'   ' if row.is_met else 'NO '}{row.what:<78} {row.result:<52} asked {row.target}", flush=True)


def record(rows: list[Row], parts: list[str]) -> None:
    """Write the rows of these parts between the marks of the page; those of other parts stay."""
    mark, end = "<!-- bench_serve -->", "<!-- end of bench_serve -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(mark)
    old, ended, after = rest.partition(end)
    if not (found and ended):
        raise SystemExit(f"{PAGE}: there is no place between {mark} and {end}")
    lines = {part: [line for line in old.splitlines() if _is_of(line, part)] for part in PARTS}
    for part in parts:
        own = [f"| {row.what} | {row.result if row.is_met else f'**{row.result}**'} | {row.target} |" for row in rows]
        lines[part] = [line for line in own if _is_of(line, part)]
    told = (
        f"Written by `bench_serve.py`; {', '.join(parts)} on {datetime.now(UTC):%Y-%m-%d}, "
        f"load of the last 15 minutes {os.getloadavg()[2]:.1f}."
    )
    table = ["| what | result | target |", "|---|---|---|", *(line for part in PARTS for line in lines[part])]
    PAGE.write_text("\n".join([before + mark, told, "", *table, end]) + after, encoding="utf-8")


def _is_of(line: str, part: str) -> bool:
    return line.startswith(tuple(f"| {word}" for word in PARTS[part]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--soak", type=float, default=30, help="seconds of the soak")
    parser.add_argument("--seconds", type=float, default=5, help="seconds of each load")
    parser.add_argument("--requests", type=int, default=100, help="requests of each round of the cost")
    parser.add_argument("--only", choices=list(PARTS), help="measure this alone")
    parser.add_argument("--record", action="store_true", help="write the table of docs/benchmarks.md")
    options = parser.parse_args()
    parts = list(PARTS) if options.only is None else [options.only]
    if shutil.which("cc") is None and parts != ["cost"]:
        raise SystemExit("no C compiler is there for the client; install one (apt install gcc), or measure --only cost")
    X = np.random.default_rng(1).normal(size=(DOCS, FEATURES)).astype(np.float32)
    content = bodies(X)
    print(f"bodies: {', '.join(f'{kind} {len(body):,} bytes' for kind, body in content.items())}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder)
        rows = cost(folder, X, content, options.requests) if "cost" in parts else []
        if "scale" in parts:
            rows += scale(folder, content, options.seconds)
        if "even" in parts:
            rows += even(folder, content, options.seconds)
        if "soak" in parts:
            rows += soak(folder, content, options.seconds, options.soak)
    if options.record:
        record(rows, parts)
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
