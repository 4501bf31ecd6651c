"""What is left out of a run is told; in CI, what is left out for a reason that nobody expects fails it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNEXPECTED = "pytest.skip('there is no such program')"
EXPECTED = "pytest.skip('ORDINO_DATA names no folder with MQ2008')"
ABSENT = "pytest.importorskip('no_such_package')"
NOT_THERE = "1 x could not import 'no_such_package': No module named 'no_such_package'"
MARK = "<- unexpected: install it, or explain it in tests/conftest.py"


@pytest.mark.parametrize(
    ("body", "environment", "ends", "lines"),
    [
        (UNEXPECTED, {"CI": "true"}, 1, [f"1 x there is no such program  {MARK}"]),
        (UNEXPECTED, {}, 0, [f"1 x there is no such program  {MARK}"]),
        (EXPECTED, {"CI": "true"}, 0, ["1 x ORDINO_DATA names no folder with MQ2008"]),
        (ABSENT, {"CI": "true"}, 1, [f"{NOT_THERE}  {MARK}"]),
        (ABSENT, {"CI": "true", "ORDINO_WITHOUT": "torch no_such_package"}, 0, [NOT_THERE]),
        ("pass", {"CI": "true"}, 0, []),
    ],
)  # fmt: skip
def test_what_is_left_out_is_told_and_fails_ci_unless_it_is_expected(body, environment, ends, lines, tmp_path):
    (tmp_path / "test_one.py").write_text(f"import pytest\n\ndef test_one():\n    {body}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    known = {
        name: value for name, value in os.environ.items() if name not in ("CI", "ORDINO_WITHOUT", "PYTEST_ADDOPTS")
    }
    home = str(Path(__file__).parent)
    paths = os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-p", "no:schemathesis", "."],
        cwd=tmp_path, env=known | {"PYTHONPATH": paths} | environment, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == ends, run.stdout + run.stderr
    told = [line for line in run.stdout.splitlines() if " x " in line]
    assert told == lines
