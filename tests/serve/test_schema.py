"""schemathesis over the OpenAPI document: what it allows is accepted, what it does not allow is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_process import running

HERE = Path(__file__).parent


@pytest.mark.slow
def test_schemathesis_finds_nothing(model_files, tmp_path):
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    with running(model_files["linear"], "--processes", "1") as (_, url):
        words = [str(Path(sys.executable).with_name("st")), "--config-file", str(HERE / "schemathesis.toml"), "run"]
        words += [f"{url}/openapi.json", "--max-examples", "50", "--seed", "1", "--no-color"]
        words += ["--phases", "examples,coverage,fuzzing"]
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": path}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"No issues found|\d+ generated, \d+ passed", done.stdout)
