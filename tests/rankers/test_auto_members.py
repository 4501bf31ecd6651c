"""AutoRanker is never clearly worse than the best of its members alone; the benchmark has larger sets."""

import importlib
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
QUICK = ("like MQ2007", "few queries", "sparse relevance", "noisy labels", "5 features", "5 documents a query")


@pytest.mark.slow
@pytest.mark.parametrize("shape", QUICK)
def test_the_whole_is_not_worse_than_its_best_member_by_more_than_a_standard_error(shape, monkeypatch):
    monkeypatch.syspath_prepend(HOME / "benchmarks")
    script = importlib.import_module("quality_members")
    found = script.measured(*script.parts(shape))
    assert found["gain"] >= -found["error"], found
