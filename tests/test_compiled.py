"""The door to numba: where compiled code is kept, what is said, and that a template is found in the cache again."""

from __future__ import annotations

import ast
import gc
import os
import pty
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event, types
from numba.core.errors import TypingError

import ordino
from ordino import compiled
from ordino.compiled import INNER, OUTER, REORDERED, njit

SOURCE = Path(ordino.__file__).parent
MEASURE = """
from ordino.metrics import evaluate
print(evaluate([1, 0], [2.0, 1.0], metrics=["map"])["map"])
"""


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """That of a process which imports Ordino from ``folder`` and can write none of numba's usual places."""
    nowhere = "/proc/nothing-can-be-made-here"
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return own | {"PYTHONPATH": str(folder), "HOME": nowhere, "XDG_CACHE_HOME": nowhere} | changes


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside whose sources nothing can be cached: a file stands where the folder would."""
    folder = tmp_path_factory.mktemp("read_only")
    shutil.copytree(SOURCE, folder / "ordino", ignore=shutil.ignore_patterns("__pycache__"))
    for package in [folder / "ordino", *(path for path in (folder / "ordino").rglob("*") if path.is_dir())]:
        (package / "__pycache__").touch()
    return folder


def test_where_no_cache_can_be_written_a_folder_of_ones_own_is_used(read_only: Path, tmp_path: Path) -> None:
    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", MEASURE],
            env=environment(read_only, TMPDIR=str(tmp_path)),
            capture_output=True,
            text=True,
            check=True,
        )

    assert run().stdout == "1.0\n"
    [folder] = tmp_path.glob("ordino-compiled-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}
    assert kept
    assert run().stdout == "1.0\n"
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")} == kept  # loaded, not compiled again


def test_a_folder_that_others_can_write_is_not_trusted(read_only: Path, tmp_path: Path) -> None:
    folder = tmp_path / f"ordino-compiled-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE],
        env=environment(read_only, TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "1.0\n"
    assert ran.stderr.count("no cache folder is writable, so every run compiles anew") == 1
    assert not list(folder.iterdir())


@pytest.mark.parametrize("is_terminal", [True, False])
def test_who_waits_at_a_terminal_is_told_once(is_terminal: bool, tmp_path: Path) -> None:
    code = "import ordino.compiled as c; c.WORTH_A_WORD = 0.0\n" + MEASURE
    master, slave = pty.openpty() if is_terminal else os.pipe()
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=slave,
        check=True,
    )
    os.close(slave)
    try:
        told = os.read(master, 10_000).decode()
    except OSError:  # nothing was written to the terminal
        told = ""
    os.close(master)
    assert ran.stdout == b"1.0\n"
    sentence = "ordino: compiling its kernels, once; later runs load them from the cache"
    assert told.count(sentence) == (1 if is_terminal else 0)


@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_off_while_a_kernel_compiles(was_on: bool) -> None:
    during = []

    class Watch(event.Listener):
        def on_start(self, _: Any) -> None:
            during.append(gc.isenabled())

        def on_end(self, _: Any) -> None:
            pass

    kernel = njit()(lambda x: x + 1)
    with event.install_listener("numba:compile", Watch()):
        try:
            gc.enable() if was_on else gc.disable()
            assert kernel(1) == 2
            assert gc.isenabled() == was_on
            with pytest.raises(TypingError):
                kernel("1")
            assert gc.isenabled() == was_on
        finally:
            gc.enable()
    assert during == [False, False]


def test_numba_is_asked_once_what_an_operator_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    remembered, left = compiled._compiling.remembered, types.Function.get_call_type
    ask = remembered.ask

    def counted(function: Any, context: Any, args: Any, kws: Any) -> Any:
        asked.append((function, args))
        return ask(function, context, args, kws)

    def formula(a: float, b: float) -> float:
        return a * b + a * b * (a * b)

    monkeypatch.setattr(remembered, "ask", counted)
    assert njit()(formula)(2.0, 3.0) == 42  # somebody else's function
    assert not asked
    formula.__module__ = "ordino.formulas"
    assert njit()(formula)(2.0, 3.0) == 42
    assert asked
    assert len(set(asked)) == len(asked)
    assert types.Function.get_call_type is counted
    monkeypatch.undo()
    assert njit()(formula)(2.0, 3.0) == 42
    assert types.Function.get_call_type is left
    assert not remembered.known


@pytest.mark.slow
def test_a_parallel_kernel_of_somebody_else_compiles() -> None:
    double = numba.njit(parallel=True)(lambda values: np.zeros(len(values)) + 2 * values)
    assert double(np.ones(3)).tolist() == [2, 2, 2]


def test_a_kernel_made_of_a_template_is_found_in_the_cache_again(tmp_path: Path) -> None:
    code = """
import numpy as np
from ordino.losses.pair_kernels import FIDELITY
FIDELITY.values(np.zeros(2), np.ones(2), np.zeros(2), np.zeros(2))
print(sum(FIDELITY.values.stats.cache_hits.values()))
"""
    own = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]


def test_a_function_rounds_as_it_says_and_not_as_its_caller_does() -> None:
    """Or else what it gives would depend on the kernel that is compiled first, and on what lies in the cache."""

    @njit(**INNER)
    def slope(h: float) -> float:
        return 1.0 - h * h

    @njit(**REORDERED)
    def caller(h: float) -> float:
        return slope(h)

    kernel = njit(**{**OUTER, "cache": False, "fastmath": {"reassoc", "contract"}})(lambda h: caller(h))
    assert kernel(0.5) == 0.75
    (code,) = slope.inspect_llvm().values()
    assert re.search(r"fmul double", code)
    assert "contract" not in code
    assert "reassoc" not in code


def test_no_other_file_compiles() -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.name != "compiled.py"]
    told = [
        path.name for path in others if re.search(r"numba[\w. ]*import.*jit|numba\.\w*jit", path.read_text("utf-8"))
    ]
    assert told == []


MAKING_ARRAYS = {"empty", "zeros", "ones", "full", "arange", "copy", "empty_like", "zeros_like", "ones_like"}


def test_a_function_that_makes_arrays_says_so() -> None:
    """Without ALLOCATING it would not compile, which shows only where it is called."""
    silent = []
    for path in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                options = " ".join(ast.unparse(decorator) for decorator in function.decorator_list)
                calls = [call.func for call in ast.walk(function) if isinstance(call, ast.Call)]
                made = {call.attr for call in calls if isinstance(call, ast.Attribute)} & MAKING_ARRAYS
                if "njit" in options and "ALLOCATING" not in options and made:
                    silent.append(f"{path.name}: {function.name}")
    assert not silent
