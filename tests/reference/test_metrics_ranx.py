"""ranx beside Ordino on lists without ties: both NDCGs, and the measures of binary relevance, equal to 1e-12.

ranx orders ties by an unstable sort, so lists with ties are left to the other libraries.
"""

from __future__ import annotations

import pytest

from oracles import random_lists
from ordino.metrics import evaluate

NAMES = {  # ranx compiles each of its functions for seconds, so every function stands here once
    "standard": {"ndcg@10": "ndcg_burges@10", "p@10": "precision@10", "map": "map", "mrr": "mrr"},
    "trec": {"ndcg@10": "ndcg@10", "map": "map"},
}
LISTS = {name: pair for name, pair in random_lists(60, ties=False).items() if max(pair[0]) > 0}


@pytest.mark.parametrize("profile", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_ranx(profile: str) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    qrels = {q: {f"d{i}": int(label) for i, label in enumerate(y) if label > 0} for q, (y, _) in LISTS.items()}
    runs = {q: {f"d{i}": score for i, score in enumerate(scores)} for q, (_, scores) in LISTS.items()}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(runs), list(NAMES[profile].values()), make_comparable=True)
    y = [label for labels, _ in LISTS.values() for label in labels]
    scores = [score for _, values in LISTS.values() for score in values]
    qid = [q for q, (labels, _) in LISTS.items() for _ in labels]
    ours = evaluate(y, scores, qid=qid, metrics=list(NAMES[profile]), profile=profile)
    for metric, name in NAMES[profile].items():
        assert ours[metric] == pytest.approx(theirs[name], rel=0, abs=1e-12), metric
