"""What the package shows at its surface: names, import cost, help."""

import os
import resource
import subprocess
import sys

import pytest

import ordino
from ordino import rankers

HEAVY = {"torch", "lightgbm", "pyarrow", "altair", "ray", "fastapi", "sklearn", "numba", "pandas", "polars"}


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "code",
    [
        "import ordino",
        "import contextlib, io\nfrom ordino.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main(['--help'])",
    ],
    ids=["import ordino", "ordino --help"],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code):
    loaded = run_python(f"{code}\nimport sys; print(*sys.modules)").split()
    assert HEAVY.isdisjoint(loaded)


def test_measuring_does_not_load_the_linear_algebra_that_numba_looks_for():
    loaded = run_python(
        "import sys\nimport ordino\n"
        "ordino.evaluate([1, 0], [2.0, 1.0], qid=[1, 1], metrics=['map'])\n"
        "print(*(name for name in sys.modules if name.startswith('scipy.linalg')))"
    )
    assert loaded.split() == []


def test_compiled_code_still_multiplies_matrices():
    product = run_python(
        "import numpy as np\nfrom ordino.compiled import njit\nprint(njit()(lambda a: a @ a)(np.array([[2.0]]))[0, 0])"
    )
    assert float(product) == 4.0


@pytest.mark.parametrize(("arguments", "limit"), [(["-c", "import ordino"], 0.4), (["-m", "ordino", "--help"], 0.6)])
def test_start_is_quick(arguments, limit):
    """Processor time, so that what else the machine does has no say; nor has a coverage run."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(times) < limit


def test_every_public_name_can_be_had():
    assert sorted(ordino.__all__) == list(ordino.__all__)
    for name in ordino.__all__:
        assert getattr(ordino, name) is not None
        assert name in dir(ordino)


def test_every_public_name_has_a_docstring():
    for name in ordino.__all__:
        assert getattr(ordino, name).__doc__, f"{name} has no docstring"


def test_every_ranker_is_public():
    assert {entry.cls for entry in rankers.RANKERS.values()} <= set(ordino.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'ordino' has no attribute 'RankMagic'"):
        ordino.RankMagic  # noqa: B018
