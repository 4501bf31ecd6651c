"""The pages' own scripts without a browser: they run in Node, on as much of a document as they use (``dom.mjs``).

What a page looks like is for the tests in a real browser; here is what each script writes, sends and opens. The cases
stand in ``scripts.toml``, by script.
"""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import ordino

HERE = Path(__file__).parent
SOURCE = Path(ordino.__file__).parent
SCRIPTS = {path.stem: path for path in (*SOURCE.glob("pages/static/*.js"), *SOURCE.glob("serve/page/*.js"))}
FOREIGN = {"htmx.min", "vega.min", "vega-lite.min", "vega-interpreter.min"}
GIVEN = tomllib.loads((HERE / "scripts.toml").read_text("utf-8"))
PAGES = GIVEN.pop("pages")
CASES = {f"{script}: {case['name']}": (script, case) for script, cases in GIVEN.items() for case in cases}
SHOWN = {"A": [0.9, 0.5, None, 0.2, 0.1], "B": [0.5, 0.5, 0.3, 0.3, 0.9]}
"""Two rankers of the report, query by query."""
MODELS = [
    {"name": "one", "ranker": "RankSVM", "features": ["bm25", "age"], "version": "1a"},
    {"name": "two", "ranker": "RankNet", "features": ["f1"], "version": "2b"},
]
REASONS = [{"feature": "bm25", "adds": 0.25}, {"feature": "age", "adds": -1}]
ITEMS = [{"rank": 1, "id": "b", "score": 0.5, "why": {"reasons": REASONS}}, {"rank": 2, "id": "a", "score": 0.25}]
ANSWERS = {
    "v1/models": {"value": {"models": MODELS}},
    "v1/models/one/rank?explain=false": {"value": {"items": ITEMS, "took": 1.5, "version": "1a"}},
    "v1/models/two/rank?explain=true": {"status": 400, "value": {"error": "unknown feature"}},
}
"""What the server says."""


def test_every_script_of_ours_is_run():
    assert set(GIVEN) == set(SCRIPTS) - FOREIGN


@pytest.fixture(scope="module")
def found():
    """What came of every case, from one process."""
    if shutil.which("node") is None:
        pytest.skip("there is no node to run the pages' scripts in; install it with: apt install nodejs")
    asked = []
    for script, case in CASES.values():
        values = json.dumps({"sign": case.get("sign", 1), "columns": SHOWN})
        answers = json.loads(case["answers"]) if "answers" in case else ANSWERS
        html = PAGES[case["page"]].replace("VALUES", values)
        asked.append({"script": str(SCRIPTS[script]), "html": html, "does": case["does"], "answers": answers})
    made = subprocess.run(
        ["node", str(HERE / "scripts.mjs")],
        input=json.dumps(asked), capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return dict(zip(CASES, json.loads(made.stdout), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_a_script_does_what_its_page_says(found, case):
    assert found[case] == json.loads(CASES[case][1]["gives"])
