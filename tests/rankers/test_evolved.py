"""The rankers that evolve: the contract, what fitness means, validation, resuming, pruning, tables, plots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.data.source import canonical
from ordino.errors import DataError, MissingExtraError, OrdinoError, ParameterError
from ordino.evolve import Formula
from ordino.linear import plot_weights
from ordino.metrics import evaluate
from ordino.ranker import FeatureWeight, Ranker
from ordino.rankers.baselines import LinearRegressionRanker, RandomRanker
from ordino.rankers.evolution import CMARank, ESRank, IESRRank, IESVMRank, SwarmRank
from ordino.rankers.gp import GPRank
from ordino.rankers.rankde import RankDE
from ordino.testing import easy_data

QUICK: dict[str, Ranker] = {
    "RankDE": RankDE(generations=40, population=12),
    "RankDE, adaptive": RankDE(generations=40, population=12, self_adaptive=True, metric="ndcg@10"),
    "SwarmRank": SwarmRank(generations=40, population=12),
    "CMARank": CMARank(generations=30, population=12),
    "ESRank": ESRank(generations=300),
    "IESRRank": IESRRank(generations=40),
    "IESVMRank": IESVMRank(generations=40),
    "GPRank": GPRank(generations=15, population=60),
}
LINEAR = [name for name in QUICK if name != "GPRank"]


@pytest.mark.parametrize("name", QUICK)
def test_the_history_ends_with_the_measure_of_what_was_learned(name: str) -> None:
    data = canonical(easy_data())  # the order in which fit sees it: a mean rounds differently in another
    ranker = clone(QUICK[name]).fit(data)
    metric = ranker.metric
    assert len(ranker.history_) == ranker.generations + 1
    assert ranker.history_[-1]["best"] == ranker.fitness_
    assert [row["generation"] for row in ranker.history_] == list(range(ranker.generations + 1))
    assert "valid" not in ranker.history_[-1]
    assert ranker.fitness_ == evaluate(data, ranker.predict(data), metrics=[metric])[metric]


@pytest.mark.parametrize("name", QUICK)
def test_valid_decides_which_generation_is_kept(name: str) -> None:
    data, valid = easy_data(), canonical(easy_data(n_queries=4, seed=9))
    ranker = clone(QUICK[name]).fit(data, valid=valid)
    metric = ranker.metric
    assert ranker.fitness_ == max(row["valid"] for row in ranker.history_)
    assert ranker.fitness_ == evaluate(valid, ranker.predict(valid), metrics=[metric])[metric]


@pytest.mark.parametrize("name", QUICK)
def test_half_the_generations_twice_are_all_of_them(name: str) -> None:
    data = easy_data()
    whole = clone(QUICK[name]).set_params(generations=10).fit(data)
    resumed = clone(QUICK[name]).set_params(generations=5, warm_start=True).fit(data)
    of_half = resumed.history_
    resumed.fit(data)
    assert len(of_half) == 6  # whoever holds it keeps it as it was
    assert resumed.history_ == whole.history_
    assert resumed.predict(data).tolist() == whole.predict(data).tolist()


@pytest.mark.parametrize("name", QUICK)
def test_on_other_data_the_population_starts_anew(name: str) -> None:
    ranker = clone(QUICK[name]).set_params(generations=5, warm_start=True).fit(easy_data())
    other = canonical(easy_data(seed=4))
    ranker.fit(other)
    assert len(ranker.history_) == 6
    assert ranker.fitness_ == evaluate(other, ranker.predict(other), metrics=[ranker.metric])[ranker.metric]
    ranker.fit(other, valid=easy_data(seed=5))
    assert ["valid" in row for row in ranker.history_] == [True] * 6  # so does a search that is judged otherwise
    ranker.fit(other)
    assert ["valid" in row for row in ranker.history_] == [False] * 6
    assert ranker.fitness_ == evaluate(other, ranker.predict(other), metrics=[ranker.metric])[ranker.metric]
    fewer = Dataset(other.X[:, :2], other.y, other.qid)
    assert ranker.fit(fewer).predict(fewer).shape == (other.n_docs,)


@pytest.mark.parametrize("name", QUICK)
def test_a_warm_start_chooses_by_the_validation_data_that_it_is_given(name: str) -> None:
    data, first, other = easy_data(), easy_data(seed=5), canonical(easy_data(seed=6))
    other = other.replace(y=np.random.default_rng(1).permutation(other.y))  # on which everything is worse
    ranker = clone(QUICK[name]).set_params(generations=5, warm_start=True).fit(data, valid=first)
    resumed = clone(ranker).fit(data, valid=first).fit(data, valid=first)
    assert resumed.history_[:6] == ranker.history_
    assert len(resumed.history_) == 11  # the same data: the search goes on
    ranker.fit(data, valid=other)
    assert ranker.fitness_ == pytest.approx(ranker.score(other), abs=1e-9)
    assert len(ranker.history_) == 6


def test_a_population_that_was_kept_is_where_a_new_search_starts() -> None:
    data = easy_data()
    first = clone(QUICK["RankDE"]).fit(data)
    second = RankDE(generations=0, warm_start=True)
    second.population_ = first.population_  # as a ranker that came from a file has it
    assert second.fit(data).fitness_ == first.fitness_


@pytest.mark.parametrize("name", QUICK)
def test_interrupted_keeps_the_best_so_far(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ordino.evolve import fitness

    mean, calls = fitness.Objective.mean, []

    def stop_at_seven(self: Any, values: Any) -> Any:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return mean(self, values)

    monkeypatch.setattr(fitness.Objective, "mean", stop_at_seven)
    data = easy_data()
    ranker = clone(QUICK[name]).set_params(generations=10_000).fit(data)
    assert 1 <= len(ranker.history_) <= 7
    assert np.isfinite(ranker.predict(data)).all()


def test_a_measure_of_which_less_is_better_is_made_small() -> None:
    ranker = RankDE(generations=20, population=10, metric="pairwise_error").fit(easy_data())
    assert 0 <= ranker.fitness_ == -ranker.history_[-1]["best"] < 0.2


def test_patience_stops_early() -> None:
    assert len(RankDE(generations=10_000, population=8, patience=5).fit(Dataset([[1.0], [2.0]], [0, 1])).history_) < 20


def test_starts() -> None:
    """With no generation, what is learned is the start itself."""
    data = easy_data()
    regression = LinearRegressionRanker(scaling=None).fit(data)
    for start in ("linear-regression-ranker", LinearRegressionRanker(), regression.coef_):
        ranker = ESRank(generations=0, start=start, scaling=None).fit(data)
        np.testing.assert_allclose(ranker.coef_, regression.coef_, rtol=1e-6)
    assert ESRank(generations=0).fit(data).coef_.tolist() == [0.0] * 4
    plain = IESRRank(generations=0, scaling=None).fit(data)
    np.testing.assert_allclose(plain.coef_, regression.coef_, rtol=1e-6)


@pytest.mark.parametrize("name", ["IESRRank", "IESVMRank"])
def test_never_worse_than_the_start(name: str) -> None:
    data = easy_data()
    ranker = clone(QUICK[name]).fit(data)
    assert ranker.history_[-1]["best"] >= ranker.history_[0]["best"]


def test_pruning_tells_what_the_small_weights_are_worth() -> None:
    data = canonical(easy_data())
    ranker = clone(QUICK["RankDE"]).fit(data)
    steps = ranker.pruning(data)
    assert [step.kept for step in steps] == [4, 3, 2, 1]
    assert (steps[0].value, steps[0].loss) == (ranker.fitness_, 0.0)
    for step in steps:
        pruned = ranker.prune(threshold=step.threshold)
        assert pruned.coef_.tolist() == ranker.prune(keep=step.kept).coef_.tolist()
        assert (pruned.coef_ != 0).sum() == step.kept
        assert pruned.score(data) == step.value == pytest.approx(ranker.fitness_ - step.loss)
    assert not hasattr(pruned, "fitness_")  # nobody measured it
    assert (ranker.coef_ != 0).all()  # the ranker itself is as it was
    errors = clone(QUICK["RankDE"]).set_params(metric="pairwise_error").fit(data)
    for step in errors.pruning(data):
        assert step.value == pytest.approx(-errors.prune(keep=step.kept).score(data))  # of which less is better
        assert step.loss == pytest.approx(step.value - errors.pruning(data)[0].value)
    tied = clone(QUICK["RankDE"]).set_params(metric="ndcg@5", profile="trec").fit(data)
    assert [step.value for step in tied.pruning(data)] == pytest.approx(
        [tied.prune(keep=kept).score(data) for kept in (4, 3, 2, 1)]
    )
    with pytest.raises(ParameterError, match="give one of the two"):
        ranker.prune()


def test_weights_as_text_are_sorted_by_name() -> None:
    data = easy_data()
    ranker = clone(QUICK["RankDE"]).fit(Dataset(data.X, data.y, data.qid, feature_names=["a", "bm25", "c", "d"]))
    lines = ranker.weights_text().splitlines()
    assert lines[0].split() == ["feature", "weight"]
    numbers = [float(line.split()[1]) for line in lines[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert {line.split()[0] for line in lines[1:]} == {"a", "bm25", "c", "d"}


def test_weights_as_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    ranker = clone(QUICK["RankDE"]).fit(easy_data())
    chart = ranker.plot_weights(tmp_path / "weights.png")
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")
    assert [row["feature"] for row in chart.data.values] == [weight.feature for weight in ranker.feature_weights()]
    ranker.plot_weights(tmp_path / "weights.html")
    assert "vega" in (tmp_path / "weights.html").read_text()


def test_a_picture_says_which_weights_raise_the_score() -> None:
    pytest.importorskip("altair", reason="plots are drawn with altair")
    chart = plot_weights([FeatureWeight("a", 2.0), FeatureWeight("b", 0.0), FeatureWeight("c", -1.0)], None).to_dict()
    [rows] = chart["datasets"].values() if "datasets" in chart else [chart["data"]["values"]]
    assert [(row["feature"], row["weight"], row["sign"]) for row in rows] == [
        ("a", 2.0, "raises"), ("b", 0.0, "raises"), ("c", -1.0, "lowers"),
    ]  # fmt: skip
    colors = chart["encoding"]["color"]["scale"]
    assert dict(zip(colors["domain"], colors["range"], strict=True)) == {"raises": "#1b6ca8", "lowers": "#c8553d"}


def test_without_altair_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r"ordino\[plots\]"):
        clone(QUICK["RankDE"]).fit(easy_data()).plot_weights()


def test_a_formula_is_readable_and_can_be_kept_as_text() -> None:
    data = easy_data()
    named = Dataset(data.X, data.y, data.qid, feature_names=["bm25", "pagerank", "c", "length"])
    ranker = clone(QUICK["GPRank"]).fit(named)
    assert "bm25" in ranker.formula_
    assert Formula.parse(ranker.program_).text(named.feature_names) == ranker.formula_


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: RankDE(population=3), "population=3; it must be a whole number, 4 or more"),
        (lambda: RankDE(F=0), "F=0; it must be a number, more than 0"),
        (lambda: RankDE(CR=1.5), "CR=1.5; it must be a number, from 0 to 1"),
        (lambda: RankDE(mutation="rand/2"), "unknown mutation 'rand/2'"),
        (lambda: RankDE(generations=-1), "generations=-1"),
        (lambda: RankDE(patience=0), "patience=0"),
        (lambda: RankDE(n_jobs=0), "n_jobs=0"),
        (lambda: SwarmRank(max_speed=0), "max_speed=0"),
        (lambda: CMARank(sigma=0), "sigma=0"),
        (lambda: ESRank(start="zero"), "unknown start 'zero'; did you mean 'zeros'"),
        (lambda: ESRank(start=[1.0]), "give 4 finite weights"),
        (lambda: ESRank(start=RandomRanker()), "is not a linear ranker"),
        (lambda: GPRank(functions="+"), "give a list of names"),
        (lambda: GPRank(functions=("plus",)), "unknown function 'plus'"),
        (
            lambda: GPRank(crossover_rate=0.5, mutation_rate=0.6),
            "mutation_rate=0.6; it must be a number, from 0 to 0.5",
        ),
        (lambda: GPRank(mutation=0.1), "mutation of GPRank is now called 'mutation_rate'"),
        (lambda: ESRank(start="gp-rank"), "is not a linear ranker"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], Ranker], sentence: str) -> None:
    with pytest.raises(OrdinoError, match=sentence.replace("(", r"\(")):
        make().fit(easy_data())


@pytest.mark.parametrize(
    "program", [["+", "0"], ["0", "1"], ["+", "0", "4"], [], ["0", 1], ["plus"], ["²"], ["9" * 30], "0"]
)
def test_a_program_that_is_no_formula_over_the_features_is_refused(program: Any) -> None:
    ranker = clone(QUICK["GPRank"]).fit(easy_data())
    ranker.form().check()
    ranker.program_ = program
    with pytest.raises(DataError, match="program_ does not fit"):
        ranker.form().check()
