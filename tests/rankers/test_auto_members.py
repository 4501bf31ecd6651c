"""AutoRanker is never clearly worse than the best of its members alone: on smaller sets than in the benchmark."""

import importlib
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
SHAPES = (
    "like MQ2007", "like MSLR", "like TD2003", "few queries", "many documents", "sparse relevance", "noisy labels",
    "5 features", "700 features", "5 documents a query",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_whole_is_not_worse_than_its_best_member_by_more_than_a_standard_error(shape, monkeypatch):
    monkeypatch.syspath_prepend(HOME / "benchmarks")
    script = importlib.import_module("quality_members")
    assert set(SHAPES) == set(script.SHAPES)
    found = script.measured(*script.parts(shape, smaller=4))
    assert found["gain"] >= -found["error"], found
