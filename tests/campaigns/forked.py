"""Tests run in a fork of a process that has loaded what is slow to load and does not change: the libraries.

A run of a few tests then takes as long as the tests themselves, and not ten seconds more.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    "hypothesis", "lightgbm", "numba", "numpy", "pandas", "polars", "pyarrow.csv", "pyarrow.parquet", "pytest",
    "rich.console", "safetensors.numpy", "scipy.linalg", "scipy.stats", "sklearn.model_selection",
    "sklearn.utils.estimator_checks", "starlette.testclient", "torch", "typer",
)  # fmt: skip
TOO_LONG = "they take too long"
NO_TESTS = 5  # what pytest ends with where a file has none, as one without doctests


def load_libraries() -> None:
    """Import what every fork would else import by itself; what is not installed is left out."""
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)


class _First:
    """Remembers the first test that fails, or the file that cannot be collected."""

    def __init__(self) -> None:
        self.found = ""

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.found:
            self.found = report.nodeid

    def pytest_collectreport(self, report):
        if report.failed and not self.found:
            self.found = report.nodeid


def first_failure(tests: Sequence[str | tuple[str, ...]], root: Path, source: Path, seconds: float) -> str:
    """The name of the first of these tests that fails with the package in ``source``; empty if all pass.

    Each is a file or a folder, perhaps with " -k " and what chooses among its tests, or the names of several tests.
    Tests that take longer than ``seconds`` count as failed: a mistake that never ends is noticed.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that threads are not copied, which nobody waits for
        child = os.fork()
    if child == 0:
        os.close(reading)
        os.setpgid(0, 0)  # servers and workers that tests start end with it
        _run(tests, root, source, writing)
    os.close(writing)
    deadline = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(child, 9)
            os.waitpid(child, 0)
            os.close(reading)
            return TOO_LONG
        time.sleep(0.02)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        told = pipe.read()
    return json.loads(told) if told else "the process of the tests died"


def _run(tests: Sequence[str | tuple[str, ...]], root: Path, source: Path, writing: int) -> None:
    """In the fork: run the tests and write the first failure's name as JSON."""
    import pytest

    told = ""
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.chdir(root)
        os.environ |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(source))
        first = _First()
        place = ["-c", str(root / "pyproject.toml"), "--rootdir", str(root)]
        quickly = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        again = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are loaded already
        for one in tests:  # by itself, so that what comes later is not even collected
            path, _, chosen = one.partition(" -k ") if isinstance(one, str) else ("", "", "")
            words = [path, *(["-k", chosen] if chosen else [])] if isinstance(one, str) else one
            code = pytest.main([*place, *quickly, *again, *words], plugins=[first])
            told = first.found or ("" if code in (0, NO_TESTS) else f"pytest ended with {int(code)}")
            if told:
                break
    except BaseException as error:
        told = f"pytest could not run: {error!r}"
    finally:
        try:
            os.write(writing, json.dumps(told).encode())
        finally:  # whoever asked may be gone; a fork never goes on with his work
            os._exit(0)
