"""The papers' tables: the catalogue is complete, every target runs, and what it prints is right."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ordino import Dataset
from ordino.data.folds import Fold, Folds, make_folds
from ordino.errors import DataError, ParameterError
from ordino.experiment.papers import (
    deepnet,
    directranker,
    directranker_synthetic,
    rankde,
    ranknet,
    ranknet_search,
    sortnet,
)
from ordino.experiment.papers.catalogue import TARGETS, reproduce
from ordino.experiment.papers.deepnet_numbers import PAPER
from ordino.experiment.papers.figure import draw, save
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell, Figure, Result, summary
from ordino.experiment.papers.trials import (
    Protocol,
    Setting,
    Trials,
    cells_of,
    means,
    part_of,
    ranker,
    run_setting,
)
from ordino.experiment.run.task import history_of

EVERYTHING = {
    "ranknet": ["table1", "table2", "table3", "table4", "table5", "table6"],
    "sortnet": ["table1", "table2", "fig2", "fig3", "shuffling"],
    "deepnet": [
        "fig2.1", "table3.1", "fig3.2", "fig3.3", "fig4.2", "fig4.3", "fig4.4", "fig4.5", "fig4.6", "fig4.7", "fig4.8",
        "fig4.10", "table4.2", "table4.3", "table4.4", "table4.5", "table4.6", "table4.7", "table5.1", "table5.2",
    ],
    "directranker": ["table1", "table2", "fig2a", "fig2b", "fig2c", "fig2d"],
    "rankde": ["table3", "table4", "table5"],
}  # fmt: skip
"""What the list of tables and figures in the project's papers names."""

QUICK = {
    "ranknet.table1", "ranknet.table2", "ranknet.table3", "ranknet.table4", "ranknet.table5", "ranknet.table6",
    "sortnet.table1", "sortnet.fig2", "sortnet.fig3", "sortnet.shuffling",
    "deepnet.fig2.1", "deepnet.table3.1", "deepnet.fig4.5", "deepnet.fig4.6", "deepnet.table5.2", "directranker.fig2d",
    "directranker.table1", "directranker.table2", "rankde.table3", "rankde.table5",
}  # fmt: skip
"""One target of each kind; the others, which are the same with other settings, are marked slow."""


def test_the_catalogue_names_every_table_and_figure():
    assert set(TARGETS) == {f"{paper}.{target}" for paper, targets in EVERYTHING.items() for target in targets}


def test_every_line_of_the_catalogue_can_run_and_nothing_else_can():
    for module in {target.module for target in TARGETS.values()}:
        paper = module.split(".")[-1].split("_")[0]
        runs = {f"{paper}.{key}" for key in import_module(module).RUNS}
        assert runs == {name for name, target in TARGETS.items() if target.module == module}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TARGETS]
)
def test_every_target_runs(folder, name, tmp_path):
    data = folder / "MQ2008" if TARGETS[name].needs.startswith("any") else folder
    result = reproduce(name, Request(data, quick=True, seed=1))
    assert result.target == name
    assert result.seconds > 0
    assert result.cells
    assert all(len(cell.labels) == len(result.columns) for cell in result.cells)
    assert all(np.isfinite(cell.ours).all() for cell in result.cells)
    if result.figure is not None:
        assert all(path.stat().st_size > 1000 for path in save(result, tmp_path))
    assert "fig" not in name or result.figure is not None


def test_unknown_target():
    with pytest.raises(ParameterError, match=r"unknown target 'ranknet\.table9'; did you mean 'ranknet"):
        reproduce("ranknet.table9", Request())


# what a result prints


RESULT = Result(
    "paper.table1",
    "a title",
    ("method", "size"),
    [
        Cell(("a", "10"), 0.5, (0.4, 0.8)),
        Cell(("a", "20"), None, (0.3,)),
        Cell(("b", "10"), 0.7, (0.6,), same_data=False),
    ],
    "What was done.",
    figure=Figure("lines", "size", "quality", color="method", logarithmic=True),
    notes=["a note"],
)


def test_rows_are_paper_ours_and_difference():
    # deviation of 0.4 and 0.8: sqrt(2 * 0.2^2 / 1) = 0.283
    assert RESULT.rows() == [
        ("a", "10", "0.500", "0.600 ± 0.283", "+0.100"),
        ("a", "20", "", "0.300", ""),
        ("b", "10", "(0.700)", "0.600", ""),
    ]


@pytest.mark.parametrize(
    ("spread", "deviation"),
    [("standard deviation", 2.0), ("standard error", 1.0), ("95 % interval", 1.96)],
)
def test_spreads(spread, deviation):
    cell = Cell((), None, (0.0, 2 * 3**0.5, 0.0, 2 * 3**0.5))  # variance 4 * 3 / 3 = 4, and four values
    assert Result("t", "", (), [cell], "", spread=spread).deviation(cell) == pytest.approx(deviation)


def test_markdown_says_what_one_must_know():
    text = RESULT.to_markdown()
    assert text.startswith(
        "# paper.table1: a title\n\nWhat was done.\n\n| method | size | paper | ours ± standard deviation"
    )
    assert "| a | 10 | 0.500 | 0.600 ± 0.283 | +0.100 |" in text
    assert "- a note" in text
    assert "![a title](paper.table1.png)" in text
    assert "± is the standard deviation over the repeats. Made on 20" in text
    assert "numpy" in text
    assert "±" not in Result("t", "", (), [Cell((), None, (1.0,))], "").to_markdown().splitlines()[-1]


def test_csv_has_all_digits():
    lines = RESULT.to_csv().splitlines()
    assert lines[0] == "method,size,paper,ours,standard deviation,difference,values"
    assert lines[2] == "a,20,,0.3,,,1"


def test_summary_of_nothing():
    assert summary(Result("t", "", (), [], "")) == "the paper has no numbers for this data"


def test_figure_has_a_panel_for_each_facet(tmp_path):
    bars = Result(
        "p.fig1", "t", RESULT.columns, RESULT.cells, "", figure=Figure("bars", "size", "q", "method", "method")
    )
    chart = draw(bars).to_dict()
    assert [panel["title"] for panel in chart["concat"]] == ["a", "b"]
    assert len(chart["concat"][0]["layer"]) == 3  # bars, deviations, the paper's crosses
    lines = draw(RESULT).to_dict()["concat"][0]["layer"][0]["encoding"]
    assert lines["x"]["scale"]["type"] == "log"
    assert [path.name for path in save(RESULT, tmp_path)] == ["paper.table1.png", "paper.table1.svg"]


def test_crosses_are_only_of_the_same_data():
    cells = [cell._replace(same_data=False) for cell in RESULT.cells]
    chart = draw(replace(RESULT, cells=cells)).to_dict()
    assert len(chart["concat"][0]["layer"]) == 2
    assert "crosses" not in str(chart["title"])
    assert "crosses" in str(draw(RESULT).to_dict()["title"])


# the data that a person names


def test_collections_by_name_or_one_that_stands_in(folder):
    assert list(Request(folder).collections(("TD2003", "TD2004"))) == ["TD2003", "TD2004"]
    assert list(Request(folder / "MQ2008").collections(("TD2003",))) == ["MQ2008"]
    assert len(Request(folder, quick=True).collections(("TD2003",))["TD2003"]) == 2


def test_missing_data_is_told(tmp_path):
    with pytest.raises(DataError, match="this needs TD2003; name the folder that holds it with --data"):
        Request().collections(("TD2003",))
    with pytest.raises(DataError, match="there is no such directory; name the one that holds TD2003 or TD2004"):
        Request(tmp_path / "none").collections(("TD2003", "TD2004"))


# the protocol of folds and seeds


def test_values_by_seed_and_by_fold():
    trials = Trials({("test", "map"): np.array([[0.1, 0.2], [0.3, 0.6]])}, (1.0, 1.0), [])
    assert trials.by_seed("test", "map") == pytest.approx((0.2, 0.4))
    assert trials.by_fold("test", "map") == pytest.approx((0.15, 0.45))


def test_another_collection_gets_the_papers_numbers_in_brackets():
    trials = Trials({("test", "map"): np.array([[0.5]])}, (1.0,), [])
    setting = Setting("m", ranker("random-ranker"), {"TD2003": {"test map": 0.25}})
    [same], [other] = cells_of(setting, "TD2003", trials), cells_of(setting, "MQ2008", trials)
    assert (same.difference, other.paper, other.difference) == (0.25, 0.25, None)


def test_a_quick_run_changes_what_the_setting_says():
    make = ranker("ranknet", epochs=40, l2=0.5, quick={"epochs": 1})
    assert [(net.epochs, net.l2) for net in (make(Request()), make(Request(quick=True)))] == [(40, 0.5), (1, 0.5)]


def test_seeds_reach_the_rankers_inside_a_ranker(folder):
    folds = Request(folder).collections(("TD2003",))["TD2003"][:1]

    def nested(request):
        from ordino.rankers.nested import NestedRanker

        return NestedRanker("random-ranker", sizes=(None, 5))

    def deep(request):
        return nested(request).set_params(ranker=ranker("random-ranker")(request))

    trials = run_setting(Setting("m", deep, repeats=3), folds, Protocol(("map",)), Request(seed=7))
    assert [fitted.ranker.seed for fitted in trials.rankers[0]] == [7, 107, 207]
    assert len(set(trials.by_seed("test", "map"))) > 1


def test_every_part_is_measured_by_rankers_that_were_chosen_on_the_validation_part(folder):
    folds = Request(folder).collections(("TD2003",))["TD2003"][1:2]
    protocol = Protocol(("map",), parts=("valid", "test"))
    for make in (ranker("ranknet", hidden=(), epochs=1), ranker("ada-rank", rounds=2)):  # one of repeats, one without
        trials = run_setting(Setting("m", make), folds, protocol, Request())
        [[fitted]] = trials.rankers
        for part in protocol.parts:
            assert trials.by_seed(part, "map") == (means(part_of(folds[0], part), fitted, protocol)["map"],)
        alone = make(Request()).fit(folds[0].train, valid=folds[0].valid)
        assert history_of(fitted)[0]["valid"] == pytest.approx(history_of(alone)[0]["valid"])


def test_a_fold_without_a_validation_part(folder):
    fold = Request(folder).collections(("TD2003",))["TD2003"][0]._replace(valid=None)
    with pytest.raises(DataError, match="Fold1 has no validation part, which this table measures"):
        part_of(fold, "valid")


# what was copied from the papers


@pytest.mark.parametrize(
    "row",
    [
        *(setting.paper[name] for setting in sortnet.TABLE_1 for name in ("TD2003", "TD2004")),
        *sortnet.TD2003.values(),
        *sortnet.TD2004.values(),
        *(row for rows in rankde.PAPER.values() for row in rows.values()),
        *(row for row in PAPER.values() if len(row) > 2),
    ],
)
def test_at_rank_1_precision_is_ndcg(row):
    for part in ("valid", "test"):
        assert row.get(f"{part} p@1") == row.get(f"{part} ndcg@1")
    assert sum(name.startswith("test p@") for name in row) == 10
    assert sum(name.startswith("test ndcg@") for name in row) == 10


def test_every_setting_of_the_thesis_tables_has_its_numbers():
    for name, experiment in deepnet.EXPERIMENTS.items():
        if name.startswith("table"):
            assert set(experiment.settings) <= set(PAPER)


def test_bar_charts_without_numbers_get_none_from_a_table(folder, monkeypatch):
    small = {"1 layer": ranker("random-ranker")}
    for name in ("fig4.2", "table4.2"):
        monkeypatch.setattr(
            deepnet, "EXPERIMENTS", {name: deepnet.EXPERIMENTS[name]._replace(settings=small, compared=None)}
        )
        cells = reproduce(f"deepnet.{name}", Request(folder, quick=True)).cells
        assert any(cell.paper is not None for cell in cells) == (name == "table4.2")
        monkeypatch.undo()


def test_one_repeat_is_not_tested():
    def note(*values):
        return deepnet._tested(
            [Cell(("c", name, "test", m), None, values) for name in "ab" for m in ("map", "p@1")], "a", "b"
        )

    assert note(0.5) == "Welch's test of a against b needs more than one repeat."
    assert note(0.5, 0.75) == "Welch's test of a against b: map +0.000, p = 1; p@1 +0.000, p = 1."


def test_the_dense_net_of_the_thesis_is_asked_once_and_else_the_same():
    nets = {name: make(Request()).get_params() for name, make in deepnet.EXPERIMENTS["table3.1"].settings.items()}
    assert nets["dense"].pop("asked") == "once"
    assert nets["dense"] == nets["CmpNN"]


def test_rankde_weights_are_those_of_44_features():
    assert len(rankde.TABLE_5) == 44


# RankNet


def test_a_train_size_counts_documents():
    parts = ranknet._fold("Poly", 100, 0)
    assert (parts.train.n_docs, parts.valid.n_docs, parts.test.n_docs) == (100, 5000, 5000)
    pairs = ranknet._n_pairs(100, 0)
    assert 1960 < pairs < 2125  # the paper: 2,060 of 2,450


def test_the_net_does_not_start_from_the_function_it_must_find():
    request = Request(quick=True)
    ranknet._accuracy(ranknet._wanted(ranknet.Problem("Poly", 100, {"hidden": ()}), 5, request), request)
    [trained] = request.trained.repeats.values()
    own, function = (np.random.default_rng(one).uniform(-1, 1, 50) for one in (trained.rankers[0].seed, 5))
    assert abs(np.corrcoef(own, function)[0, 1]) < 0.5


def test_search_engine_split(folder):
    parts = ranknet_search._parts(Request(folder / "MQ2008", seed=1))
    assert [part.n_queries for part in (parts.train, parts.valid, parts.test)] == [7, 1, 2]  # 2/3, 1/6, 1/6 of 10
    judged = int((parts.train.y > 0).sum())
    assert int((parts.learned.y > 0).sum()) == judged
    assert parts.learned.n_docs < parts.train.n_docs


# DirectRanker


def test_samples_are_50_queries_of_50_to_150_test_documents():
    X = np.arange(1200.0)[:, None]
    samples = directranker_synthetic._samples(Dataset(X, np.zeros(1200)), np.random.default_rng(0))
    assert samples.n_queries == 50
    assert samples.counts.min() >= 50
    assert samples.counts.max() <= 150
    assert samples.X.max() > samples.X.min() + 1000  # from all of the test documents


def test_no_document_is_both_learned_from_and_tested_on():
    fold = directranker_synthetic._wanted(classes=3, features=4, noise=0.0, size=2_000, seed=0, epochs=1).fold
    assert (fold.train.n_docs, fold.valid, fold.test.n_docs) == (2_000, None, 10_000)
    assert len(np.unique(np.concatenate((fold.train.X, fold.test.X)), axis=0)) == 12_000


@pytest.mark.parametrize(("size", "epochs"), [(1_000, 50), (10_000, 30), (100_000, 5)])
def test_small_training_sets_are_seen_more_often(size, epochs):
    assert directranker_synthetic._epochs(size) == epochs


def test_the_claims_about_noise_are_checked():
    cells = [Cell((str(noise),), None, (value,)) for noise, value in ((0.0, 0.99), (0.25, 0.98), (0.75, 0.85))]
    assert directranker_synthetic._claims("fig2c", cells) == [
        "Noise of 0.25 costs 0.010 (the paper: only marginal).",
        "At noise 0.75, half of the labels wrong, it is 0.850 (the paper: not below 0.80).",
    ]
    assert directranker_synthetic._claims("fig2a", cells) == ["From 0.0 to 0.75 NDCG@20 falls by 0.140."]


def test_labels_become_relevant_or_not(folder):
    folds = make_folds(Dataset(np.zeros((5, 1)), [0, 1, 2, 3, 4], qid=range(5)), 5)
    fold = directranker._binary(folds, 2)[0]
    labels = np.concatenate([fold.train.y, fold.valid.y, fold.test.y])
    assert sorted(labels) == [0, 0, 1, 1, 1]


def test_a_setting_is_chosen_on_the_validation_part_of_each_fold(monkeypatch):
    y, qid = [1, 0, 0, 0], ["a", "a", "empty", "empty"]
    first, second = (Dataset([[i, 1 - i], [1 - i, i]] * 2, y, qid) for i in (1, 0))  # by the feature that is right
    folds = Folds(["1", "2"], [Fold("1", second, first, second), Fold("2", first, second, first)].__getitem__)
    grid = ({"feature": 1, "sign": 1}, {"feature": 2, "sign": 1})
    monkeypatch.setattr(directranker, "METHODS", {"one": directranker.Method("single-feature", {}, True, grid=grid)})
    trials, chosen = directranker._run("one", ("map",), folds, Request())
    assert tuple(chosen) == grid
    assert [fitted.feature for [fitted] in trials.rankers] == [1, 2]
    assert trials.by_fold("test", "map") == (0.5, 0.5)  # where the other feature is right; nothing of the empty query
    assert directranker._told("one", chosen)[0].startswith("one: feature 1, sign ")
    assert directranker._told("other", [{}, {}]) == []


@pytest.mark.slow
def test_the_methods_of_table_1_on_real_folds_are_near_the_paper(real_folds):
    folds = directranker._binary(Request(real_folds).collections(("MQ2008",))["MQ2008"][:1], 1)
    trials, _ = directranker._run("AdaRank", ("ndcg@10",), folds, Request())
    assert abs(np.mean(trials.by_fold("test", "ndcg@10")) - 0.722) < 0.08


@pytest.fixture
def real_folds():
    import os

    if "ORDINO_DATA" not in os.environ:
        pytest.skip("ORDINO_DATA names no folder with MQ2008")
    return Path(os.environ["ORDINO_DATA"])


def test_fewer_repeats_are_said(folder):
    result = reproduce("ranknet.table2", Request(quick=True, repeats=1))
    assert {len(cell.ours) for cell in result.cells} == {1}
    assert "`--repeats 1`" in result.to_markdown()
    assert "--repeats" not in reproduce("ranknet.table2", Request(quick=True)).to_markdown()
    assert [Request(repeats=3).at_most(n) for n in (1, 5)] == [1, 3]
    assert [Request(quick=True).at_most(n) for n in (1, 5)] == [1, 2]
