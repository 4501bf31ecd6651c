"""Boards and reports: what stands in a table is what the trials say, in every format, whatever the labels look like."""

import csv
import dataclasses
import io
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ordino.cli import main
from ordino.errors import DataError, ParameterError
from ordino.experiment.compare.comparison import bootstrap_interval, compare_values
from ordino.experiment.compare.significance import TESTS, holm
from ordino.experiment.report import text as report
from ordino.experiment.report.board import compare_labels, make_boards
from ordino.experiment.report.notes import count_empty
from ordino.experiment.report.page import FORMATS, choose_format, render
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.trial import QUERY_COUNTS, Trial
from trials import MEASURES, made_trials

HOSTILE = "</script><script>alert(1)</script> | \x1b[31m*a*_b_ & 50% \\cmd{$x^2$} #1 [x](y)\n'\"`"
LABELS = ["LambdaMART", "RankNet", "PRank"]


def a_trial(label, values, *, fold="Fold1", seed=0, measure="map", profile="standard", ids=None):
    values = np.array(values, float)
    return Trial(
        key=f"{label}{fold}{seed}",
        dataset="toy",
        fold=fold,
        ranker="x",
        label=label,
        params={},
        seed=seed,
        profile=profile,
        test={measure: float(np.nanmean(values))},
        per_query={measure: values},
        query_ids=np.arange(len(values)) if ids is None else np.array(ids),
    )


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store("bench.sqlite") as opened:
        for trial in made_trials(LABELS):
            opened.add(trial)
    return tmp_path


def ordino(*words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0


# ---------------------------------------------------------------------------------------------------------------------
# Boards


def test_mean_and_deviation_are_of_trials():
    [board] = make_boards([a_trial("A", [0.2, 0.4], fold="1"), a_trial("A", [0.6, 0.8], fold="2", ids=[7, 8])])
    cell = board.lines[0].cells["map"]
    assert cell.mean == pytest.approx((0.3 + 0.7) / 2)
    assert cell.deviation == pytest.approx(np.sqrt(2 * 0.2**2))
    assert len(board.query_ids) == 4


def test_the_first_measure_shown_ranks_the_lines():
    map_, mrr = ([a_trial(label, values, measure=m) for label, values in zip("AB", of, strict=True)]
                 for m, of in (("map", ([0.9, 0.8], [0.1, 0.2])), ("mrr", ([0.3, 0.3], [0.5, 0.7]))))  # fmt: skip
    both = [
        dataclasses.replace(one, test={**one.test, **other.test}, per_query={**one.per_query, **other.per_query})
        for one, other in zip(map_, mrr, strict=True)
    ]
    assert [line.label for line in make_boards(both)[0].lines] == ["A", "B"]
    assert [line.label for line in make_boards(both, measures=["mrr"])[0].lines] == ["B", "A"]


def test_a_line_tells_the_mean_time_of_a_training():
    trials = [dataclasses.replace(a_trial("A", [i / 4], seed=i), train_seconds=2.0 * i) for i in (1, 2)]
    assert make_boards(trials)[0].lines[0].train_seconds == 3.0


def test_one_experiment_of_several_is_read(store):
    with Store("bench.sqlite") as opened:
        opened.add(dataclasses.replace(a_trial("other", [0.5]), experiment="second"))
    assert {trial.label for trial in StoreView("bench.sqlite").trials()} == {*LABELS, "other"}
    assert [trial.label for trial in StoreView("bench.sqlite", experiment="second").trials()] == ["other"]


def test_repeats_do_not_make_more_queries():
    """Three seeds on the same queries: a query's value is the mean over the seeds, and there are still two queries."""
    [board] = make_boards([a_trial("A", [0.0, 0.3 * seed], seed=seed) for seed in range(3)])
    assert board.lines[0].per_query["map"] == pytest.approx([0.0, (0 + 0.3 + 0.6) / 3])
    assert len(board.lines[0].trials) == 3


def test_queries_pair_by_id_not_by_place():
    boards = make_boards([a_trial("A", [0.1, 0.9], ids=["x", "y"]), a_trial("B", [0.8, 0.2], ids=["y", "x"])])
    assert boards[0].line("B").per_query["map"].tolist() == [0.2, 0.8]


def test_lines_come_best_first_and_lower_errors_are_better():
    trials = [
        a_trial("good", [0.1, 0.2], measure="pairwise_error"),
        a_trial("bad", [0.4, 0.5], measure="pairwise_error"),
    ]
    [board] = make_boards(trials[::-1])
    assert [line.label for line in board.lines] == ["good", "bad"]
    assert board.lines[0].cells["pairwise_error"].is_best


def test_equal_means_are_both_best():
    """0.1 + 0.2 + 0.3 in two orders: not the same double, but the same mean."""
    [board] = make_boards([a_trial("A", [0.1, 0.2, 0.3]), a_trial("B", [0.3, 0.2, 0.1])])
    assert len({line.cells["map"].mean for line in board.lines}) == 2
    assert all(line.cells["map"].is_best for line in board.lines)


def test_marks_are_holm_corrected_tests_over_queries():
    [board] = make_boards(made_trials(LABELS), test="paired-t")
    best = board.lines[0].per_query["ndcg@10"]
    assert board.references["ndcg@10"] == "LambdaMART"
    expected = holm([stats.ttest_rel(board.line(label).per_query["ndcg@10"], best).pvalue for label in LABELS[1:]])
    assert [board.line(label).cells["ndcg@10"].p for label in LABELS[1:]] == pytest.approx(expected)
    assert [board.line(label).cells["ndcg@10"].mark for label in LABELS] == ["", "▼", "▼"]


def test_marks_against_a_baseline_go_both_ways():
    [board] = make_boards(made_trials(LABELS), baseline="RankNet")
    for measure in ("ndcg@10", "pairwise_error"):
        assert [board.line(label).cells[measure].mark for label in LABELS] == ["▲", "", "▼"]
    assert "worse than the baseline RankNet" in " ".join(board.notes)


def test_equal_means_have_no_mark_whatever_the_test_says():
    """15 small gains and a loss as large as all of them: Wilcoxon sees a difference, the means none."""
    [board] = make_boards([a_trial("A", [0.0625] * 15 + [0.0]), a_trial("B", [0.0] * 15 + [0.9375])], baseline="B")
    cell = board.line("A").cells["map"]
    assert cell.p < 0.05
    assert cell.mark == ""


def test_welch_looks_at_trials():
    [board] = make_boards(made_trials(LABELS[:2], folds=4, queries=60), measures=["map"], test="welch")
    means = [[trial.test["map"] for trial in board.line(label).trials] for label in LABELS[:2]]
    expected = pytest.approx(stats.ttest_ind(*means, equal_var=False).pvalue)
    assert board.line("RankNet").cells["map"].p == expected
    assert compare_labels(board, *LABELS[:2])[0].p == expected


def test_each_data_set_and_profile_has_its_board():
    trials = [*made_trials(["A"]), *made_trials(["A"], dataset="other"), *made_trials(["A"], profile="trec")]
    assert [(board.dataset, board.profile) for board in make_boards(trials)] == [
        ("letters", "standard"),
        ("other", "standard"),
        ("letters", "trec"),
    ]


def test_a_baseline_of_another_data_set_gives_way_to_the_best():
    first, second = make_boards([*made_trials(["A", "B"]), *made_trials(["C", "D"], dataset="other")], baseline="B")
    assert first.references["map"] == "B"
    assert second.references["map"] == "C"
    assert "the best of each column" in " ".join(second.notes)


@pytest.mark.parametrize(
    ("trials", "n_empty", "note"),
    [
        ([a_trial("A", [0.5, 0.0, 0.0]), a_trial("B", [0.5, 0.2, 0.0])], 1, "counts as 0; 3 queries, 1 of them empty"),
        ([a_trial("A", [0.5, np.nan], profile="directranker")], 1, "are left out; 2 queries, 1 of them empty"),
        ([a_trial("A", [1.0, 0.5], profile="lightgbm")], None, "an empty query counts as 1; 2 queries."),
        ([a_trial("A", [0.0, 0.5], measure="p@5")], None, "an empty query counts as 0; 2 queries."),
    ],
    ids=["counted 0", "left out", "counted 1", "cannot be told"],
)
def test_empty_queries_are_told(trials, n_empty, note):
    [board] = make_boards(trials)
    assert board.counts.get("n_empty") == n_empty
    assert note in board.notes[0]


def counted(trial, *numbers):
    return dataclasses.replace(trial, query_counts=dict(zip(QUERY_COUNTS, numbers, strict=True)))


def test_counts_of_the_trials_are_told():
    first, second = a_trial("A", [0.5, 0.0, 0.1]), a_trial("A", [0.5, 0.1], fold="Fold2", ids=[5, 6])
    other = [a_trial("B", [0.4, 0.2, 0.0]), a_trial("B", [0.4, 0.2], fold="Fold2", ids=[5, 6])]
    again = a_trial("A", [0.5, 0.1, 0.1], seed=1)
    trials = [counted(first, 1, 2, 3, 1), counted(second, 0, 0, 1, 0), counted(again, 1, 1, 3, 2)]
    trials += [counted(trial, *numbers) for trial, numbers in zip(other, ((1, 0, 3, 1), (0, 0, 1, 0)), strict=True)]
    [board] = make_boards(trials)
    assert board.counts == {"n_empty": 1, "n_short": 4, "n_left_out": 2}  # the most that a trial of a fold says
    assert board.line("A").n_tied == 1.5  # 2 and 1 with two seeds in one fold, 0 in the other
    assert board.notes[0].endswith("5 queries, 1 of them empty, 4 shorter than the largest k, 2 left out of a mean.")
    assert (
        "Queries in which equal scores have different labels: A 1.5; profile standard: they keep the order of the rows."
        in board.notes
    )
    [many] = make_boards([counted(first, 1, 12345, 3, 1)])
    assert "different labels: A 12,345; profile" in " ".join(many.notes)
    rows = list(csv.DictReader(io.StringIO(report.comma_separated([board]))))
    assert {(row["label"], row["n_empty"], row["n_tied"], row["n_short"], row["n_left_out"]) for row in rows} == {
        ("A", "1", "1.5", "4", "2"),
        ("B", "1", "0.0", "4", "2"),
    }


def test_no_ties_are_told_and_unknown_ties_are_not():
    untied = [counted(a_trial(label, [0.5, 0.6]), 0, 0, 0, 0) for label in "AB"]
    assert "In no query do equal scores have different labels." in make_boards(untied)[0].notes
    [board] = make_boards([untied[0], a_trial("B", [0.4, 0.1])])  # one of a store of the first format
    assert not any("equal scores" in note for note in board.notes)
    assert board.line("B").n_tied is None
    assert board.counts == {"n_empty": 0}  # seen from the measures


def test_an_empty_query_is_one_that_no_line_has_a_value_of():
    """A metric may be undefined, or a ranker fail, where there is something relevant."""
    nan = float("nan")
    left_out = [{"map": np.array([nan, 0.5, 0.2]), "pairwise_error": np.array([nan, nan, 0.1])}]
    assert count_empty("directranker", left_out) == {"n_empty": 1}
    as_zero = [{"map": np.array([0.0, 0.5, 0.0])}, {"map": np.array([0.0, 0.0, 0.2]), "mrr": np.zeros(3)}]
    assert count_empty("standard", as_zero) == {"n_empty": 1}


def test_folds_that_share_queries_do_not_count_them_twice():
    shared = [counted(a_trial("A", [0.5, 0.0], fold=fold), 1, 0, 0, 0) for fold in ("Fold1", "Fold2")]
    assert make_boards(shared)[0].counts == {"n_empty": 1}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex to compile the report with")
def test_latex_compiles(tmp_path):
    boards = make_boards(made_trials([*LABELS, HOSTILE, "Größe – naïve"], folds=3, seeds=(0, 1)))
    boards += make_boards(made_trials(["A"], dataset="50%_of {it}"), measures=["map"])
    (tmp_path / "report.tex").write_text(report.latex(boards), encoding="utf-8")
    needs = report.latex(boards).splitlines()[0].removeprefix("% needs ")
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass{{article}}\n{needs}\n\\begin{{document}}\n\\input{{report}}\n\\end{{document}}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout  # a table wider than the text is made smaller
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_a_deviation_is_promised_only_where_there_is_one():
    assert "Each mean is of one trial." in make_boards([a_trial("A", [0.5, 0.6]), a_trial("B", [0.4, 0.1])])[0].notes
    [board] = make_boards([a_trial("A", [0.5, 0.6]), a_trial("A", [0.4, 0.1], seed=1)])
    assert "Mean ± standard deviation over trials (1 fold, 2 seeds)." in board.notes


def test_a_line_that_lacks_folds_is_told():
    trials = [a_trial("A", [0.5, 0.6]), a_trial("A", [0.5, 0.7], fold="Fold2", ids=[5, 6]), a_trial("B", [0.4, 0.1])]
    assert "B is missing 1 fold: its means cover fewer queries and carry no marks." in make_boards(trials)[0].notes
    high, low = np.linspace(0.8, 0.9, 9), np.linspace(0.1, 0.3, 9)
    ahead = [a_trial("A", high), a_trial("B", low)]
    for trials, mark in ((ahead, "▼"), ([*ahead, a_trial("A", high, fold="Fold2", ids=range(20, 29))], "")):
        cell = make_boards(trials)[0].line("B").cells["map"]
        assert cell.p < 0.05
        assert cell.mark == mark


def test_what_is_remembered_of_some_lines_is_not_shown_of_others():
    trials = [a_trial(label, values) for label, values in (("A", [0.5, 0.6]), ("B", [0.4, 0.1]), ("C", [0.3, 0.9]))]
    memory = {}

    def remember(key, make):
        if key not in memory:
            memory[key] = make()
        return memory[key]

    for labels in (["A", "B"], ["B", "C"], ["A"], None):
        [plain], [kept] = (make_boards(trials, labels=labels, **one) for one in ({}, {"remember": remember}))
        assert [line.label for line in kept.lines] == [line.label for line in plain.lines]
        for one, other in zip(plain.lines, kept.lines, strict=True):
            np.testing.assert_array_equal(other.per_query["map"], one.per_query["map"])


def test_a_measure_that_only_some_trials_have():
    [board] = make_boards([a_trial("A", [0.5, 0.6]), a_trial("B", [0.5, 0.7], measure="mrr")])
    assert np.isnan(board.line("A").cells["mrr"].mean)
    assert [line.label for line in board.lines] == ["A", "B"]
    assert "| B | 1 | – | **0.6000** | 0.00 |" in report.markdown([board])


def test_measures_can_be_chosen_by_any_of_their_names():
    [board] = make_boards(made_trials(LABELS), measures=["AP", "NDCG@5"])
    assert board.measures == ["map", "ndcg@5"]
    assert "Also in the store: ndcg@10, p@10, ndcg@1, pairwise_error." in board.notes


# ---------------------------------------------------------------------------------------------------------------------
# Formats


@pytest.fixture
def board():
    return make_boards(made_trials(LABELS), measures=["ndcg@10", "map"])[0]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "html"])
def test_every_format_tells_every_figure(board, name):
    text = render([board], name)
    for line in board.lines:
        assert line.label in text
        for measure in board.measures:
            cell = line.cells[measure]
            assert (f"{cell.mean:.4f}" if name != "csv" else repr(cell.mean)) in text


def test_markdown_rows_have_all_columns(board):
    rows = [line for line in report.markdown([board]).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {len(report.header(board)) + 1}
    assert "| LambdaMART | 2 | **" in rows[2]
    assert rows[3].count("▼") == 2


def test_csv_reads_back(board):
    rows = list(csv.DictReader(io.StringIO(report.comma_separated([board]))))
    assert len(rows) == len(LABELS) * len(MEASURES)
    first = next(row for row in rows if row["label"] == "RankNet" and row["measure"] == "map")
    assert float(first["mean"]) == board.line("RankNet").cells["map"].mean
    assert float(first["p"]) == board.line("RankNet").cells["map"].p
    assert (first["reference"], first["test"], first["queries"]) == ("LambdaMART", "wilcoxon", "30")
    trials = [replace(a_trial("A", [0.5]), train_seconds=8.0, score_seconds=0.25)]
    [row] = csv.DictReader(io.StringIO(report.comma_separated(make_boards(trials))))
    assert (row["train_seconds"], row["score_seconds"]) == ("8.0", "0.25")


def test_terminal_has_colors_only_on_a_terminal(board):
    assert "\x1b[" not in report.terminal([board])
    assert "\x1b[" in report.terminal([board], styled=True)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "html"])
def test_hostile_labels_stay_text(name):
    trials = [dataclasses.replace(trial, dataset=HOSTILE) for trial in made_trials([HOSTILE, "B"])]
    text = render(make_boards(trials, measures=["map"], baseline=HOSTILE), name)
    if name == "csv":
        assert next(csv.DictReader(io.StringIO(text)))["label"] == HOSTILE
    else:
        assert "\x1b" not in text
    if name == "markdown":
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert len(rows) == 4
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
        assert not re.search(r"(?<!\\)[<`]", text)
    if name == "latex":
        assert r"\textbackslash{}cmd\{\$x\textasciicircum{}2\$\} \#1" in text
        assert text.count("\n\\begin{tabular}") == 1


def test_format_by_the_name_of_the_file():
    assert [choose_format(None, f"x{entry.suffix}") for entry in FORMATS.values() if entry.suffix] == list(FORMATS)[1:]


def test_reports_are_quick(tmp_path):
    """100 trials with 784 queries each, stored and reported: 2 s of processor time."""
    trials = made_trials([f"ranker {i}" for i in range(20)], folds=5, queries=784 * 5)
    start = time.process_time()
    with Store(tmp_path / "s.sqlite") as opened:
        for trial in trials:
            opened.add(trial)
    boards = make_boards(StoreView(tmp_path / "s.sqlite"))
    for name in ("terminal", "markdown"):
        assert "ranker 19" in render(boards, name)
    assert time.process_time() - start < 2


# ---------------------------------------------------------------------------------------------------------------------
# Two rankers


def test_comparison_by_hand():
    nan = np.nan
    [found] = compare_values({"map": [0.5, 0.4, nan, 0.9, 0.1, 0.8]}, {"map": [0.3, 0.4, 0.7, 0.2, 0.2, nan]})
    assert (found.mean_a, found.mean_b) == (pytest.approx(1.9 / 4), pytest.approx(1.1 / 4))
    assert found.difference == pytest.approx((0.2 + 0.0 + 0.7 - 0.1) / 4)
    assert found.effect == pytest.approx(0.2 / np.sqrt((0.0**2 + 0.2**2 + 0.5**2 + 0.3**2) / 3))
    assert (found.n_queries, found.n_above, found.n_equal, found.n_below) == (4, 2, 1, 1)
    assert found.interval == bootstrap_interval([0.5 - 0.3, 0.0, 0.9 - 0.2, 0.1 - 0.2])


def test_the_more_measures_are_compared_the_larger_is_each_p():
    a, b = {"map": [1, 2, -3, 4, 5, 6], "mrr": [1, 2, 3, 4, 5, 6]}, {name: [0] * 6 for name in ("map", "mrr")}
    alone = [compare_values({name: a[name]}, b)[0].p for name in a]
    assert alone[0] > alone[1] == 2 / 2**6
    assert [found.p for found in compare_values(a, b)] == holm(alone).tolist() == [alone[0], 2 * alone[1]]


def test_comparison_needs_queries_in_common():
    with pytest.raises(DataError, match="map: the two rankers have no query in common"):
        compare_values({"map": [0.5, np.nan]}, {"map": [np.nan, 0.5]})


def test_compare_labels_of_a_store(store, capsys):
    assert ordino("compare", "bench.sqlite", "LambdaMART", "PRank", "--metrics", "map,p@10", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    [(title, found)] = printed.items()
    assert title == "LambdaMART against PRank on letters (profile standard)"
    assert [row["measure"] for row in found] == ["map", "p@10"]
    [board] = make_boards(StoreView("bench.sqlite"))
    d = board.line("LambdaMART").per_query["map"] - board.line("PRank").per_query["map"]
    assert found[0]["difference"] == pytest.approx(d.mean())
    assert found[0]["n_above"] == np.sum(d > 0)


@pytest.mark.parametrize("test", TESTS)
def test_compare_prints_a_table_for_every_test(store, capsys, test):
    assert ordino("compare", "bench.sqlite", "LambdaMART", "PRank", "--test", test) == 0
    printed = capsys.readouterr().out
    told = "p is of each metric alone, p of 6 is Holm-corrected for the 6 metrics; 30 queries in both"
    assert f"{TESTS[test].title}: {told}" in printed


def test_compare_of_two_runs_takes_common_queries(store, capsys):
    (store / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 a 1\n")
    (store / "one").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n2 Q0 b 1 2.0 x\n2 Q0 a 2 1.0 x\n3 Q0 a 1 1.0 x\n")
    (store / "two").write_text("3 Q0 a 1 1.0 x\n2 Q0 a 1 2.0 x\n2 Q0 b 2 1.0 x\n")
    assert ordino("compare", "one", "two", "--qrels", "qrels", "-m", "mrr", "--json") == 0
    [[found]] = json.loads(capsys.readouterr().out).values()
    # query 2: 1/2 and 1; query 3: 1 and 1; the second has no query 1
    assert (found["n_queries"], found["difference"], found["n_equal"], found["n_below"]) == (2, -0.25, 1, 1)


# ---------------------------------------------------------------------------------------------------------------------
# The command


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "html"])
def test_report_prints_and_writes(store, capsys, name):
    assert ordino("report", "bench.sqlite", "--format", name, "-m", "map") == 0
    printed = capsys.readouterr().out
    assert "LambdaMART" in printed
    assert ordino("report", "bench.sqlite", "--format", name, "-m", "map", "--out", "x") == 0
    assert (store / "x").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["report", "missing.sqlite"], "missing.sqlite: there is no such store; `ordino bench` makes one"),
        (["report", "empty.sqlite"], "empty.sqlite: has no trial that was evaluated on test data"),
        (["report", "bench.sqlite", "--baseline", "RankNets"], "unknown baseline 'RankNets'; did you mean 'RankNet'?"),
        (["report", "bench.sqlite", "--test", "t"], "unknown test 't'; choose from: fisher, paired-t, welch, wilcoxon"),
        (["report", "bench.sqlite", "--format", "word"], "unknown format 'word'; choose from: csv, html, latex"),
        (
            ["report", "bench.sqlite", "--out", "x.doc"],
            "x.doc: no format has this extension; use one of .txt, .md, .tex",
        ),
        (["report", "bench.sqlite", "-m", "mrr"], "mrr is not in the store; it holds: ndcg@10, map"),
        (["report", "bench.sqlite", "--experiment", "x"], "unknown experiment 'x'"),
        (["compare", "bench.sqlite", "RankNet", "RankMart"], "unknown label 'RankMart'"),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, list) else None,
)
def test_what_goes_wrong_is_one_sentence(store, capsys, words, sentence):
    Store("empty.sqlite").close()
    assert ordino(*words) == 1
    error = capsys.readouterr().err
    assert error.startswith("ordino: ")
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("words", [["a", "b"], ["s", "--data", "x"], ["a"], ["a", "b", "--data", "x", "--qrels", "y"]])
def test_compare_says_how_it_is_called(store, capsys, words):
    assert ordino("compare", *words) == 2
    assert "give STORE A B, or two files" in capsys.readouterr().err


def test_a_label_that_a_board_lacks():
    with pytest.raises(ParameterError, match="unknown label 'B'"):
        make_boards(made_trials(["A"]))[0].line("B")


def test_text_reports_load_no_picture_library(store):
    code = "import sys\nfrom ordino.cli import main\ntry: main(['report', 'bench.sqlite'])\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*(m for m in ('altair', 'torch', 'vl_convert') if m in sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == ""


def test_compare_takes_the_data_that_both_were_run_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trials = [a_trial(label, [0.5, 0.6]) for label in "AB"]
    trials += [dataclasses.replace(a_trial(label, [0.5, 0.6]), key=f"{label}2", dataset="other") for label in "AC"]
    with Store("bench.sqlite") as opened:
        for trial in trials:
            opened.add(trial)
    assert ordino("compare", "bench.sqlite", "A", "B") == 0
    printed = capsys.readouterr().out
    assert "A against B on toy" in printed
    assert "other" not in printed
    assert ordino("compare", "bench.sqlite", "B", "C") == 1
    assert "bench.sqlite: B and C were never run on the same data and profile" in capsys.readouterr().err


def test_equal_values_averaged_over_other_numbers_of_seeds_are_ties():
    values = np.tile([0.1, 0.2, 0.6, 0.7], 15)
    # one more query, in which the seeds differ: without it they would be copies, of which one counts
    repeated = [a_trial("repeated", [*values, seed / 4], seed=seed) for seed in range(3)]
    [board] = make_boards([*repeated, a_trial("once", values)], baseline="once")
    assert (np.abs(board.line("repeated").per_query["map"][:60] - values) > 0).any()  # rounding, nothing else
    assert board.line("repeated").cells["map"].p == 1.0
    [found] = compare_labels(board, "repeated", "once")
    assert (found.n_above, found.n_equal, found.n_below) == (0, 60, 0)


def test_nothing_is_marked_where_mean_and_ranks_disagree():
    def trial(label, values):
        return Trial(
            key=label, dataset="d", fold="Fold1", ranker="ranknet", label=label, params={}, seed=0, profile="standard",
            test={"map": float(np.mean(values))}, per_query={"map": values}, query_ids=np.arange(len(values)),
        )  # fmt: skip

    often, once = np.full(40, 0.5), np.full(40, 0.49)  # the second is a little worse on 38 queries, much better on two
    once[:2] = 1.0
    for scores, mark in ((once, ""), (np.where(once < 0.5, 0.3, 0.5), "▼")):
        [board] = make_boards([trial("often", often), trial("once", scores)], baseline="often", test="wilcoxon")
        cell = board.line("once").cells["map"]
        assert cell.p < 0.001
        assert cell.mark == mark


def test_a_baseline_that_the_labels_leave_out_is_told():
    with pytest.raises(ParameterError, match="unknown baseline 'RankNet'"):
        make_boards(made_trials(LABELS), baseline="RankNet", labels=[one for one in LABELS if one != "RankNet"])


def test_rankers_that_were_chosen_by_different_metrics_are_named():
    chosen = {"LambdaMART": "map", "RankNet": "ndcg@1", "PRank": ""}
    trials = [dataclasses.replace(trial, chosen_by=chosen[trial.label]) for trial in made_trials(LABELS)]
    (board,) = make_boards(trials)
    said = "Rounds, epochs and settings were chosen on validation data by map for LambdaMART; ndcg@1 for RankNet."
    assert said in board.notes
    (board,) = make_boards([dataclasses.replace(trial, chosen_by="map") for trial in trials])
    assert "Rounds, epochs and settings were chosen on validation data by map." in board.notes
    (board,) = make_boards(made_trials(LABELS))
    assert not [note for note in board.notes if "chosen" in note]


@pytest.mark.parametrize("metric", ["map", "pairwise_error"])
def test_the_ranker_that_is_named_first_is_a(store, capsys, metric):
    found = []
    for a, b in (("LambdaMART", "PRank"), ("PRank", "LambdaMART")):
        assert ordino("compare", "bench.sqlite", a, b, "--metrics", metric, "--json") == 0
        [(title, [row])] = json.loads(capsys.readouterr().out).items()
        assert title.startswith(f"{a} against {b} on ")
        found.append(row)
    [board] = make_boards(StoreView("bench.sqlite"))
    there, back = found
    assert there["mean_a"] == pytest.approx(board.line("LambdaMART").per_query[metric].mean())
    assert (there["mean_a"], there["mean_b"]) == (back["mean_b"], back["mean_a"])
    assert (there["n_above"], there["n_below"]) == (back["n_below"], back["n_above"])
    assert there["difference"] == -back["difference"] != 0
