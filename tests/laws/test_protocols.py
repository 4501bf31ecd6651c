"""Law 6: every table and figure of a paper keeps its protocol: settings, profile, folds, pairs, and what it shows.

protocols.json says what each target does. Its plans are compared entry by entry; what it shows is computed from trials
whose values are a hash of dataset, fold, ranker, setting, seed, part and metric, so that a number from the wrong one of
these is another number.
"""

from __future__ import annotations

import json

import pytest

from laws.protocols import QUICKLY, RECORD, SECONDS, of_page, protocol, request_for, write_collections
from ordino.experiment.papers.catalogue import TARGETS

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
ADVICE = "if the paper says so, run `python tests/laws/protocols.py` and keep the difference"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


def test_every_target_is_recorded():
    assert set(RECORDED) == {*TARGETS, *(f"{name}, quick" for name in QUICKLY)}, ADVICE


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_said_to_be_learned_from_is_not_held_out(name, root):
    """A network without a validation part holds out queries by itself, unless it is told not to."""
    for plan in TARGETS[name].plans(request_for(name, root, quick=True)):
        alone = any(folds[0].valid is None for _, folds in plan.collections())
        rankers = [entry.make(entry.params) for entry in plan.entries()] if alone else []
        assert [ranker for ranker in rankers if getattr(ranker, "hold_out", None) is not None] == []


CASES = [
    *(pytest.param(name, False, id=name, marks=pytest.mark.slow if name in SECONDS else ()) for name in TARGETS),
    *(pytest.param(name, True, id=f"{name}, quick") for name in QUICKLY),
]


@pytest.mark.parametrize(("name", "quick"), CASES)
def test_every_target_keeps_its_protocol(name, quick, root, monkeypatch):
    found = json.loads(json.dumps(protocol(name, root, monkeypatch, quick=quick)))
    known = RECORDED[f"{name}, quick" if quick else name]
    assert found["plans"] == known["plans"], ADVICE
    assert list(found["numbers"]) == list(known["numbers"]), ADVICE
    for label, number in found["numbers"].items():
        (paper, *ours), (known_paper, *known_ours) = number, known["numbers"][label]
        assert paper == known_paper, f"{label}: {ADVICE}"
        assert ours == pytest.approx(known_ours, rel=1e-3, abs=1e-5), f"{label}: {ADVICE}"
    beside = ("is_timed", "notes")
    assert {key: found[key] for key in beside} == {key: known[key] for key in beside}, ADVICE


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_shows_and_claims_what_the_paper_does(name):
    """Columns, digits and axes; and which number is said to be better than which, by how much, and how it is tested."""
    assert json.loads(json.dumps(of_page(TARGETS[name].page))) == RECORDED[name]["page"], ADVICE
