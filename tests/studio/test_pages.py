"""What the pages of the studio say, by their text: figures, links, states; what comes from data is escaped."""

import re
import shutil
import sqlite3
from html import unescape
from itertools import pairwise
from urllib.parse import quote

import numpy as np
import pytest

from ordino.experiment.report.board import make_boards
from ordino.experiment.report.board_view import view_board, view_pairs
from ordino.experiment.report.text import comma_separated
from ordino.experiment.store import Store, StoreView, Trial
from ordino.experiment.store.file_format import VERSION
from ordino.experiment.store.kept import Kept, kept_path
from ordino.explain import why
from ordino.model_file import load
from ordino.studio.frame import NAV
from ordino.studio.views import VIEWS
from ordino.studio.views.judge import read_grades
from studio_place import HOSTILE, LONG, TOKEN, open_studio
from trials import made_trials

PAGES = [entry.name for group in NAV.values() for entry in group]


def text_of(answer):
    """What a reader sees of a page."""
    body = re.sub(r"<(style|script|template)\b.*?</\1>", " ", answer.text, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body.replace("<wbr>", ""))).split())


def heading(answer):
    return " ".join(unescape(re.sub(r"<[^>]+>", "", re.search(r"<h1.*?>(.*?)</h1>", answer.text, re.S)[1])).split())


def links(answer, page):
    return [unescape(found) for found in re.findall(rf'href="(/{page}[^"]*)"', answer.text)]


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
    sizes = {page: len(studio.get(f"/{page}").content) for page in PAGES if page != "papers"}
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


def test_a_line_far_away_does_not_stretch_the_axis():
    [board] = make_boards(made_trials(["A", "B", "C"]), measures=["map"])
    line = board.lines[-1]
    line.per_query["map"][:] -= 50.0
    line.cells["map"].__dict__["mean"] -= 50.0
    view = view_board(board)
    assert view.has_away
    assert [bool(row.dots.mean) for row in view.rows] == [True, True, False]


# ---------------------------------------------------------------------------------------------------------------------
# Compare


def test_compare_tells_p_alone_and_of_its_family(studio):
    body = text_of(studio.get("/compare?a=LambdaMART&b=RandomRanker"))
    assert re.search(r"p [=<] \S+ for this measure alone, .* after Holm’s correction for the four measures below", body)
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


# ---------------------------------------------------------------------------------------------------------------------
# Query and Why


def test_query_shows_the_kept_order(studio, place):
    with StoreView(place.store) as view, Kept(kept_path(place.store)) as kept:
        [board, *_] = make_boards(view)
        trial = next(one for one in board.line("LambdaMART").trials if one.fold == "Fold1")
        query = dict(view.query_ids())[trial.key][0]
        found = kept.query(trial.data, 0, [trial.key])
    order = np.argsort(-found.scores[trial.key], kind="stable")
    best = found.doc_ids[order[0]]
    answer = studio.get(f"/query?query={query}&rankers=LambdaMART")
    titles = re.findall(r"<title>(.*?)</title><g", answer.text)
    assert any(unescape(one).startswith(best) and unescape(one).endswith("LambdaMART 1") for one in titles)
    assert f"{len(found.labels)} documents" in text_of(answer)


def test_more_than_six_rankers_and_twenty_places(studio, place):
    with StoreView(place.store) as view:
        labels = [line.label for line in make_boards(view)[0].lines]
    answer = studio.get("/query", params=[("places", "20"), *(("rankers", one) for one in labels)])
    assert answer.status_code == 200
    assert "slope-scroll" in answer.text
    assert text_of(answer).count(LONG[:5]) >= 1
    width = float(re.search(r'viewBox="0 0 ([\d.]+) [\d.]+" role="group" aria-labelledby="wide', answer.text)[1])
    assert width > 1200


def test_the_costliest_pair_is_the_best_exchange(studio):
    """By trying every exchange of two documents of the shown query."""
    from ordino.metrics import parse_metric
    from ordino.studio.shelf import Opened, Place
    from ordino.studio.views.query import costliest

    random = np.random.default_rng(0)
    metric = parse_metric("ndcg@5")
    for _ in range(20):
        n = int(random.integers(2, 12))
        labels, scores = random.integers(0, 4, n).astype(float), random.random(n)
        opened = Opened(Place("1", "Fold1", 0), [f"d{i}" for i in range(n)], labels, {"R": scores})
        order = np.argsort(-scores)

        def value(y):
            return float(np.nan_to_num(metric.per_query(y, -np.arange(len(y), dtype=float), np.array([0, len(y)]))[0]))

        y = labels[order]
        now, best = value(y), 0.0
        for i in range(n):
            for j in range(i + 1, n):
                swapped = y.copy()
                swapped[[i, j]] = y[[j, i]]
                best = max(best, value(swapped) - now)
        found = costliest(opened, "R", "ndcg@5", "standard", now)
        assert (found.adds if found else 0.0) == pytest.approx(best, abs=1e-9)


def test_there_is_no_such_query(studio):
    answer = studio.get("/query?query=177")
    assert answer.status_code == 404
    assert "There is no query 177; the last is" in text_of(answer)


def pair_of(studio, ranker="LambdaMART"):
    answer = studio.get("/query", params={"rankers": ranker})
    return next(one for one in links(answer, "why") if f"ranker={ranker}" in one)


def test_why_divides_the_difference(studio, place):
    address = pair_of(studio)
    answer = studio.get(address)
    assert answer.status_code == 200, text_of(answer)
    body = text_of(answer)
    whole = float(re.search(r"The difference of ([+−][\d.]+)", body)[1].replace("−", "-"))
    every = studio.get(f"{address}&top=99")
    parts = re.findall(r"</svg></td><td>([+−]?[\d.]+)</td><td class=\"field\">", every.text)
    assert len(parts) == 12
    assert sum(float(part.replace("−", "-")) for part in parts) == pytest.approx(whole, abs=2e-3)
    assert "LambdaMART puts" in heading(answer)


def test_why_is_the_explain_layer_s(studio, place):
    """The page's figures are those of ordino.explain.why on the kept model and documents."""
    from urllib.parse import parse_qs, urlsplit

    from ordino.data.dataset import Dataset
    from ordino.experiment.run.driver import documents_path, model_path
    from ordino.experiment.store.kept import models_folder

    address = pair_of(studio)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    with StoreView(place.store) as view:
        queries = dict(view.query_ids())
        trial = next(
            one for one in make_boards(view)[0].line("LambdaMART").trials if int(asked["query"]) in queries[one.key]
        )
    folder = models_folder(place.store)
    data = Dataset.open(documents_path(folder, trial.data))
    query = data.select_queries([queries[trial.key].index(int(asked["query"]))])
    ids = [str(one) for one in query.doc_ids]
    found = why(load(model_path(folder, trial.key)), ids.index(asked["a"]), ids.index(asked["b"]), query=query)
    body = text_of(studio.get(address))
    assert f"The difference of {found.difference:+.4f}".replace("-", "−") in body
    assert found.reasons[0].feature in body


def test_an_edit_moves_the_document(studio):
    address = pair_of(studio)
    before = studio.get(address)
    feature = unescape(re.search(r'name="edit\.([^"]+)"', before.text)[1])
    after = studio.get(f"{address}&edit.{quote(feature)}=1000000")
    body = text_of(after)
    assert "It would stand" in body
    assert "Undo all edits" in body
    assert 'class="edited"' in after.text
    wrong = studio.get(f"{address}&edit.{quote(feature)}=7%2C8")
    assert wrong.status_code == 400
    assert "must be a number; it is “7,8”." in text_of(wrong)


# ---------------------------------------------------------------------------------------------------------------------
# The other pages


def test_data_shows_the_doctor_s_findings(studio, place):
    from ordino.data.doctor import examine

    body = text_of(studio.get("/data"))
    for one in examine({place.data.name: place.trials}):
        assert one.what in body
        assert one.fix in body


def test_run_tells_what_is_done_and_how_to_go_on(studio, place):
    body = text_of(studio.get("/run"))
    assert "The run has ended; all its trials are done." in body
    assert "ordino bench web.arrow" in body


def test_run_under_way_and_stopped(place, tmp_path, studio):
    import os

    shutil.copy(place.store, tmp_path / "web.sqlite")
    shutil.copy(kept_path(place.store), tmp_path / "web.kept.sqlite")
    telling = tmp_path / "telling"
    telling.mkdir()
    tasks = [{"dataset": "web, 3 folds", "fold": "Fold1", "label": one} for one in ("LambdaMART", "RankDE")]
    with Kept(tmp_path / "web.kept.sqlite", megabytes=1) as kept:
        kept.begin_run("bench", "ordino bench more", os.getpid(), str(telling), tasks)
    (telling / "1.json").write_text(
        '{"label": "RankDE", "dataset": "web, 3 folds", "fold": "Fold1", "began": 0, "done": 3, "total": 9,'
        ' "figures": "now", "curve": [[1, 0.5], [2, 0.6]]}'
    )
    client = open_studio(tmp_path / "web.sqlite")
    answer = client.get("/run")
    assert "1 of 2 trials are done; the run is under way." in text_of(answer)
    assert "RankDE on Fold1 has run for" in text_of(answer)
    assert "33 %" in text_of(answer)
    assert 'hx-trigger="every 2s"' in answer.text
    assert "a run is under way" in text_of(client.get("/board"))
    shutil.rmtree(telling)
    stopped = text_of(client.get("/run"))
    assert "The run has stopped; 1 of 2 trials are done." in stopped
    assert "Go on with ordino bench more" in stopped


def test_search_tells_what_mattered(studio):
    answer = studio.get("/search")
    assert "The best of 3 settings reaches" in heading(answer)
    assert "scaling" in text_of(answer)


def test_features_and_drift(studio):
    assert "weigh most in LambdaMART." in text_of(studio.get("/features?ranker=LambdaMART"))
    worth = text_of(studio.get("/features?ranker=LambdaMART&importance=ndcg@10"))
    assert "LambdaMART, NDCG@10" in worth


def test_drift_between_two_files(place, tmp_path):
    moved = place.trials.replace(X=place.trials.X + np.float32(1000.0))
    moved.save(tmp_path / "later.arrow")
    client = open_studio(place.data, tmp_path / "later.arrow")
    body = text_of(client.get("/features?part=web.arrow&against=later.arrow&sort=drift"))
    assert "12 of 12 features have moved by more than 0.1" in body
    same = text_of(client.get("/features?part=web.arrow&against=web.arrow"))
    assert "0 of 12" in same


def test_model_has_a_card_and_can_be_taken_along(studio, place, tmp_path):
    answer = studio.get("/model?ranker=LambdaMART")
    assert "trees over 12 features" in heading(answer)
    (tmp_path / "m.ordino").write_bytes(studio.get("/model.ordino?ranker=LambdaMART").content)
    assert type(load(tmp_path / "m.ordino")).__name__ == "LambdaMART"


def test_certificates_of_exports_are_shown(place, tmp_path):
    from ordino import LinearRegressionRanker, save
    from ordino.export import export_model
    from ordino.testing import easy_data

    ranker = LinearRegressionRanker().fit(easy_data())
    save(ranker, tmp_path / "linear.ordino")
    (tmp_path / "solr").mkdir()
    found = export_model(ranker, "solr", data=easy_data())
    (tmp_path / "solr" / "certificate.json").write_text(found.files["certificate.json"])
    body = text_of(open_studio(tmp_path / "linear.ordino").get("/model"))
    assert "Certificates of exports" in body
    assert "ranks as the model does" in body
    assert "solr/certificate.json" in body


def test_models_without_a_store(place):
    client = open_studio(place.model, place.data)
    assert client.get("/model").status_code == 200
    assert client.get("/query").status_code == 200
    assert client.get("/why").status_code == 200
    assert "This page is about a store, and none was named." in text_of(client.get("/board"))


def test_papers_show_both_numbers(studio):
    body = text_of(studio.get("/papers?target=ranknet.table1"))
    assert "82.39" in body
    assert "ordino reproduce ranknet.table1" in body
    assert studio.get("/papers.svg?target=ranknet.table1").headers["content-type"] == "image/svg+xml"


def test_judging_writes_one_line_a_grade_and_nothing_is_lost(place, tmp_path):
    file = tmp_path / "judged.qrels"
    client = open_studio(place.data, judged=file)
    query = str(place.trials.query_ids[0])
    first, second = (str(one) for one in place.trials[0].doc_ids[:2])
    for doc, grade in ((first, "3"), (second, "0")):
        answer = client.post("/judge", data={"query": query, "doc": doc, "grade": grade})
        assert answer.status_code == 200
    assert read_grades(file) == {(query, first): 3, (query, second): 0}
    file.write_text(file.read_text() + f"{query} 0 {first}")  # a crash in the middle of a line
    client = open_studio(place.data, judged=file)
    client.post("/judge", data={"query": query, "doc": second, "grade": "undo"})
    assert read_grades(file) == {(query, first): 3}
    assert client.post("/judge", data={"query": query, "doc": first, "grade": "9"}).status_code == 400
    assert client.post("/judge", data={"query": query, "doc": "nobody", "grade": "1"}).status_code == 404
    assert f"3 qid:{query}" in client.get("/judged.txt").text


def test_nothing_is_judged_without_a_file(place):
    client = open_studio(place.data)
    assert "There is no file to judge into." in text_of(client.get("/judge"))
    assert client.post("/judge", data={"query": "1", "doc": "x", "grade": "1"}).status_code == 200  # the same sentence


# ---------------------------------------------------------------------------------------------------------------------
# States


def test_a_store_is_only_read(place):
    before = {file: file.read_bytes() for file in place.folder.glob("web*.sqlite")}
    client = open_studio(place.store, place.data)
    for page in PAGES:
        client.get(f"/{page}")
    assert {file: file.read_bytes() for file in place.folder.glob("web*.sqlite")} == before


def test_an_old_store_is_shown_and_stays_old(tmp_path):
    from pathlib import Path

    old = Path(__file__).parents[1] / "fixtures" / "store-v3.sqlite"
    shutil.copy(old, tmp_path / "old.sqlite")
    client = open_studio(tmp_path / "old.sqlite")
    assert client.get("/board").status_code == 200
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))
    assert (tmp_path / "old.sqlite").read_bytes() == old.read_bytes()


def test_an_empty_store(tmp_path):
    Store(tmp_path / "new.sqlite").close()
    client = open_studio(tmp_path / "new.sqlite")
    assert "There are no trials in new.sqlite yet. Make some: ordino bench" in text_of(client.get("/board"))


def test_one_ranker(tmp_path):
    with Store(tmp_path / "one.sqlite") as store:
        store.add(*made_trials(["Alone"]))
    client = open_studio(tmp_path / "one.sqlite")
    assert "One ranker is in the store; two are needed to compare." in text_of(client.get("/board"))
    assert "One ranker is in the store; two are needed to compare." in text_of(client.get("/compare"))


def test_a_fold_is_lacking(tmp_path):
    with Store(tmp_path / "part.sqlite") as store:
        store.add(*(one for one in made_trials(["A", "B", "C"]) if (one.label, one.fold) != ("C", "Fold2")))
    answer = open_studio(tmp_path / "part.sqlite").get("/board")
    assert "C is missing 1 fold: its means cover fewer queries and carry no marks." in text_of(answer)
    marks = {row[0]: "▼" in row[1] for row in re.findall(r">([ABC])</a></th>(.*?)</tr>", answer.text, re.S)}
    assert marks == {"A": False, "B": True, "C": False}


def test_a_store_of_a_newer_format(place, tmp_path):
    shutil.copy(place.store, tmp_path / "new.sqlite")
    with sqlite3.connect(tmp_path / "new.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    client = open_studio(tmp_path / "new.sqlite")
    assert f"new.sqlite was written by a newer Ordino (format {VERSION + 1}" in text_of(client.get("/board"))


def test_what_is_not_a_store(tmp_path):
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE trains (x)")
    assert "other.sqlite is not a store of Ordino." in text_of(open_studio(tmp_path / "other.sqlite").get("/board"))


def test_a_damaged_store_shows_its_whole_trials(tmp_path):
    path = tmp_path / "torn.sqlite"
    with Store(path) as store:
        for trial in made_trials(["A", "B", "C"], folds=2, queries=600):
            store.add(trial)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    whole = path.read_bytes()
    path.write_bytes(
        whole[: len(whole) * 2 // 3 // 4096 * 4096] + b"\x00" * (len(whole) - len(whole) * 2 // 3 // 4096 * 4096)
    )
    body = text_of(open_studio(path).get("/board"))
    found = re.search(r"torn.sqlite cannot be read: the file is damaged after trial (\d+)\.", body)
    assert found, body
    assert 0 < int(found[1]) < 6
    assert f"The first {found[1]} trials are shown." in body


def test_damage_that_only_a_board_meets(tmp_path):
    """The list of trials is whole, but the values of the fifth are not what was written."""
    path = tmp_path / "changed.sqlite"
    with Store(path) as store:
        store.add(*made_trials(["A", "B", "C"], folds=2))
    with sqlite3.connect(path) as connection:
        changed = "UPDATE query_values SET numbers = zeroblob(length(numbers)) WHERE trial = 5 AND metric = 'map'"
        connection.execute(changed)
    body = text_of(open_studio(path).get("/board"))
    assert "changed.sqlite cannot be read: the file is damaged after trial 4." in body
    assert "The first 4 trials are shown." in body


def test_a_store_that_is_being_written(tmp_path):
    """Trials arrive while pages are shown: each page shows those that were there, and none breaks."""
    path = tmp_path / "live.sqlite"
    trials = made_trials(["A", "B", "C"], folds=4)
    with Store(path) as store:
        store.add(*trials[:4])
        client = open_studio(path)
        for number, trial in enumerate(trials[4:], start=5):
            store.add(trial)
            answer = client.get("/board")
            assert answer.status_code == 200
            assert f"{number} trials" in text_of(answer)


def test_slow_work_says_so_and_comes_when_it_is_done(place, monkeypatch):
    import time

    from ordino.studio import views

    def slow(studio, ask):
        time.sleep(0.6)
        return VIEWS["board"](studio, ask)

    monkeypatch.setattr(views, "VIEWS", {**VIEWS, "why": lambda *_: time.sleep(0.6) or {}, "board": slow})
    client = open_studio(place.store, patience=0.2)
    answer = client.get("/board?sort=map")
    assert answer.status_code == 202
    assert "Reading the store …" in text_of(answer)
    assert 'hx-trigger="load delay:1s"' in answer.text
    time.sleep(0.8)
    assert client.get("/board?sort=map").status_code == 200


def test_a_trial_without_rankings_is_told(place, tmp_path):
    shutil.copy(place.store, tmp_path / "bare.sqlite")
    client = open_studio(tmp_path / "bare.sqlite")
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))
    with Kept(tmp_path / "bare.kept.sqlite", megabytes=1):
        pass
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))


def test_a_model_that_was_not_kept_is_told(place, tmp_path):
    shutil.copy(place.store, tmp_path / "bare.sqlite")
    shutil.copy(kept_path(place.store), tmp_path / "bare.kept.sqlite")
    client = open_studio(tmp_path / "bare.sqlite")
    assert "was not kept. Keep it: run the same command with --models" in text_of(client.get("/why"))
    assert "its model was not kept." in heading(client.get("/model"))


def test_themes_are_kept_in_a_cookie(studio):
    answer = studio.get("/board?theme=dark&sort=map")
    assert 'data-theme="dark"' in answer.text
    assert str(answer.url).endswith("/board?sort=map")
    studio.get("/board?theme=system")
    assert "data-theme=" not in studio.get("/board").text.replace("data-theme-link", "")


def test_links_lead_somewhere(studio):
    """Every link of the main pages answers: from the board to why in four clicks."""
    seen = set()
    for page in ("/board", "/compare", "/query", "/data", "/model"):
        found = [unescape(one) for one in re.findall(r'href="(/[^"]*)"', studio.get(page).text)]
        for address in found:
            kind = re.sub(r"=[^&]*", "=", address)
            if "theme" not in address and kind not in seen and not address.startswith("/static"):
                seen.add(kind)
                assert studio.get(address).status_code == 200, address
    assert len(seen) > 25


def test_trial_values_of_many_queries_fold_into_bars(tmp_path):
    random = np.random.default_rng(0)
    ids = np.arange(3000)
    with Store(tmp_path / "many.sqlite") as store:
        for label, shift in (("A", 0.02), ("B", 0.0)):
            values = np.clip(random.normal(0.5 + shift, 0.1, 3000), 0, 1)
            store.add(
                Trial(
                    key=label,
                    dataset="many",
                    fold="Fold1",
                    ranker="x",
                    label=label,
                    params={},
                    seed=0,
                    profile="standard",
                    test={"map": float(values.mean())},
                    per_query={"map": values},
                    query_ids=ids,
                )
            )
    answer = open_studio(tmp_path / "many.sqlite").get("/compare")
    assert answer.text.count("data-value=") == 240
    assert "the mean of 13 queries" in text_of(answer)
    assert len(answer.content) < 150_000


def test_files_are_told_apart_by_what_is_in_them(place, tmp_path, capsys):
    from shell import ordino

    renamed = tmp_path / "renamed.bin"
    shutil.copy(place.model, renamed)
    assert ordino("studio", place.data, renamed, place.store, "--check") == 0
    printed = capsys.readouterr().out.splitlines()[1:]
    assert printed == [f"store\t{place.store}", f"model\t{renamed}", f"data\t{place.data}"]
    assert ordino("studio", tmp_path / "nowhere", "--check") == 1
    assert "there is no such file or folder" in capsys.readouterr().err
    assert ordino("studio") == 2
    assert ordino("studio", place.store, "--host", "0.0.0.0", "--port", "70000") == 2


def test_the_slope_graph_has_every_document_at_its_places():
    from ordino.studio.shelf import Opened, Place
    from ordino.studio.slope import IDEAL, WIDE, draw_slope

    random = np.random.default_rng(1)
    labels = random.integers(0, 4, 30).astype(float)
    scores = {"A": random.random(30), "B": random.random(30)}
    opened = Opened(Place("1", "Fold1", 0), [f"d{i}" for i in range(30)], labels, scores)
    graph = draw_slope(opened, ["A", "B"], {"A": 0.5, "B": 0.5}, 10, WIDE)
    assert [column.name for column in graph.columns] == [IDEAL, "A", "B"]
    ideal = [doc for doc in graph.documents if doc.chips[0].x == graph.columns[0].x]
    assert [float(doc.grade) for doc in ideal] == sorted(labels, reverse=True)[:10]
    for number, ranker in enumerate(("A", "B"), start=1):
        order = [f"d{i}" for i in np.argsort(-scores[ranker])]
        shown = {doc.name: chip for doc in graph.documents for chip in doc.chips if chip.x == graph.columns[number].x}
        first = sorted((chip.y, name) for name, chip in shown.items() if not chip.place)
        assert [name for _, name in first] == order[:10]
        lower = {name: int(chip.place) for name, chip in shown.items() if chip.place}
        assert lower == {doc.name: order.index(doc.name) + 1 for doc in ideal if doc.name not in order[:10]}
    for doc in graph.documents:  # a line between two neighboring columns that both show it, a dotted end elsewhere
        places = [number for number, column in enumerate(graph.columns) if column.x in {chip.x for chip in doc.chips}]
        joined = sum(b - a == 1 for a, b in pairwise(places))
        assert sum(not line.out for line in doc.lines) == joined


def test_a_ranker_of_members_is_explained_by_one_that_agrees(place, tmp_path):
    from ordino import LinearRegressionRanker, RankAggregation, SingleFeature, save

    ranker = RankAggregation([LinearRegressionRanker(), SingleFeature()]).fit(place.trials)
    save(ranker, tmp_path / "both.ordino")
    body = text_of(open_studio(tmp_path / "both.ordino", place.data).get("/why"))
    assert "both ranks by the orders of its members; this is told of" in body
    assert "Feature by feature" in body
