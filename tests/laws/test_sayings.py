"""What reports say and draw of a board stands word for word, and number for number, in sayings.json."""

from __future__ import annotations

import json

import pytest

from laws.commands import NUMBER
from laws.sayings import CASES, RECORD, saying

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
ADVICE = "if that is what it should say, run `python tests/laws/sayings.py` and keep the difference"


def test_every_saying_is_recorded():
    assert list(RECORDED) == CASES, ADVICE


@pytest.mark.parametrize("case", CASES)
def test_reports_say_what_they_should(case):
    parts, known = NUMBER.split(saying(case)), NUMBER.split(RECORDED[case])
    assert parts[::2] == known[::2], ADVICE
    assert [*map(float, parts[1::2])] == pytest.approx([*map(float, known[1::2])], rel=1e-6, abs=1e-9), ADVICE
