"""The command itself: a process that is asked over a socket, killed, and told to stop in the middle of a request."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from ordino.serve.start import PACKAGES
from shell import ordino

BODY = json.dumps({"rows": [[1, 2, 3], [3, 2, 1]]}).encode()


@contextmanager
def running(*words):
    """The command in a process of its own: the process and its address. Its log is a file, which never fills up."""
    program = [sys.executable, "-m", "ordino", "serve", *map(str, words), "--port", "0"]
    with tempfile.NamedTemporaryFile("r") as log:
        process = subprocess.Popen(program, stderr=log.fileno())
        process.log = Path(log.name)
        try:
            end = time.monotonic() + 60
            while not (found := re.search(r"^serving on (\S+)", process.log.read_text(), re.MULTILINE)):
                assert process.poll() is None, process.log.read_text()
                assert time.monotonic() < end
                time.sleep(0.05)
            yield process, found[1]
        finally:
            process.kill()
            process.wait()


def log_of(process):
    """What the service wrote since it began to serve."""
    return process.log.read_text().partition("stop with Ctrl-C\n")[2]


def ask(url, body=None, headers=(), seconds=30):
    request = urllib.request.Request(url, body, {"content-type": "application/json", **dict(headers)})
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return json.load(answer)


def stopped(process, number=signal.SIGTERM):
    process.send_signal(number)
    return process.wait(timeout=30), log_of(process)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_finishes_what_is_under_way(model_files, number):
    with running(model_files["linear"], "--processes", "1") as (process, url):
        host, port = url.removeprefix("http://").split(":")
        assert ask(f"{url}/v1/models/linear/rank", BODY)["items"][0]["rank"] == 1
        with socket.create_connection((host, int(port)), timeout=30) as line:
            head = f"POST /v1/models/linear/rank HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
            line.sendall(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY[:5])
            time.sleep(0.3)
            process.send_signal(number)
            time.sleep(0.3)
            line.sendall(BODY[5:])
            answer = line.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"items":[' in answer
        code, rest = process.wait(timeout=30), log_of(process)
        assert code == 0
        assert "Traceback" not in rest
        assert [json.loads(line)["status"] for line in rest.splitlines()][-1] == 200


@pytest.mark.slow  # a request that waits at the process that is killed is given up after half a minute
def test_several_processes_share_a_port_a_model_and_their_counters(model_files, tmp_path):
    path = tmp_path / "m.ordino"
    shutil.copy(model_files["linear"], path)
    with running(path, "--processes", "2") as (process, url):
        first = ask(f"{url}/v1/models/m/rank", BODY)
        for _ in range(9):
            ask(f"{url}/v1/models/m/rank", BODY)
        with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
            assert 'ordino_documents_total{model="m"} 20' in answer.read().decode()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [int(child) for child in children if is_worker(child)]
        assert len(workers) == 2
        shutil.copy(model_files["net"], path)
        again, end = 0, time.monotonic() + 30
        while again < 20:  # until both have the new one
            assert time.monotonic() < end
            again = again + 1 if ask(f"{url}/v1/models/m/rank", BODY)["version"] != first["version"] else 0
        os.kill(workers[0], signal.SIGKILL)
        for _ in range(20):  # the other one goes on, and a new one comes
            try:
                assert ask(f"{url}/v1/models/m/rank", BODY)["version"] != first["version"]
            except (urllib.error.URLError, ConnectionError, TimeoutError):  # it was with the one that was killed
                time.sleep(0.1)
        code, rest = stopped(process)
        assert code == 0
        assert "Traceback" not in rest
        assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def is_worker(pid):
    return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.slow
def test_processes_end_when_the_first_one_is_killed(model_files):
    with running(model_files["linear"], "--processes", "2") as (process, url):
        ask(f"{url}/live")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [child for child in children if is_worker(child)]
        process.kill()
        end = time.monotonic() + 30
        while any(Path(f"/proc/{worker}").exists() for worker in workers):
            assert time.monotonic() < end
            time.sleep(0.1)


def test_wrong_commands_are_one_sentence(model_files, tmp_path, capsys, monkeypatch):
    model = model_files["linear"]
    assert ordino("serve", model, "--host", "0.0.0.0") == 1
    assert capsys.readouterr().err == "ordino: --host 0.0.0.0 is open to other machines; also give a --token\n"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert ordino("--quiet", "serve", model, "--port", port) == 1
        assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err
    assert ordino("serve", tmp_path / "none.ordino") == 1
    assert "none.ordino: the file cannot be read (No such file" in capsys.readouterr().err
    assert ordino("serve", model, model) == 1
    assert "two models are called 'linear'" in capsys.readouterr().err
    assert ordino("serve") == 2
    capsys.readouterr()
    for package in ("starlette", "uvicorn", *PACKAGES):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            assert ordino("serve", model, "--check") == 1
        printed = capsys.readouterr().err
        assert printed == f"ordino: ordino serve needs {package}; install it with: pip install 'ordino[serve]'\n"


def test_check_loads_the_models_and_stops(model_files, capsys):
    assert ordino("serve", model_files["net"], f"web={model_files['trees']}", "--check") == 0
    printed = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in printed] == ["net", "web"]
