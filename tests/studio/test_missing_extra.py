"""Without a package of its extra, the studio says in one sentence what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = [re.split(r"[<>=]", one)[0] for one in PROJECT["optional-dependencies"]["studio"]]


@pytest.mark.parametrize("package", PACKAGES)
def test_one_sentence_says_what_to_install(package, tmp_path):
    """In a process of its own, in which nobody has imported it before."""
    lines = ["import sys", f"sys.modules[{package!r}] = None", "from ordino.cli import main"]
    code = "\n".join([*lines, "main(['studio', 'bench.sqlite', '--check'])"])
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    told = f"ordino: ordino studio needs {package}; install it with: pip install 'ordino[studio]'\n"
    assert (run.returncode, run.stdout, run.stderr) == (1, "", told)
