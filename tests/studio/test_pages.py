"""Board and Compare by their text: figures, links, files; what comes from data is escaped; who gets in."""

import re
from html import unescape
from itertools import combinations
from urllib.parse import quote

import numpy as np
import pytest
from scipy import stats

from ordino.experiment.report.board import make_boards
from ordino.experiment.report.board_view import view_board, view_pairs
from ordino.experiment.report.page import html
from ordino.experiment.report.text import comma_separated
from ordino.experiment.store import Store, StoreView, Trial
from ordino.pages.numbers import chance_is
from ordino.studio.app import Studio
from ordino.studio.ask import Ask
from ordino.studio.frame import NAV
from ordino.studio.sources import find_sources
from ordino.studio.views import VIEWS
from studio_place import HOSTILE, TOKEN, heading, links, open_studio, text_of
from trials import MEASURES, made_trials

PAGES = [entry.name for group in NAV.values() for entry in group]


def test_every_page_has_a_view():
    assert set(PAGES) == set(VIEWS)


@pytest.mark.parametrize("page", PAGES)
def test_pages_answer_and_escape_everything(studio, page):
    answer = studio.get(f"/{page}")
    assert answer.status_code == 200, text_of(answer)
    body = answer.text
    assert "<script>window" not in body
    assert "<img/src" not in body
    assert "url_<b>" not in body
    assert "49" not in re.findall(r"&amp;(\d+)", body)
    assert body.count("<h1") == 1


@pytest.mark.parametrize("page", [*PAGES, "query?rankers=" + quote(HOSTILE), "why?ranker=" + quote(HOSTILE), "nowhere"])
def test_pages_need_no_inline_style_or_script(studio, page):
    """What the policy forbids is not there; the policy itself is in every answer."""
    answer = studio.get(f"/{page}")
    tags = re.findall(r"<[a-zA-Z][^>]*>", answer.text)
    assert not [tag for tag in tags if re.search(r"""\s(style|on[a-z]+)\s*=\s*["']""", re.sub(r'="[^"]*"', '=""', tag))]
    assert all("src=" in tag for tag in tags if tag.startswith("<script"))
    assert "<style" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_pages_are_within_their_budget(studio):
    sizes = {page: len(studio.get(f"/{page}").content) for page in PAGES}
    sizes["20 places"] = len(
        studio.get("/query?places=20&rankers=" + "%0A".join(["LambdaMART", "Depth", "Slashes"])).content
    )
    assert max(sizes.values()) < 150_000, sizes


# ---------------------------------------------------------------------------------------------------------------------
# The door


def test_a_stranger_is_kept_out(studio):
    studio_app = studio.app
    from starlette.testclient import TestClient

    stranger = TestClient(studio_app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    assert stranger.get("/board").status_code == 401
    assert stranger.get("/static/studio.css").status_code == 401
    assert "ordino studio" in stranger.get("/board", headers={"accept": "text/html"}).text
    assert stranger.get("/board", params={"token": "wrong" * 5}).status_code == 401
    answer = stranger.get("/board", params={"token": TOKEN, "sort": "map"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/board?sort=map")
    foreign = TestClient(studio_app, base_url="http://evil.example:8000", cookies=dict(studio.cookies))
    assert foreign.get("/board").status_code == 421


def test_reading_pages_take_no_posts(studio):
    for page in ("board", "query", "data"):
        assert studio.post(f"/{page}", content="x=1").status_code == 405


def test_files_outside_the_shelf_are_not_served(studio):
    for name in ("../environment.py", "%2e%2e%2fenvironment.py", "no-such-file.js"):
        assert studio.get(f"/static/{name}").status_code == 404
    assert studio.get("/static/studio.css").headers["content-type"].startswith("text/css")


# ---------------------------------------------------------------------------------------------------------------------
# Board


def test_board_shows_the_report_s_figures(studio, place):
    body = text_of(studio.get("/board"))
    with StoreView(place.store) as view:
        [board, *_] = make_boards(view)
        for line in board.lines:
            assert line.label in body
            for name in board.measures:
                assert f"{line.cells[name].mean:.4f}".replace("nan", "–") in body
        for note in board.notes:
            assert note in body
    n = len(board.lines) - 1
    assert f"Holm-corrected for {n} comparisons" in body
    assert f"Holm-corrected for all {n * (n + 1) // 2} pairs" in body


def test_every_mark_tells_its_family(studio):
    told = re.findall(r'class="mark (?:ahead|behind)"[^>]*title="([^"]*)"', studio.get("/board").text)
    assert told
    assert all(re.search(r"p [=<] \S+ against .+, corrected for \d+ comparisons$", unescape(one)) for one in told)


def test_board_sorts_by_the_address_and_turns(studio):
    def first_column(address):
        rows = re.findall(r'<tr><th scope="row" class="sticky"><a[^>]*>(.*?)</a>', studio.get(address).text)
        return [unescape(row.replace("<wbr>", "")) for row in rows]

    names = first_column("/board?sort=label")
    assert names == sorted(names, key=str.lower)
    assert first_column("/board?sort=label&order=turned") == names[::-1]
    assert first_column("/board?sort=map") != first_column("/board?sort=map&order=turned")
    assert 'aria-sort="descending"' in studio.get("/board?sort=map").text
    assert "/board?sort=map&order=turned" in links(studio.get("/board?sort=map"), "board")


def test_hiding_rankers_leaves_the_comparisons(studio):
    some = studio.get("/board?containing=depth")
    assert len(re.findall(r'<tr><th scope="row" class="sticky"><a', some.text)) == 1
    assert "corrected for 8 comparisons" in some.text  # of the nine rankers that have been run
    assert "No ranker has “zzz” in its name." in text_of(studio.get("/board?containing=zzz"))


def test_a_baseline_marks_both_ways(studio):
    body = studio.get("/board?against=Depth").text
    assert "▲" in body
    assert "the baseline Depth" in text_of(studio.get("/board?against=Depth"))
    assert studio.get("/board?against=Nobody").status_code == 404


def test_measures_are_chosen(studio):
    body = studio.get("/board?measures=mrr&measures=map").text
    assert body.index(">MRR<") < body.index(">MAP<")
    assert ">NDCG@10</a>" not in body


def test_the_measures_that_can_be_chosen_are_those_of_the_data_that_is_shown(tmp_path):
    trials = [*made_trials(["A", "B"], dataset="all"), *made_trials(["A", "B"], dataset="one")]
    for trial in trials[4:]:
        for values in (trial.test, trial.per_query):
            for name in set(values) - {"map"}:
                del values[name]
    with Store(tmp_path / "two.sqlite") as store:
        store.add(*trials)
    studio = Studio(find_sources([tmp_path / "two.sqlite"]))
    stored = {name: VIEWS["board"](studio, Ask("board", [("data", name)]))["stored"] for name in ("all", "one")}
    assert stored == {"all": list(MEASURES), "one": ["map"]}


@pytest.mark.parametrize("kind", ["md", "tex", "csv"])
def test_a_board_can_be_taken_along(studio, kind):
    answer = studio.get(f"/board.{kind}?test=paired-t")
    assert answer.headers["content-disposition"].endswith(f'.{kind}"')
    assert "LambdaMART" in answer.text


def test_the_csv_is_the_report_s(studio, place):
    with StoreView(place.store) as view:
        boards = make_boards(view)
        assert studio.get("/board.csv").text == comma_separated(boards[:1])


def test_every_pair_is_the_test_of_the_two(place):
    with StoreView(place.store) as view:
        [board, *_] = make_boards(view)
    pairs = view_pairs(board, "map")
    assert pairs.n_pairs == len(board.lines) * (len(board.lines) - 1) // 2
    for label, cells in pairs.rows:
        for cell in filter(None, cells):
            d = board.line(label).per_query["map"] - board.line(cell.other).per_query["map"]
            assert (cell.wins, cell.losses) == ((d > 1e-12).sum(), (d < -1e-12).sum())


@pytest.mark.parametrize(("test", "peer"), [("wilcoxon", stats.wilcoxon), ("paired-t", stats.ttest_rel)])
def test_the_matrix_of_every_pair_says_what_scipy_says_pair_by_pair(test, peer):
    [board] = make_boards(made_trials([f"R{i}" for i in range(7)], queries=160), measures=["map"], test=test)
    values = {line.label: line.per_query["map"] for line in board.lines}
    rng = np.random.default_rng(0)
    for place, (label, own) in enumerate(values.items()):
        own[:] = np.round(64 * (0.5 - 0.006 * place + rng.normal(0, 0.05, 160))) / 64  # many differences are equal
        own[rng.random(160) < 0.1] = np.nan
        board.line(label).cells["map"].__dict__["mean"] = np.nanmean(own)
    alone = {}
    for a, b in combinations(values, 2):
        both = ~np.isnan(values[a] - values[b])
        d = values[a][both] - values[b][both]
        alone[a, b] = d, float(peer(d, np.zeros(len(d))).pvalue), np.sum(np.sign(d) * stats.rankdata(np.abs(d)))
    family, corrected, chance = len(alone), {}, 0.0
    for done, (pair, (_, p, _)) in enumerate(sorted(alone.items(), key=lambda one: one[1][1])):
        chance = corrected[pair] = min(1.0, max(chance, (family - done) * p))
    pairs = view_pairs(board, "map")
    found = {(label, cell.other): cell for label, cells in pairs.rows for cell in filter(None, cells)}
    assert len(found) == 2 * family == 42
    for (a, b), (d, _, leaning) in alone.items():
        ahead = np.sign(d.mean()) if test != "wilcoxon" or d.mean() * leaning > 0 else 0
        expected = {1: "▲", -1: "▼"}.get(ahead, "") if corrected[a, b] < 0.05 else ""
        there, back = found[a, b], found[b, a]
        assert (there.wins, there.losses, there.mark) == ((d > 0).sum(), (d < 0).sum(), expected)
        assert (back.wins, back.losses, back.mark) == (
            (d < 0).sum(),
            (d > 0).sum(),
            {"▲": "▼", "▼": "▲"}.get(expected, ""),
        )
        assert f"; {chance_is(corrected[a, b])}, corrected for 21 pairs" in there.told
    assert {cell.mark for cell in found.values()} == {"▲", "▼", ""}


def test_a_line_far_away_does_not_stretch_the_axis():
    [board] = make_boards(made_trials(["A", "B", "C"]), measures=["map"])
    line = board.lines[-1]
    line.per_query["map"][:] -= 50.0
    line.cells["map"].__dict__["mean"] -= 50.0
    view = view_board(board)
    assert view.away == "left"
    assert [bool(row.dots.mean) for row in view.rows] == [True, True, False]


def test_where_less_is_better_the_best_are_on_the_axis_and_the_worst_may_lie_beyond():
    [board] = make_boards(made_trials(["A", "B", "C"]), measures=["pairwise_error"])
    line = board.lines[-1]
    line.per_query["pairwise_error"][:] += 50.0
    line.cells["pairwise_error"].__dict__["mean"] += 50.0
    view = view_board(board)
    assert [(bool(row.dots.mean), row.dots.away) for row in view.rows] == [(True, ""), (True, ""), (False, "right")]
    assert view.away == "right"
    assert "further right than the axis goes" in html([board])


def test_of_one_query_there_is_no_interval_and_nothing_lies_beyond_the_axis():
    [board] = make_boards(made_trials(["A", "B"], folds=1, queries=1, empty=0), measures=["map"])
    view = view_board(board)
    assert [(row.dots.told, row.dots.away) for row in view.rows] == [
        (f"{line.cells['map'].mean:.4f}", "") for line in board.lines
    ]
    assert view.away == ""
    assert "than the axis goes" not in html([board])


# ---------------------------------------------------------------------------------------------------------------------
# Compare


def test_compare_calls_nobody_ahead_where_test_and_means_disagree(tmp_path):
    often, rarely = np.full(60, 0.52), np.full(60, 0.5)
    often[:4] = 0.0  # many small gains, a few large losses
    rarely[:4] = 1.0
    with Store(tmp_path / "web.sqlite") as store:
        for label, values in (("Often", often), ("Rarely", rarely)):
            store.add(Trial(key=label, dataset="web", fold="Fold1", ranker="ranknet", label=label, params={}, seed=0,
                            profile="standard", test={"map": values.mean()}, per_query={"map": values},
                            query_ids=np.arange(60)))  # fmt: skip
    client = open_studio(tmp_path / "web.sqlite")
    for a, b in (("Often", "Rarely"), ("Rarely", "Often")):
        told = "Rarely has the better mean of MAP, but the test favors Often: neither is ahead."
        assert heading(client.get(f"/compare?a={a}&b={b}")) == told


def test_compare_tells_p_alone_and_of_its_family(studio):
    body = text_of(studio.get("/compare?a=LambdaMART&b=RandomRanker"))
    assert re.search(
        r"p [=<] \S+ for this measure alone by Wilcoxon, \S.* after Holm’s correction for the four measures", body
    )
    assert "p alone" in body
    assert "p of four" in body


def test_a_brush_picks_queries(studio):
    every = studio.get("/compare?a=LambdaMART&b=RandomRanker")
    some = studio.get("/compare?a=LambdaMART&b=RandomRanker&low=0.1&high=2")
    rows = re.findall(r"<td>([+−]?[\d.]+)</td><td class=\"left\"><svg class=\"bars\"", some.text)
    values = [float(row.replace("−", "-")) for row in rows]
    assert values
    assert min(values) >= 0.1
    assert f"The {len(values)} queries that are picked" in text_of(some)
    assert "The queries that moved most" in text_of(every)
    none = text_of(studio.get("/compare?a=LambdaMART&b=RandomRanker&low=0.998&high=0.999"))
    assert "No query has a difference between 1.00 and 1.00." in none


def test_the_queries_that_moved_are_told_with_their_own_values(tmp_path):
    """Also where some queries do not count: each line has the name, the values and the size of one and the same."""
    trials = made_trials(["A", "B"], folds=1)
    for trial in trials:
        trial.per_query["map"][[0, 3, 4, 11]] = np.nan
    with Store(tmp_path / "holes.sqlite") as store:
        store.add(*trials)
    shown = VIEWS["compare"](Studio(find_sources([tmp_path / "holes.sqlite"])), Ask("compare", [("measure", "map")]))
    a, b = (dict(zip(map(str, one.query_ids), one.per_query["map"].tolist(), strict=True)) for one in trials)
    assert len(shown["rows"]) == 25
    assert shown["n_queries"] == 26
    for row in shown["rows"]:
        assert (row.a, row.b) == (a[row.query], b[row.query])
        assert row.difference == row.a - row.b


def test_a_limit_that_is_no_number_is_refused_in_a_sentence(studio):
    answer = studio.get("/compare?low=-0,2")
    assert answer.status_code == 400
    assert (
        "low must be a number; it is “-0,2”. Nothing was changed. Write the decimal point as a dot: -0.2."
        in text_of(answer)
    )


def test_long_tables_of_queries_have_pages(studio):
    first = studio.get("/compare?a=LambdaMART&b=RandomRanker")
    assert not [one for one in links(first, "compare") if "from=26" in one]  # there are 24 queries
    assert len(links(first, "query?")) >= 24


def apart(folder):
    """Two rankers that were run on different folds."""
    path = folder / "apart.sqlite"
    trials = made_trials(["A", "B"], folds=2, seeds=(0, 1, 2))
    with Store(path) as store:
        store.add(*(one for one in trials if (one.label, one.fold) in (("A", "Fold1"), ("B", "Fold2"))))
    return path


def test_rankers_without_a_common_query_are_compared_by_their_trials(tmp_path):
    from scipy.stats import ttest_ind

    path = apart(tmp_path)
    answer = open_studio(path).get("/compare?a=A&b=B")
    assert heading(answer) == "A and B have no query in common, so that no paired test can be made."
    body = text_of(answer)
    assert "by Welch’s t-test" in body
    assert "p of six" in body
    with StoreView(path) as view:
        means = [[trial.test["map"] for trial in view.trials() if trial.label == label] for label in "AB"]
    p = ttest_ind(*means, equal_var=False).pvalue
    assert f"MAP{np.mean(means[0]) - np.mean(means[1]):+.4f}{p:.3f}".replace("-", "−") in body.replace(
        "< 0.001", "0.000"
    )


def test_the_command_line_does_the_same(tmp_path, capsys):
    from shell import ordino

    assert ordino("compare", apart(tmp_path), "A", "B", "--metrics", "map,p@10") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Welch's t-test: the two have no query in common" in printed
    assert "p of 2 is Holm-corrected for the 2 metrics" in printed


def test_a_test_over_trials_says_so(studio):
    body = text_of(studio.get("/compare?a=LambdaMART&b=Depth&test=welch"))
    assert "for this measure alone by Welch over the means of three and three trials" in body
    board = text_of(studio.get("/board?test=welch"))
    assert "by Wilcoxon, Holm-corrected for all" in board  # every pair is one of queries
