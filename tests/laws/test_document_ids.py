"""Law: where a profile breaks ties by the ids of documents, what is chosen in ``fit`` is measured that way too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goldens.variants import make
from ordino import AutoRanker, Dataset, SingleFeature, evaluate
from ordino.data.source import canonical
from ordino.experiment.plan.plan import Plan
from ordino.experiment.run.driver import run
from ordino.explain import permutation_importance
from ordino.judge import Judge
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class

rng = np.random.default_rng(0)
N = 200
DATA = canonical(
    Dataset(
        rng.integers(0, 3, (N, 3)),  # of which many are equal
        rng.integers(0, 3, N),
        np.repeat(np.arange(10), N // 10),
        doc_ids=[f"D{i:03d}" for i in rng.permutation(N)],
    )
)
OTHER_IDS = Dataset(DATA.X, DATA.y, DATA.qid, doc_ids=DATA.doc_ids[::-1])
ASKED = {"metric": "ndcg@5", "profile": "trec"}
CHOOSING = [
    name
    for name in RANKERS
    if {"metric", "profile"} <= set(parameters_of(ranker_class(name)))
    and name not in ("auto", "nested-ranker")  # one chooses out of fold, the other makes lists without ties
]


@pytest.mark.parametrize("name", CHOOSING)
def test_the_best_on_valid_is_what_score_says(name: str) -> None:
    ranker = make(name, ASKED).fit(OTHER_IDS, valid=DATA)
    measured = [row["valid"] for row in getattr(ranker, "history_", []) if "valid" in row]
    assert ranker.score(DATA) == pytest.approx(max(measured, default=ranker.score(DATA)), abs=1e-12)


def test_a_judge_knows_the_ids_of_what_it_measures() -> None:
    judge, scores = Judge(**ASKED), DATA.X[:, 0].astype(float)
    for data in (DATA, OTHER_IDS, DATA):
        expected = evaluate(data, scores, metrics=["ndcg@5"], profile="trec").per_query["ndcg@5"]
        assert judge.per_query(data, scores).tolist() == expected.tolist()
        assert judge.means(data, [scores, -scores])[0] == pytest.approx(expected.mean())


def test_auto_ranker_chooses_and_keeps_trials_by_them(tmp_path: Path) -> None:
    settings = {**ASKED, "trials": 1, "folds": 2, "store": str(tmp_path)}
    found = [AutoRanker(**settings).fit(data).quality_["mean"] for data in (DATA, OTHER_IDS)]
    alone = AutoRanker(**settings | {"store": None}).fit(OTHER_IDS).quality_["mean"]
    assert found[0] != found[1] == alone


def test_importances_are_measured_by_them() -> None:
    ranker = SingleFeature(feature=1, **ASKED).fit(DATA)
    found = {one.feature: one.importance for one in permutation_importance(ranker, DATA, repeats=1)}
    rng = np.random.default_rng((0, 0, 0))
    drawn = np.lexsort((rng.random(N), DATA.query_number))
    shuffled = DATA.X[drawn, 0] * ranker.sign_
    expected = ranker.score(DATA) - evaluate(DATA, shuffled, metrics=["ndcg@5"], profile="trec")["ndcg@5"]
    assert found["f1"] == pytest.approx(expected, abs=1e-12)


def test_a_judge_of_several_data_sets_reads_each_by_its_own() -> None:
    judge = Judge("ndcg@5", "trec")
    for data in (DATA, OTHER_IDS, DATA):
        expected = evaluate(data, np.zeros(N), metrics=["ndcg@5"], profile="trec")["ndcg@5"]
        assert judge.mean(data, np.zeros(N)) == pytest.approx(expected, abs=1e-12)
        assert judge.means(data, np.zeros((2, N))) == pytest.approx([expected] * 2, abs=1e-12)


@pytest.mark.parametrize(("profile", "n_keys"), [("trec", 2), ("standard", 1)])
def test_a_trial_on_other_ids_is_another_only_there(profile: str, n_keys: int, tmp_path: Path) -> None:
    keys = set()
    for data in (DATA, OTHER_IDS):
        plan = Plan(data={"same": data}, rankers=["single-feature"], measures=["ndcg@5"], folds=3, profile=profile)
        keys.add(run(plan, tmp_path / "store.sqlite", n_jobs=1)[0].key)
    assert len(keys) == n_keys
