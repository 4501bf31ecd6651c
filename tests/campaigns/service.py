"""Hostile bodies for the service: truncated, wrong in shape, larger than they say, deep, huge, of another type.

One process of ``ordino serve`` gets them over a socket. Every answer must come in time and be 200, or a sentence with
4xx or 503. The process must live on and its memory stay below a bound; good requests in between get their answers.

    python tests/campaigns/service.py [--long] [--record]
"""

import copy
import http.client
import io
import json
import random
import re
import struct
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgpack
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))

import ordino
from campaigns.ledger import Outcome, main
from ordino import LambdaMART, LinearRegressionRanker
from serving import NAMES, network, small_data

SHORT, LONG = 600, 10_000
SECONDS = 10  # for an answer
MEGABYTES = 600  # of the process, whatever comes
ARROW, NPY, MSGPACK, JSON = (
    "application/vnd.apache.arrow.stream",
    "application/x-npy",
    "application/msgpack",
    "application/json",
)
VALUES: tuple[Any, ...] = (
    None, True, "", "x", [], {}, [[]], -1, 0, 1e308, -1e308, 5e-324, 10**18, 10**30, 10**400, [[[]]], {"a": {}}, "NaN",
    "\x00", "é" * 50,
)  # fmt: skip
MODELS = ("linear", "trees", "net")


def as_arrow(columns: Any, **options: Any) -> bytes:
    table, sink = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def as_npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def good_object(rng: random.Random) -> dict[str, Any]:
    rows = [[rng.uniform(-2, 2) for _ in NAMES] for _ in range(rng.randrange(8))]
    if rng.random() < 0.5:
        return {
            "items": [{"id": f"d{j}", "features": dict(zip(NAMES, row, strict=True))} for j, row in enumerate(rows)]
        }
    return {"features": list(NAMES), "rows": rows, "top": 3, "explain": rng.random() < 0.3}


def good_answer(rng: random.Random, engine: str) -> dict[str, Any]:
    rows = [[rng.uniform(-2, 2) for _ in NAMES] for _ in range(rng.randrange(6))]
    if engine == "solr":
        texts = [",".join(f"{name}={value}" for name, value in zip(NAMES, row, strict=True)) for row in rows]
        return {
            "response": {"numFound": 9, "docs": [{"id": f"d{j}", "[features]": text} for j, text in enumerate(texts)]}
        }
    logs = [[{"name": name, "value": value} for name, value in zip(NAMES, row, strict=True)] for row in rows]
    return {"hits": {"hits": [{"_id": f"d{j}", "fields": {"_ltrlog": [{"log": log}]}} for j, log in enumerate(logs)]}}


def good_tensor(rng: random.Random) -> dict[str, Any]:
    n = rng.randrange(6)
    data = [[rng.uniform(-2, 2) for _ in NAMES] for _ in range(n)]
    return {"inputs": [{"name": "features", "datatype": "FP32", "shape": [n, len(NAMES)], "data": data}]}


def spoil(value: Any, rng: random.Random) -> Any:
    """The value with something else in one to three places."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = value
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.75:
                place = place[key]
                continue
            what = rng.random()
            if what < 0.2 and isinstance(place, dict):
                place[rng.choice(("x", "", "id", "features", "rows", "__class__"))] = place.pop(key)
            elif what < 0.4:
                del place[key]
            elif what < 0.5 and isinstance(place, list):
                place.insert(key, rng.choice(VALUES))
            else:
                place[key] = rng.choice(VALUES)
            break
    return value


def spoil_bytes(content: bytes, rng: random.Random) -> bytes:
    """The bytes with some changed, cut out, doubled, or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not changed:
            break
        at = rng.randrange(len(changed))
        match rng.randrange(5):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
            case 2:
                del changed[at : at + rng.randrange(1, 40)]
            case 3:
                changed[at:at] = changed[at : at + rng.randrange(1, 40)]
            case 4:
                del changed[at:]
    return bytes(changed)


def packed(value: Any) -> bytes:
    try:
        return bytes(msgpack.packb(value))
    except (OverflowError, ValueError):
        return b"\xc1"


def by_hand(rng: random.Random) -> tuple[str, bytes]:
    """Bodies that attack one promise each."""
    n = rng.choice((1000, 100_000, 3_000_000))
    X = np.ones((4, 3), np.float32)
    good = as_arrow({name: X[:, j] for j, name in enumerate(NAMES)})
    bodies = [
        (JSON, b"[" * n),
        (JSON, b'{"rows":' + b"[" * 900 + b"]" * 900 + b"}"),
        (JSON, b'{"a":' * n),
        (JSON, b'{"rows":[' + b"[]," * n + b"[]]}"),
        (JSON, b'{"rows":[' + b"[1,2,3]," * n + b"[1,2,3]]}"),
        (JSON, b'{"items":[' + b'{"features":{}},' * (n // 10) + b"{}]}"),
        (JSON, b'{"rows":[[NaN,Infinity,-Infinity]]}'),
        (JSON, b'{"rows":[[1e999,1,1]]}'),
        (JSON, b'{"rows":[[' + b"9" * n + b",1,1]]}"),
        (JSON, b'{"ids":["' + b"x" * n + b'"],"rows":[[1,2,3]]}'),
        (JSON, b'{"items":[{"id":"\\ud800","features":{}}]}'),
        (JSON, b"\xff\xfe{\x00}\x00"),
        (JSON, b'{"rows":[[1,2,3]]}' + b" " * n + b"x"),
        (MSGPACK, b"\xdd\x3b\x9a\xca\x00" + b"\x00" * 10),
        (MSGPACK, b"\xdf\x3b\x9a\xca\x00"),
        (MSGPACK, b"\xc6\xff\xff\xff\xff"),
        (MSGPACK, b"\x91" * n),
        (MSGPACK, b"\x81\xa4rows" + b"\xdc\xff\xff" * 2000),
        (MSGPACK, b"\xc7\xff\x05" + b"x" * 300),
        (NPY, as_npy(X).replace(b"(4, 3)", b"(1000000000, 3)", 1)),
        (NPY, as_npy(X).replace(b"(4, 3)", b"(-4, 3)", 1)),
        (NPY, b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535),
        (NPY, b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{"),
        (NPY, as_npy(np.array([{}, []], dtype=object), allow_pickle=True)),
        (NPY, as_npy(np.full((4, 3), rng.choice((np.nan, np.inf, 1e300))))),
        (NPY, as_npy(np.zeros((rng.choice((0, 1, 20_000)), rng.choice((0, 2, 3)))))),
        (ARROW, good[: rng.randrange(len(good))]),
        (ARROW, as_arrow({name: np.zeros(200_000) for name in NAMES}, compression="zstd")),
        (ARROW, as_arrow({name: pa.nulls(50_000) for name in NAMES})),
        (ARROW, as_arrow({name: pa.array(["a"] * 3).dictionary_encode() for name in NAMES})),
        (ARROW, as_arrow({name: [[1.0]] for name in NAMES})),
        (ARROW, as_arrow({f"x{j}": [1.0] for j in range(2000)})),
        (ARROW, re.sub(struct.pack("<q", 4), struct.pack("<q", 10**9), good, count=rng.randrange(1, 6))),
        (ARROW, good * 50),
    ]
    return rng.choice(bodies)


def hostile(rng: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    """A path, a content type, a body and more headers."""
    model, more = rng.choice(MODELS), dict[str, str]()
    rank = f"/v1/models/{model}/rank"
    X = np.ones((rng.randrange(5), 3), rng.choice((np.float32, np.float64, np.int16)))
    match rng.randrange(9):
        case 0:
            path, kind, body = rank, JSON, json.dumps(spoil(good_object(rng), rng)).encode()
        case 1:
            path, kind, body = rank, MSGPACK, packed(spoil(good_object(rng), rng))
        case 2:
            path, kind, body = rank, ARROW, spoil_bytes(as_arrow({name: X[:, j] for j, name in enumerate(NAMES)}), rng)
        case 3:
            path, kind, body = rank, NPY, spoil_bytes(as_npy(X), rng)
        case 4:
            path = rank
            kind, body = by_hand(rng)
        case 5:
            engine = rng.choice(("elasticsearch", "opensearch", "solr"))
            value = spoil(good_answer(rng, rng.choice((engine, engine, "solr"))), rng)
            path, kind, body = f"/v1/rerank/{engine}?model={model}", JSON, json.dumps(value).encode()
        case 6:
            path, kind, body = f"/v2/models/{model}/infer", JSON, json.dumps(spoil(good_tensor(rng), rng)).encode()
        case 7:
            head = {"name": "features", "datatype": "FP32", "shape": [rng.choice((len(X), 10**9, -1)), 3]}
            head["parameters"] = {"binary_data_size": rng.choice((12 * len(X), 0, 10**12, "x"))}
            text = json.dumps({"inputs": [head]}).encode()
            more["inference-header-content-length"] = str(rng.choice((len(text), 0, 10**9, "-1")))
            path, kind, body = f"/v2/models/{model}/infer", "application/octet-stream", text + X.astype("<f4").tobytes()
        case _:
            body = spoil_bytes(json.dumps(good_object(rng)).encode(), rng)
            path, kind = (
                rank,
                rng.choice((JSON, ARROW, NPY, MSGPACK, "text/plain", "", "multipart/form-data; boundary=x")),
            )
    if rng.random() < 0.05:
        path += rng.choice(("?top=0", "?top=" + "9" * 400, "?explain=1", "?x=%00", "/../..", "%00", "?" + "a=1&" * 500))
    if rng.random() < 0.03:
        more[rng.choice(("content-encoding", "x-request-id", "accept"))] = rng.choice(("gzip", "é\x7f", "x" * 5000))
    return path, kind, body, more


class Server:
    """One process of the service."""

    def __init__(self, folder: Path, files: list[Path]) -> None:
        words = [sys.executable, "-m", "ordino", "serve", *map(str, files), "--port", "0", "--processes", "1"]
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, stderr=log)
        end = time.monotonic() + 120
        while (found := re.search(r"serving on http://127\.0\.0\.1:(\d+)", self.log.read_text())) is None:
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.1)
        self.port = int(found[1])

    def last_failure(self) -> str:
        """What the log says of the last request that failed."""
        lines = [line for line in self.log.read_text().splitlines() if '"traceback"' in line]
        return " / ".join(json.loads(lines[-1])["traceback"].splitlines()[-3:]) if lines else ""

    def megabytes(self) -> float:
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) / 1024

    def ask(self, path: str, kind: str, body: bytes, more: dict[str, str]) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            line.putrequest("POST", path.encode("ascii", "ignore").decode(), skip_host=False)
            for name, value in {"content-type": kind, "content-length": str(len(body)), **more}.items():
                line.putheader(name, value.encode("latin-1", "ignore"))
            line.endheaders()
            with suppress(BrokenPipeError, ConnectionResetError):  # it was refused before it was read
                line.send(body)
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)


def campaign(long: bool, seed: int = 0) -> Outcome:
    """Send the bodies one by one."""
    n, rng, data = LONG if long else SHORT, random.Random(seed), small_data()
    counts = {"answers 500": 0, "hangs": 0, "answers without a sentence": 0, "wrong answers": 0, "crashes": 0}
    statuses, problems = Counter[int](), list[str]()
    good = (f"/v1/models/{MODELS[0]}/rank", JSON, json.dumps({"rows": data.X[:5].tolist()}).encode(), {})
    with TemporaryDirectory() as name:
        rankers = (
            LinearRegressionRanker().fit(data),
            LambdaMART(rounds=3, min_leaf=2, seed=0).fit(data),
            network(3, [4, 2], NAMES),
        )
        for model, ranker in zip(MODELS, rankers, strict=True):
            ordino.save(ranker, Path(name, f"{model}.ordino"))
        server = Server(Path(name), [Path(name, f"{model}.ordino") for model in MODELS])
        expected = sorted(rankers[0].predict(data.X[:5]).tolist(), reverse=True)
        try:
            for number in range(n):
                request = hostile(rng)
                start = time.monotonic()
                try:
                    status, body = server.ask(*request)
                except (TimeoutError, OSError, http.client.HTTPException) as error:
                    status, body = 0, repr(error).encode()
                statuses[status] += 1
                told = f"body {number}: {request[0][:80]} {request[1]}: {status} {body[:150]!r}"
                if status == 500:
                    counts["answers 500"] += 1
                    problems.append(f"{told} {server.last_failure()}")
                elif status == 0 or time.monotonic() - start > SECONDS:
                    counts["hangs"] += 1
                    problems.append(told)
                elif status != 200 and not is_sentence(body):
                    counts["answers without a sentence"] += 1
                    problems.append(told)
                if number % 50 == 49:
                    status, body = server.ask(*good)
                    if status != 200 or [item["score"] for item in json.loads(body)["items"]] != expected:
                        counts["wrong answers"] += 1
                if server.process.poll() is not None:
                    counts["crashes"] += 1
                    break
            memory = server.megabytes()
        finally:
            server.close()
    counts[f"MB above {MEGABYTES} MB"] = max(0, round(memory - MEGABYTES))
    shown = ", ".join(f"{count:,} x {status}" for status, count in sorted(statuses.items()))
    return Outcome(
        "hostile requests",
        tried=f"{sum(statuses.values()):,} hostile bodies ({shown}); at most {memory:.0f} MB",
        failures=counts,
        problems=problems,
    )


def is_sentence(body: bytes) -> bool:
    """Whether an answer is one of ours, or uvicorn's to what is no HTTP."""
    try:
        return 0 < len(json.loads(body)["error"]) < 1000
    except (ValueError, KeyError, TypeError):
        return body.startswith(b"Invalid HTTP request")


if __name__ == "__main__":
    main(campaign)
