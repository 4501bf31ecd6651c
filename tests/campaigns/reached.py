"""Which tests reach a line of the source, as measured: a mistake in a line can only be noticed by these.

``python tests/campaigns/reached.py`` runs the default tests once, with coverage test by test and the time of each, and
keeps both in ``.reached``, which is not committed; campaigns that find it choose tests by it. What runs only while
modules are imported, in other processes, or compiled counts as reached by nobody.
"""

import ast
import json
import os
import sqlite3
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".reached"
HOURS = 3600.0


def measure(folder: Path = KEPT) -> None:
    """Run the default tests, and keep who reached what."""
    folder.mkdir(exist_ok=True)
    environment = os.environ | {"COVERAGE_FILE": str(folder / "coverage"), "TIMED": str(folder / "seconds.json")}
    stamps = {path.relative_to(ROOT).as_posix(): _stamp(path) for path in sorted((ROOT / "src").rglob("*.py"))}
    (folder / "stamps.json").write_text(json.dumps(stamps), encoding="utf-8")
    spread = ["-n", "auto", "--dist", "worksteal", "-p", "campaigns.timed"]
    by_test = ["--cov", "--cov-context=test", "--cov-report="]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *spread, *by_test], cwd=ROOT, env=environment, check=False)


def _stamp(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@cache
def _read(name: str, folder: Path) -> dict:
    path = folder / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def reaching(path: Path, line: int, folder: Path = KEPT) -> dict[str, float]:
    """The tests that reach the statement of a line, with their seconds; of its function or file if nobody reaches that.

    Empty if nothing is known of the file as it is now.
    """
    inside = path.relative_to(ROOT).as_posix()
    if _read("stamps.json", folder).get(inside) != _stamp(path):
        return {}
    by_line = _tests_by_line(path, folder)
    seconds = _read("seconds.json", folder)
    for first, last in _places(path, line):
        found = {name for number in range(first, last + 1) for name in by_line.get(number, ())}
        if found:
            return {name: seconds.get(name, HOURS) for name in found}
    return {}


@cache
def _tests_by_line(path: Path, folder: Path) -> dict[int, set[str]]:
    """The tests that reach each line; what a fixture reaches, all tests of its file reach."""
    by_line: dict[int, set[str]] = {}
    with sqlite3.connect(f"file:{folder / 'coverage'}?mode=ro", uri=True) as data:
        rows = data.execute(
            "select distinct context, abs(tono) from arc join context on context.id = context_id "
            "join file on file.id = file_id where file.path like ?",
            (f"%/{path.relative_to(ROOT).as_posix()}",),
        )
        for context, line in rows:
            name, _, phase = context.rpartition("|")
            if name:
                by_line.setdefault(line, set()).update({name}, _beside(name, folder) if phase == "setup" else ())
    return by_line


@cache
def _beside(name: str, folder: Path) -> frozenset[str]:
    """The tests of the same file."""
    file = name.partition("::")[0]
    return frozenset(one for one in _read("seconds.json", folder) if one.partition("::")[0] == file)


def _places(path: Path, line: int) -> list[tuple[int, int]]:
    """Ranges of lines around a line, from its statement to the whole file."""
    source = path.read_text(encoding="utf-8")
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = body[1].lineno if len(body) > 1 and isinstance(body[0], ast.Expr) else body[0].lineno
                found.append((first, node.end_lineno))
            elif not body or line < body[0].lineno:
                found.append((node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno))
    return [*sorted(found, key=lambda place: place[1] - place[0]), (1, source.count("\n") + 1)]


if __name__ == "__main__":
    measure()
