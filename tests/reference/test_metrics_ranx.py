"""ranx beside Ordino on lists without ties: both NDCGs, and the measures of binary relevance, equal to 1e-12.

ranx orders ties by an unstable sort, so lists with ties are left to the other libraries. It compiles for half a minute,
so that a quick run holds us to what it said once (``record_peers.py``), and a slow one asks it again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracles import random_lists
from ordino.metrics import evaluate

NAMES = {
    "standard": {"ndcg@10": "ndcg_burges@10", "p@10": "precision@10", "map": "map", "mrr": "mrr"},
    "trec": {"ndcg@10": "ndcg@10", "map": "map"},
}
LISTS = {name: pair for name, pair in random_lists(60, ties=False).items() if max(pair[0]) > 0}
RECORDED = json.loads(Path(__file__).with_name("peers_values.json").read_text(encoding="utf-8"))


def asked(profile: str) -> dict[str, dict[str, float]]:
    """What ranx says now: by metric the value of each list."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    qrels = {q: {f"d{i}": int(label) for i, label in enumerate(y) if label > 0} for q, (y, _) in LISTS.items()}
    run = ranx.Run({q: {f"d{i}": score for i, score in enumerate(scores)} for q, (_, scores) in LISTS.items()})
    ranx.evaluate(ranx.Qrels(qrels), run, list(NAMES[profile].values()), make_comparable=True)
    return {
        ours: {query: float(value) for query, value in run.scores[theirs].items()}
        for ours, theirs in NAMES[profile].items()
    }


def check(profile: str, theirs: dict[str, dict[str, float]]) -> None:
    y = [label for labels, _ in LISTS.values() for label in labels]
    scores = [score for _, values in LISTS.values() for score in values]
    qid = [q for q, (labels, _) in LISTS.items() for _ in labels]
    found = evaluate(y, scores, qid=qid, metrics=list(NAMES[profile]), profile=profile)
    assert set(theirs) == set(NAMES[profile])
    for metric, values in theirs.items():
        ours = dict(zip(found.query_ids.tolist(), found.per_query[metric].tolist(), strict=True))
        assert ours == pytest.approx(values, rel=0, abs=1e-12), metric


@pytest.mark.parametrize("profile", NAMES)
def test_what_ranx_said(profile: str) -> None:
    check(profile, RECORDED["ranx"][profile])


@pytest.mark.slow
@pytest.mark.parametrize("profile", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_ranx(profile: str) -> None:
    check(profile, asked(profile))
