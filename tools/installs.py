"""Wheel and sdist in empty environments, without extras and with all: README's example runs, sizes and seconds.

``python tools/installs.py`` writes the table of docs/installing.md. Seconds depend on the network and on what pip has
in its cache, so they are told with the date; sizes do not.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time
import venv
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

HOME = Path(__file__).parents[1]
PAGE = HOME / "docs" / "installing.md"
MARKS = ("<!-- sizes -->", "<!-- end of sizes -->")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "ORDINO"))}
MISSING = {  # what is tried without extras: every one is answered in a sentence with its `pip install` line
    "search": "import ordino; from ordino.experiment.plan import Plan; Plan(data={'d': ordino.testing.easy_data()}, "
    "rankers=[{'ranker': 'ranknet', 'trials': 2}]).check()",
    "torch": "import ordino; ordino.TorchRanker(module=lambda n: None).fit(ordino.testing.easy_data())",
    "pandas": "import ordino; ordino.testing.easy_data().to_frame()",
    "polars": "import ordino; ordino.testing.easy_data().to_frame('polars')",
    "peers": "from ordino.rankers import ranker_class; ranker_class('xgboost')",
}


class Installed(NamedTuple):
    """An environment with Ordino in it."""

    python: Path
    what: str
    seconds: float
    megabytes: float


def build(folder: Path) -> tuple[Path, Path]:
    """Wheel and sdist of the tree."""
    words = [sys.executable, "-m", "build", "--outdir", str(folder), str(HOME)]
    if subprocess.run(words, capture_output=True, env=CLEAN).returncode:
        subprocess.run(words, check=True, env=CLEAN)  # again, to be read
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def install(package: Path, home: Path, *, extras: str) -> Installed:
    """A new environment with a package and nothing else; torch comes through constraints.txt."""
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    empty = _size(home)
    start = time.perf_counter()
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*words, "-c", str(HOME / "constraints.txt"), f"{package}{extras}"], check=True, env=CLEAN)
    kind = "wheel" if package.suffix == ".whl" else "sdist"
    what = f"{kind}, {'all extras' if extras else 'no extras'}"
    return Installed(python, what, time.perf_counter() - start, (_size(home) - empty) / 1e6)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def smoke(found: Installed, *, expect: str | None = None) -> dict[str, float]:
    """Processor seconds of ``ordino --help`` and of README's example, the first time and again; both must work."""
    command = str(found.python.with_name("ordino"))
    with TemporaryDirectory() as empty:

        def seconds(*words: str) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(words, check=True, cwd=empty, env=CLEAN, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        printed = subprocess.run(
            [command, "--version"], check=True, cwd=empty, env=CLEAN, capture_output=True, text=True
        )
        if expect is not None and printed.stdout.split()[:2] != ["ordino", expect]:
            sys.exit(f"the installed package says {printed.stdout.splitlines()[0]!r} and not ordino {expect}")
        example = str(found.python), "-c", readme_example()
        times = {"help": seconds(command, "--help"), "first": seconds(*example), "again": seconds(*example)}
    print(
        f"{found.what}: {found.megabytes:.0f} MB; "
        + ", ".join(f"{name} {value:.1f} s" for name, value in times.items())
    )
    return times


def readme_example() -> str:
    """The first program of README, without its prompts."""
    block = re.search(r"```python\n(.*?)```", (HOME / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    return "\n".join(line[4:] for line in block[1].splitlines() if line.startswith((">>> ", "... ")))


def missing_extras(found: Installed) -> None:
    """Without extras, whatever needs one says in a sentence how to install it."""
    for extra, program in MISSING.items():
        told = subprocess.run([str(found.python), "-c", program], env=CLEAN, capture_output=True, text=True).stderr
        last = told.strip().splitlines()[-1] if told.strip() else "nothing"
        if f"pip install 'ordino[{extra}]'" not in told:
            sys.exit(f"without the extra {extra}: {last}")
    print(f"without extras: {len(MISSING)} of {len(MISSING)} say what to install")


def table(rows: list[tuple[Installed, dict[str, float]]], wheel: Path, source: Path) -> str:
    """The rows of the page."""
    own = f"The wheel has {wheel.stat().st_size / 1e6:.2f} MB, the sdist {source.stat().st_size / 1e6:.2f} MB."
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    lines = [
        f"{own} Measured on {datetime.now(UTC):%Y-%m-%d} with {python} by `make installs`;",
        "seconds of installing depend on the network and on pip's cache, the others are of the processor.",
        "",
        "| installed from | all it needs, MB | installing, s | `ordino --help`, s | README's example, s | again, s |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {found.what} | {found.megabytes:.0f} | {found.seconds:.0f} | {times['help']:.1f} | {times['first']:.1f} "
        f"| {times['again']:.1f} |"
        for found, times in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Build, install in every way, try, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain", action="store_true", help="without extras only; the page stays as it is")
    plain = parser.parse_args().plain
    with TemporaryDirectory(prefix="ordino-installs-") as folder:
        wheel, source = build(Path(folder))
        rows = []
        for number, (package, extras) in enumerate((one, two) for two in ("", "[all]") for one in (wheel, source)):
            if extras and plain:
                continue
            found = install(package, Path(folder) / str(number), extras=extras)
            rows.append((found, smoke(found)))
            if not extras and package is wheel:
                missing_extras(found)
        if not plain:
            before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
            after = rest.partition(MARKS[1])[2]
            text = f"{before}{MARKS[0]}\n{table(rows, wheel, source)}\n{MARKS[1]}{after}"
            PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
