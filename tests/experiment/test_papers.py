"""The papers' tables: the catalogue is complete, every target runs, and what it prints is right."""

import csv
import json
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from ordino import RankSVM
from ordino.data.folds import Fold
from ordino.errors import DataError, ParameterError
from ordino.experiment.papers.beyond import models
from ordino.experiment.papers.catalogue import TARGETS, reproduce
from ordino.experiment.papers.deepnet import deep, large, shallow, symmetry
from ordino.experiment.papers.deepnet import search as deepnet_search
from ordino.experiment.papers.directranker import tables
from ordino.experiment.papers.directranker.grid import systems as authors_grid
from ordino.experiment.papers.figure import draw, save
from ordino.experiment.papers.letor import Row, row_number
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.ranknet import search
from ordino.experiment.papers.result import Axes, Result, summary
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials
from ordino.experiment.plan.plan import repeat_seeds
from ordino.experiment.run.driver import carry_out
from ordino.experiment.store import Store, Trial
from ordino.testing import easy_data

EVERYTHING = {
    "ranknet": ["fig1", "vectors", "table1", "table2", "table3", "table4", "table5", "table6"],
    "sortnet": ["table1", "table2", "fig2", "fig3", "incremental", "shuffling"],
    "deepnet": [
        "fig2.1", "table3.1", "table3.1.distinct", "table3.1.few-queries", "table3.1.td", "fig3.2", "fig3.3",
        "fig3.3.mixes", "fig4.2", "fig4.3", "fig4.4", "fig4.4.fine", "fig4.5", "fig4.6", "fig4.7", "fig4.7.fine",
        "fig4.8", "fig4.10", "section4.2.2", "section4.3.3", "table4.2", "table4.3", "table4.4", "table4.5",
        "table4.6", "table4.7", "table5.1", "table5.2",
    ],
    "directranker": ["table1", "table2", "grid", "fig2a", "fig2b", "fig2c", "fig2d", "theorem3"],
    "rankde": ["table3", "table4", "table5", "pruning"],
    "beyond": ["models", "pairs", "grades", "lambdas", "classes", "evolution"],
}  # fmt: skip
"""What the list of tables and figures in the project's papers names."""

QUICK = {
    "ranknet.fig1", "ranknet.table4", "sortnet.shuffling", "deepnet.table3.1", "deepnet.fig4.5", "directranker.table1",
    "beyond.lambdas",
}  # fmt: skip
"""One target of each kind. Others run in the tests of their papers, and what all of them do and show stands in
tests/laws/protocols.json; so that every one trains, too, is left to the slow tests."""


def test_the_catalogue_names_every_table_and_figure():
    assert set(TARGETS) == {f"{paper}.{target}" for paper, targets in EVERYTHING.items() for target in targets}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TARGETS]
)
def test_every_target_runs(folder, name, tmp_path):
    data = folder / "MQ2008" if TARGETS[name].needs.startswith("any") else folder
    result = reproduce(name, Request(data, quick=True, seed=1))
    assert result.target == name
    assert result.seconds > 0
    assert result.numbers
    assert all(len(number.labels) == len(result.columns) for number in result.numbers)
    assert all(len(number.ours) for number in result.numbers)
    assert all(np.isfinite(number.ours).all() for number in result.numbers)
    assert result.data or TARGETS[name].needs == NOTHING
    assert "the numbers mean nothing" in result.to_markdown()
    json.loads(result.to_json())
    if result.axes is not None:
        assert all(path.stat().st_size > 1000 for path in save(result, tmp_path))
    assert "fig" not in name or result.axes is not None


@pytest.mark.parametrize(
    ("name", "data", "collections"),
    [
        ("ranknet.table3", "MQ2008", ["MQ2008"]),  # nothing is trained
        ("directranker.grid", ".", ["MQ2008"]),  # trained inside each fold, too
        ("rankde.table5", ".", ["TD2003"]),
    ],
)
def test_a_page_names_its_collections(folder, name, data, collections):
    assert list(reproduce(name, Request(folder / data, quick=True)).data) == collections


def test_unknown_target():
    with pytest.raises(ParameterError, match=r"unknown target 'ranknet\.table9'; did you mean 'ranknet"):
        reproduce("ranknet.table9", Request())


# what a result prints


RESULT = Result(
    "a title",
    ("method", "size"),
    [
        Number(("a", "10"), 0.5, (0.4, 0.8)),
        Number(("a", "20"), None, (0.3,)),
        Number(("b", "10"), 0.7, (0.6,), same_data=False),
    ],
    "What was done.",
    axes=Axes("lines", "size", "quality", color="method", logarithmic=True),
    notes=["a note"],
    target="paper.table1",
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
    number = Number((), None, (0.0, 2 * 3**0.5, 0.0, 2 * 3**0.5))  # variance 4 * 3 / 3 = 4, and four values
    assert Result("", (), [number], "", spread=spread).deviation(number) == pytest.approx(deviation)


def test_markdown_says_what_one_must_know():
    text = RESULT.to_markdown()
    assert text.startswith(
        "# paper.table1: a title\n\nWhat was done.\n\n| method | size | paper | ours ± standard deviation"
    )
    assert "| a | 10 | 0.500 | 0.600 ± 0.283 | +0.100 |" in text
    assert "- a note" in text
    assert "![a title](paper.table1.png)" in text
    assert (
        "Numbers in brackets are the paper's, on other data. ± is the standard deviation over the repeats. Made on 20"
        in text
    )
    assert "brackets" not in replace(RESULT, numbers=RESULT.numbers[:2]).to_markdown()
    assert "numpy" in text
    assert "±" not in Result("", (), [Number((), None, (1.0,))], "").to_markdown().splitlines()[-1]


def test_csv_has_all_digits():
    lines = RESULT.to_csv().splitlines()
    assert lines[0] == "method,size,paper,paper deviation,ours,standard deviation,difference,values"
    assert lines[2] == "a,20,,,0.3,,,1"
    numbers = [Number(("c", "1"), 0.25, (0.5, 0.75), paper_deviation=0.125), *RESULT.numbers]
    for number, row in zip(
        numbers, csv.DictReader(replace(RESULT, numbers=numbers).to_csv().splitlines()), strict=True
    ):
        known = {
            "paper": number.paper, "paper deviation": number.paper_deviation, "ours": number.mean,
            "standard deviation": RESULT.deviation(number), "difference": number.difference,
            "values": len(number.ours),
        }  # fmt: skip
        assert (row.pop("method"), row.pop("size")) == number.labels
        assert {name: float(cell) if cell else None for name, cell in row.items()} == known


def test_a_page_is_filled_in_with_what_was_run():
    who = [(name, fold, seed) for name in "xy" for fold in "123" for seed in (7, 8, 9, 10)]
    trials = SimpleNamespace(all=[SimpleNamespace(dataset=name, fold=fold, seed=seed) for name, fold, seed in who])
    numbers = [Number(("a",), None, (1.0, 2.0)), Number(("b",), None, (1.0,) * 5, is_by_query=True)]
    target = Target(
        shows="", needs="TD2003", takes="", view=lambda *_: [*numbers, "a note"],
        page=Result("t of {data}", ("who",), protocol="{data}; {folds}; {repeats}; {n} values; {seed}; {seeds}"),
    )  # fmt: skip
    found = target.result(Request(seed=5), trials)
    assert (found.title, found.protocol) == ("t of x and y", "x and y; 3 folds; 2 repeats; 2 values; 5; 4 seeds")
    assert (found.notes, found.seeds, found.numbers) == (["a note"], [7, 8, 9, 10], numbers)


def test_summary_of_nothing():
    assert summary(Result("", (), [], "")) == "the paper has no numbers for this data"


def test_figure_has_a_panel_for_each_facet(tmp_path):
    bars = Result("t", RESULT.columns, RESULT.numbers, "", axes=Axes("bars", "size", "q", "method", "method"))
    chart = draw(bars).to_dict()
    assert [panel["title"] for panel in chart["concat"]] == ["a", "b"]
    assert chart["title"]["subtitle"] == "ours ± standard deviation over the repeats; crosses: the paper"
    assert draw(replace(bars, data=["td (synthetic)"])).to_dict()["title"]["subtitle"].endswith("; on td (synthetic)")
    assert len(chart["concat"][0]["layer"]) == 3  # bars, deviations, the paper's crosses
    lines = draw(RESULT).to_dict()["concat"][0]["layer"][0]["encoding"]
    assert lines["x"]["scale"]["type"] == "log"
    assert [path.name for path in save(RESULT, tmp_path)] == ["paper.table1.png", "paper.table1.svg"]


def test_crosses_are_only_of_the_same_data():
    numbers = [number._replace(same_data=False) for number in RESULT.numbers]
    chart = draw(replace(RESULT, numbers=numbers)).to_dict()
    assert len(chart["concat"][0]["layer"]) == 2
    assert "crosses" not in str(chart["title"])
    assert "crosses" in str(draw(RESULT).to_dict()["title"])


def points_of(chart):
    """The rows of a figure's first panel; Altair moves data that all panels share to the top."""
    return chart["concat"][0].get("data", chart.get("data"))["values"]


def test_points_of_a_figure_are_our_means_and_deviations_and_the_papers_numbers_of_the_same_data():
    spread = 0.08**0.5  # of 0.4 and 0.8
    expected = [
        {"x": 10.0, "color": "a", "ours": 0.6, "low": 0.6 - spread, "high": 0.6 + spread, "paper": 0.5},
        {"x": 20.0, "color": "a", "ours": 0.3, "low": 0.3, "high": 0.3, "paper": None},
        {"x": 10.0, "color": "b", "ours": 0.6, "low": 0.6, "high": 0.6, "paper": None},  # of other data
    ]
    for point, wanted in zip(points_of(draw(RESULT).to_dict()), expected, strict=True):
        assert point == {key: pytest.approx(one) if isinstance(one, float) else one for key, one in wanted.items()}


def test_the_front_is_what_nothing_beats_in_both_measures():
    cells = {"slow": (0.9, 3.0), "beaten": (0.5, 2.0), "level": (0.6, 1.5), "worse": (0.4, 1.0), "quick": (0.6, 1.0)}
    numbers = [
        Number(("td", name, measure), None, (value,))
        for name, both in cells.items()
        for measure, value in zip(("quality", "cost"), both, strict=True)
    ]
    axes = Axes("front", "cost", "quality", color="model", facet="collection", logarithmic=True)
    chart = draw(Result("", ("collection", "model", "measure"), numbers, axes=axes)).to_dict()
    assert [(point["name"], point["x"], point["y"], point["front"]) for point in points_of(chart)] == [
        ("quick", 1.0, 0.6, True), ("worse", 1.0, 0.4, False), ("level", 1.5, 0.6, False), ("beaten", 2.0, 0.5, False),
        ("slow", 3.0, 0.9, True),
    ]  # fmt: skip


# the data that a person names


def test_collections_by_name_or_one_that_stands_in(folder):
    assert list(Request(folder).collections(("TD2003", "TD2004"))) == ["TD2003", "TD2004"]
    assert list(Request(folder / "MQ2008").collections(("TD2003",))) == ["MQ2008"]
    assert len(Request(folder, quick=True).collections(("TD2003",))["TD2003"]) == 2


def test_missing_data_is_told(tmp_path):
    with pytest.raises(DataError, match="this needs TD2003: name its folder with --data, or other data; --data td"):
        Request().collections(("TD2003",))
    with pytest.raises(DataError, match="there is no such directory; name the one that holds TD2003 or TD2004"):
        Request(tmp_path / "none").collections(("TD2003", "TD2004"))


# the protocol of folds and seeds


def made_trials_of(path, values, *, label="random-ranker", dataset="TD2003"):
    """Trials with these means: by fold and seed."""
    with Store(path) as store:
        for fold, row in enumerate(values):
            for seed, value in enumerate(row):
                store.add(
                    Trial(
                        key=f"{fold}/{seed}", dataset=dataset, fold=str(fold), ranker="x", label=label, params={},
                        seed=seed, profile="standard", test={"map": value}, valid={"map": value / 2},
                        per_query={"map": np.array([value])}, query_ids=np.arange(1),
                        parts={"train": {"map": np.array([2 * value, np.nan])}},
                    )
                )  # fmt: skip
    opened = Store(path)
    keys = [f"{fold}/{seed}" for fold, row in enumerate(values) for seed in range(len(row))]
    return Trials(opened, keys, path.parent), opened


def test_values_by_seed_and_by_fold(tmp_path):
    trials, store = made_trials_of(tmp_path / "s.sqlite", [[0.1, 0.2], [0.3, 0.6]])
    with store:
        who = ("TD2003", "random-ranker", "map")
        assert trials.by_seed(*who) == pytest.approx((0.2, 0.4))
        assert trials.by_seed(*who, "valid") == pytest.approx((0.1, 0.2))
        assert trials.by_seed(*who, "train") == pytest.approx((0.4, 0.8))
        assert trials.by_fold(*who) == pytest.approx((0.15, 0.45))
        assert [trial.key for trial in trials.first_of_folds(*who[:2])] == ["0/0", "1/0"]


def test_trials_come_in_the_order_of_the_plans_whichever_was_done_first(tmp_path):
    trials, store = made_trials_of(tmp_path / "s.sqlite", [[0.1, 0.2], [0.3, 0.6]])
    with store:
        keys = ["1/0", "0/1", "0/0"]
        planned = Trials(store, keys, tmp_path)
        assert [one.key for one in planned.all] == keys
        assert planned.by_seed("TD2003", "random-ranker", "map") == pytest.approx((0.2, 0.2))
        assert [one.key for one in planned.first_of_folds("TD2003", "random-ranker")] == ["1/0", "0/1"]
        assert len(trials.all) == 4


def test_another_collection_gets_the_papers_numbers_in_brackets(tmp_path):
    row = Row("m", System("random-ranker"), {"TD2003": {"test map": 0.25}})
    for name, difference in (("TD2003", 0.25), ("MQ2008", None)):
        trials, store = made_trials_of(tmp_path / f"{name}.sqlite", [[0.5]], dataset=name)
        with store:
            number = row_number(row, name, "test", "map", Request(), trials)
        assert (number.paper, number.difference) == (0.25, difference)


def test_a_quick_run_changes_what_the_system_says():
    system = System("ranknet", {"epochs": 40, "l2": 0.5}, quick={"epochs": 1}, grid=[{"epochs": [9], "batch": [1, 2]}])
    for request, epochs, grid in (
        (Request(), 40, {"epochs": [9], "batch": [1, 2]}),
        (Request(quick=True), 1, {"batch": [1, 2]}),
    ):
        entry = system.entry(request)
        assert (entry.params["epochs"], entry.params["l2"], entry.grid) == (epochs, 0.5, [grid])
        assert entry.problems() == []


def test_a_system_inside_a_system_takes_its_settings_along():
    system = System("nested-ranker", {"ranker": System("ranknet", {"hidden": 3}, "published"), "sizes": (None, 5)})
    ranker = system.entry(Request()).make(system.entry(Request()).params)
    assert (type(ranker.ranker).__name__, ranker.ranker.hidden, ranker.ranker.optimizer) == ("RankNet", 3, "descent")
    assert ranker.sizes == (None, 5)


def test_systems_with_other_settings_have_other_labels():
    """Of whatever paper, since all papers share a store."""
    of_deepnet = (shallow.NETS, deep.ALL_METHODS, deepnet_search.GRID, symmetry.FEW_QUERIES, symmetry.ON_TD)
    named = (tables.METHODS, search.SYSTEMS, authors_grid(100, Request()), *of_deepnet, deep._penalties())
    systems = [*(system for some in named for system in some.values()), large.LARGE, large.NESTED, large.AGGREGATED]
    for quick in (False, True):
        entries = [system.entry(Request(quick=quick)) for system in systems]
        settings = {(one.label, str(one.params), one.preset, str(one.grid), one.ranker) for one in entries}
        assert len({label for label, *_ in settings}) == len(settings)
        assert all(one.problems() == [] for one in entries)


def test_repeats_of_a_setting_have_the_seeds_of_a_plan(folder, tmp_path):
    request = Request(folder, seed=7)
    data = {"TD2003": request.collections(("TD2003",))["TD2003"][:1]}
    nested = System("nested-ranker", {"ranker": System("random-ranker"), "sizes": (None, 5)}, repeats=3)
    [plan] = [request.plan(data, [nested], measures=("map",))]
    done = carry_out(plan, tmp_path / "s.sqlite", n_jobs=1, models=tmp_path)
    with Store(tmp_path / "s.sqlite") as store:
        trials = Trials(store, done.keys, tmp_path)
        assert [trial.seed for trial in trials.all] == repeat_seeds(7, 3)
        assert [trials.ranker(trial).ranker.seed for trial in trials.all] == repeat_seeds(7, 3)
        assert len(set(trials.by_seed("TD2003", nested.label(request), "map"))) > 1


def test_fewer_repeats_are_said(folder):
    result = reproduce("ranknet.table2", Request(quick=True, repeats=1))
    assert {len(number.ours) for number in result.numbers} == {1}
    assert "`--repeats 1`" in result.to_markdown()
    assert "--repeats" not in reproduce("ranknet.table2", Request(quick=True)).to_markdown()
    assert [Request(repeats=3).at_most(n) for n in (1, 5)] == [1, 3]
    assert [Request(quick=True).at_most(n) for n in (1, 5)] == [1, 2]


@pytest.mark.parametrize(
    "name", ["ranknet.table1", "ranknet.table2", "ranknet.vectors", "directranker.fig2d", "directranker.theorem3"]
)
def test_pages_with_data_made_from_seeds_print_them(name):
    seeds = ", ".join(map(str, repeat_seeds(3, 2)))
    told = [note for note in reproduce(name, Request(quick=True, seed=3)).notes if note.startswith("Seeds of the ")]
    assert [note.partition(": ")[2] for note in told] == [f"{seeds}."]


def test_a_document_s_time_is_in_microseconds(monkeypatch):
    ticks = count()
    monkeypatch.setattr(models, "time", SimpleNamespace(process_time=lambda: next(ticks) / 1000))
    train, test = easy_data(n_queries=4), easy_data(n_queries=2, n_docs=5, seed=1)
    _, microseconds = models.measured(RankSVM(), Fold("Fold1", train, None, test), None)
    assert microseconds == pytest.approx(1000 / 10)  # a thousandth of a second for ten documents
