"""Records what trec_eval (by pytrec_eval), ir_measures, CatBoost and ranx give: some are not installed, ranx is slow.

``python tests/reference/record_peers.py`` writes ``peers_values.json``. Values that peers publish in their own tests
(rax, ir_measures) stand in ``test_metrics_published.py``, as the arithmetic that they are.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import catboost
import ir_measures
import numpy as np
import pytrec_eval
from catboost.utils import eval_metric
from ir_measures import AP, P, R, nDCG

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracles import hard_lists
from reference.test_metrics_ranx import NAMES, asked

FILE = Path(__file__).with_name("peers_values.json")
TREC = {
    "map": "map", "ndcg": "ndcg", "ndcg@5": "ndcg_cut_5", "ndcg@10": "ndcg_cut_10", "p@5": "P_5", "p@10": "P_10",
    "recall@5": "recall_5", "recall@10": "recall_10", "mrr": "recip_rank", "hit@1": "success_1", "hit@5": "success_5",
}  # fmt: skip
IR_MEASURES = {
    "map": AP, "ndcg@3": nDCG @ 3, "p@3": P @ 3, "recall@3": R @ 3, "recall@10": R @ 10,
}  # fmt: skip
CATBOOST = {
    "ndcg": "NDCG", "ndcg@3": "NDCG:top=3", "dcg@3": "DCG:top=3", "map": "MAP", "map@3": "MAP:top=3", "mrr": "MRR",
    "mrr@3": "MRR:top=3",
}  # fmt: skip


def judged_run(seed: int = 0) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Queries with graded, negative and missing judgments, equal scores, and documents that are not retrieved."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(8):
        documents = [f"d{one}" for one in range(25)]
        judged = rng.choice(25, 15, replace=False)
        qrels[f"q{query}"] = {documents[one]: int(rng.integers(-1, 4)) for one in judged}
        found = rng.choice(25, 18, replace=False)
        run[f"q{query}"] = {documents[one]: float(rng.integers(0, 12)) / 4 for one in found}
    return qrels, run


def main() -> None:
    qrels, run = judged_run()
    trec = pytrec_eval.RelevanceEvaluator(qrels, set(pytrec_eval.supported_measures)).evaluate(run)
    measured = ir_measures.iter_calc(list(IR_MEASURES.values()), qrels, run)
    by_measure: dict[str, dict[str, float]] = {}
    for one in measured:
        by_measure.setdefault(str(one.measure), {})[one.query_id] = float(one.value)
    boost = {
        name: {ours: eval_metric(y, scores, theirs, group_id=[0] * len(y))[0] for ours, theirs in CATBOOST.items()}
        for name, (y, scores) in hard_lists().items()
    }
    versions = {
        "pytrec_eval": version("pytrec-eval-terrier"),
        "ir_measures": ir_measures.__version__,
        "catboost": catboost.__version__,
        "ranx": version("ranx"),
    }
    values = {
        "versions": versions,
        "qrels": qrels,
        "run": run,
        "trec_eval": {name: {query: found[theirs] for query, found in trec.items()} for name, theirs in TREC.items()},
        "ir_measures": {name: by_measure[str(theirs)] for name, theirs in IR_MEASURES.items()},
        "catboost": boost,
        "ranx": {profile: asked(profile) for profile in NAMES},
    }
    FILE.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
