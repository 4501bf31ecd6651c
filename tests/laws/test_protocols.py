"""Law 6: every table and figure of a paper keeps its protocol: settings, profile, folds, pairs, and what it shows.

protocols.json says what each target does. Its plans are compared entry by entry; what it shows is computed from trials
whose values are a hash of dataset, fold, ranker, setting, seed, part and metric, so that a number from the wrong one of
these is another number.
"""

from __future__ import annotations

import json

import pytest

from laws.protocols import RECORD, protocol, write_collections
from ordino.experiment.papers.catalogue import TARGETS

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
ADVICE = "if the paper says so, run `python tests/laws/protocols.py` and keep the difference"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


def test_every_target_is_recorded():
    assert set(RECORDED) == set(TARGETS), ADVICE


SECONDS = {"directranker.grid", "sortnet.incremental", "deepnet.table3.1.td", "deepnet.fig4.3", "deepnet.section4.2.2"}
"""Targets with so many settings that even without training they take seconds."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SECONDS else name for name in TARGETS]
)
def test_every_target_keeps_its_protocol(name, root, monkeypatch):
    found, known = json.loads(json.dumps(protocol(name, root, monkeypatch))), RECORDED[name]
    assert found["plans"] == known["plans"], ADVICE
    assert list(found["numbers"]) == list(known["numbers"]), ADVICE
    for label, number in found["numbers"].items():
        (paper, *ours), (known_paper, *known_ours) = number, known["numbers"][label]
        assert paper == known_paper, f"{label}: {ADVICE}"
        assert ours == pytest.approx(known_ours, rel=1e-3, abs=1e-5), f"{label}: {ADVICE}"
    assert {key: found[key] for key in ("is_timed", "of", "spread")} == {
        key: known[key] for key in ("is_timed", "of", "spread")
    }, ADVICE
