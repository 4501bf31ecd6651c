"""The tests on every Python that is there, with the newest and with the lowest versions that pyproject promises.

``make test-all`` runs all sessions one after another. ``make smoke`` runs a few tests on every Python but the first, to
show that it works there; all tests run on the first anyway. A Python that is not there is left out, and told.
Torch is installed only where constraints.txt's build exists without CUDA; its tests are skipped elsewhere.
"""

import os
import re
import sys
import tomllib
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13")
WITH_TORCH = "3.11"
NO_TESTS = {
    "mypy",
    "import-linter",
    "pandas-stubs",
    "nox",
    "build",
    "twine",
}  # tools of developing, not of testing
SMOKE = ("README.md", "tests/test_surface.py", "tests/test_given.py", "tests/rankers/test_missing.py")
NO_SITE = ("--ignore=docs/hooks", "--ignore=tests/docs/test_site.py")
"""The site is built on one Python alone, with what the extra ``docs`` asks for."""
MADE_WITH = {"typer": ("click==8.1.8",), "starlette": ("httpx==0.28.1", "anyio==4.10.0"), "scikit-learn": ("pytest<9",)}
"""What the lowest versions of some packages were made with: they put no upper limit on it."""

PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
os.environ["PATH"] = os.pathsep.join(
    [*(str(PYENV.joinpath("versions", one.name, "bin")) for one in PYENV.glob("versions/3.*")), os.environ["PATH"]]
)  # before pyenv's own words for its Pythons, which fail where none was chosen
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True
PROJECT = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text(encoding="utf-8"))["project"]


def needs_of(extra: str, *, left_out: tuple[str, ...] = ()) -> list[str]:
    """The requirements of an extra, with those of the extras that it names, but some."""
    found: dict[str, None] = {}
    for one in PROJECT["optional-dependencies"][extra]:
        inner = re.fullmatch(r"ordino\[(.+)\]", one)
        if inner is None:
            found[one] = None
        else:
            for name in inner[1].split(","):
                if name not in left_out:
                    found |= dict.fromkeys(needs_of(name, left_out=left_out))
    return [one for one in found if _name(one) not in NO_TESTS]


def lowest(requirements: list[str], python: str) -> list[str]:
    """The lowest version that each requirement promises for a Python, as pins."""
    pins: dict[str, str] = {}
    for one in requirements:
        promise, _, marker = one.partition(";")
        limit = re.search(r">=\s*([\w.]+)", promise)
        if limit is None or not _applies(marker, python):
            continue
        name = _name(promise)
        pins[name] = max(pins.get(name, "0"), limit[1], key=lambda text: [int(part) for part in text.split(".")])
    beside = [one for name, some in MADE_WITH.items() if name in pins for one in some]
    return [f"{name}=={version}" for name, version in pins.items()] + beside


def _name(requirement: str) -> str:
    return re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]


def _applies(marker: str, python: str) -> bool:
    """Whether a marker on python_version, the only kind that we use, holds."""
    found = re.search(r"python_version\s*(>=|<)\s*['\"]([\d.]+)['\"]", marker)
    if found is None:
        return True
    ours, theirs = (tuple(map(int, text.split("."))) for text in (python, found[2]))
    return (ours >= theirs) == (found[1] == ">=")


def has_torch(python: str, versions: str) -> bool:
    """Whether an environment has torch, of which constraints.txt names one build."""
    return python == WITH_TORCH and versions == "newest"


def install(session: nox.Session, versions: str) -> None:
    """Ordino with what its tests need."""
    python = str(session.python)
    extras = needs_of("dev", left_out=("docs",) if has_torch(python, versions) else ("docs", "torch"))
    if versions == "newest":
        session.install("-c", "constraints.txt", "-e", ".", *extras)
        return
    tests = needs_of("dev", left_out=("docs", "torch", "all", "peers"))  # pytest and its like may be new
    peers = needs_of("peers")
    promised = [one for one in needs_of("all", left_out=("torch",)) if _name(one) not in map(_name, tests)]
    session.install("-e", ".", *lowest([*PROJECT["dependencies"], *promised], python), *tests, *peers)


@nox.session(python=PYTHONS)
@nox.parametrize("versions", ["newest", "lowest"])
def tests(session: nox.Session, versions: str) -> None:
    """The default tests; more words go to pytest."""
    install(session, versions)
    # tests/conftest.py expects what is skipped without these
    without = ["allrank"] if has_torch(str(session.python), versions) else ["allrank", "torch"]
    words = ("-n", "auto", "--dist", "worksteal", *NO_SITE, *session.posargs)
    session.run("pytest", *words, env={"ORDINO_WITHOUT": " ".join(without)})


@nox.session(python=PYTHONS[1:])
def smoke(session: nox.Session) -> None:
    """A few tests, with what every user has and pandas."""
    session.install("-e", ".[pandas]", *(one for one in needs_of("dev") if _name(one) in ("pytest", "hypothesis")))
    session.run("pytest", "-q", *SMOKE, *session.posargs)


if __name__ == "__main__":  # what would be installed, for those who wonder
    for python in PYTHONS:
        sys.stdout.write(f"{python}: {' '.join(lowest([*PROJECT['dependencies'], *needs_of('all')], python))}\n")
