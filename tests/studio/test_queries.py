"""Query, Why and the other pages by their text."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from itertools import pairwise, product
from urllib.parse import quote

import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.experiment.plan import Plan
from ordino.experiment.report.board import make_boards
from ordino.experiment.run import run
from ordino.experiment.store import Store, StoreView, Trial
from ordino.experiment.store.kept import Kept, kept_path, models_folder
from ordino.explain import why
from ordino.explain.why import Reason, Why
from ordino.model_file import load
from ordino.order import audit
from ordino.studio.ask import Ask
from ordino.studio.frame import NAV
from ordino.studio.views import search
from ordino.studio.views.features import _measure
from ordino.studio.views.judge import read_grades
from ordino.studio.views.why import _edits
from ordino.testing import easy_data
from studio_place import LINEAR, LONG, heading, links, open_studio, text_of

PAGES = [entry.name for group in NAV.values() for entry in group]


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
    from ordino.studio.values import costliest

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


def test_an_edit_is_a_value_that_is_another_than_that_of_the_second_document():
    """A form sends every field: those that hold what is stored change nothing."""
    found = Why(1.0, (Reason("f1", 3.0, 0.1, 0.5), Reason("f2", 2.0, 7.0, 0.5)), "linear")
    for values, edits in (
        ({"f1": "0.1", "f2": "7"}, {}),
        ({"f1": "3", "f2": "7"}, {"f1": 3.0}),  # as the first has it
        ({"f1": "0.1", "f2": " ", "f3": "5"}, {}),
        ({"f1": "0.100001", "f2": "2"}, {"f1": 0.100001, "f2": 2.0}),
    ):
        assert _edits(Ask("why", [(f"edit.{name}", value) for name, value in values.items()]), found) == edits


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


def test_curves_of_a_run_are_of_one_metric_and_one_data_set_with_its_sign(tmp_path):
    store = tmp_path / "web.sqlite"
    chosen = {"A": ("web", "map", 0.5), "B": ("web", "pairwise_error", -0.5), "C": ("web", "pairwise_error", -0.25),
              "D": ("other", "pairwise_error", -0.75), "E": ("web", "", 0.1)}  # fmt: skip
    with Store(store) as opened:
        for label, (data, metric, last) in list(chosen.items())[::-1]:
            history = [{"valid": 2 * last}, {"valid": last}]
            opened.add(Trial(key=label, dataset=data, fold="Fold1", ranker="ranknet", label=label, params={}, seed=0,
                             profile="standard", test={"map": 0.5}, per_query={"map": np.array([0.5])},
                             query_ids=np.array([1]), chosen_by=metric, history=history))  # fmt: skip
        opened.add(replace(opened.find("C"), key="C again"))
    with Kept(kept_path(store), megabytes=1) as kept:
        kept.begin_run("bench", "", 0, str(tmp_path), [{"dataset": "web", "fold": "Fold1", "label": "A"}])
    spec = json.loads(unescape(re.search(r'data-spec="([^"]+)"', open_studio(store).get("/run").text)[1]))
    points = [(one["ranker"], one["step"], one["value"]) for one in spec["data"]["values"]]
    assert points == [("C", 1, 0.5), ("C", 2, 0.25), ("B", 1, 1.0), ("B", 2, 0.5)]


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
    growing = json.loads(unescape(re.search(r'data-spec="([^"]+)"', answer.text)[1]))
    assert growing["data"]["values"] == [{"step": 1, "value": 0.5}, {"step": 2, "value": 0.6}]
    assert growing["title"] == "RankDE on Fold1"
    assert growing["encoding"]["x"]["scale"]["domain"] == [0, 9]
    assert growing["description"] == "now of RankDE on Fold1, 3 of 9 steps done"
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


def test_a_comparator_is_audited_on_the_documents_of_its_fold(tmp_path, monkeypatch):
    store, data, audits = tmp_path / "web.sqlite", easy_data(n_queries=9), []
    sortnet = {"ranker": "sortnet", "params": {"max_iter": 1, "epochs": 1}}
    plan = Plan(data={"web": data}, rankers=[sortnet], folds=3)
    run(plan, store, n_jobs=1, models=models_folder(store), documents=True)

    def noted(network, some, **options):
        audits.append((some, audit(network, some, **options)))
        return audits[-1][1]

    monkeypatch.setattr("ordino.studio.views.model.audit", noted)
    client = open_studio(store)
    assert "Count cycles and moves" in text_of(client.get("/model"))
    assert not audits
    body = text_of(client.get("/model?audit=yes"))
    [(some, found)] = audits
    with StoreView(store) as view:
        ids = next(iter(view.query_ids()))[1]
    assert some.query_ids.tolist() == list(ids)
    client.get("/model?audit=yes&fold=Fold2")
    assert audits.pop()[0].query_ids.tolist() != list(ids)  # of another fold
    assert f"{100 * found.cyclic_share:.3g} % of triples are cycliccounted in 3 queries" in body
    assert "0.0 of 1000 documents stand elsewhere if the rows come shuffledby at most 0.0 of 1000 places" in body
    assert len(found.moves) > 2
    for name, moved in found.moves.items():
        if name != "shuffles":
            assert f"{moved.docs:.1f} of 1000 documents stand elsewhere if {name} orders them" in body


def test_certificates_of_exports_are_shown(place, tmp_path):
    from ordino import LinearRegressionRanker, save
    from ordino.export import export_model
    from ordino.testing import easy_data

    ranker = LinearRegressionRanker(scaling=None).fit(easy_data())
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


def test_the_best_possible_is_what_the_measure_gives_the_ideal_order(place):
    """With fewer than ten relevant documents, P@10 of no order is 1."""
    data = Dataset.open(place.data)
    n_relevant = [int((data.y[start:stop] > 0).sum()) for start, stop in pairwise(data.offsets)]
    query = next(q for q, n in zip(data.query_ids.tolist(), n_relevant, strict=True) if 0 < n < 10)
    client = open_studio(place.model, place.data)
    for measure, best in (("p@10", f"0.{n_relevant[data.query_ids.tolist().index(query)]}00"), ("ndcg@10", "1")):
        page = client.get(f"/query?query={query}&measure={measure}").text
        slim = page[page.index("slim-drawing") :]
        assert re.search(r'class="mid small"[^>]*>([^<]+)<', slim)[1] == best


def test_what_is_known_of_a_feature_is_known_of_the_values_that_are_there():
    random = np.random.default_rng(3)
    X, query = random.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    data = Dataset(X, (X[:, 1] > 0.5).astype(float), query, feature_names=["a", "b", "c"])
    whole = _measure(data, None)["b"]
    assert whole["labels"] > 0.7
    gone = X.copy()
    gone[::10, 1] = np.nan  # the first of each query
    some = _measure(data.replace(X=gone, feature_names=data.feature_names), None)["b"]
    rest = np.flatnonzero(np.arange(200) % 10)
    left = _measure(Dataset(X[rest], data.y[rest], query[rest], feature_names=["a", "b", "c"]), None)["b"]
    assert some["missing"] == pytest.approx(0.1)
    assert (some["labels"], some["spread"]) == pytest.approx((left["labels"], left["spread"]))


def test_drift_is_that_of_the_feature_of_the_same_name():
    X = np.random.default_rng(3).normal([0, 100], size=(60, 2))
    data = Dataset(X, np.arange(60) % 2, np.repeat([1, 2, 3], 20), feature_names=["a", "b"])
    turned = data.replace(X=X[:, ::-1], feature_names=["b", "a"])
    assert {name: own["drift"] for name, own in _measure(data, turned).items()} == {"a": 0.0, "b": 0.0}


def test_papers_show_both_numbers(studio):
    body = text_of(studio.get("/papers?target=ranknet.table1"))
    assert "82.39" in body
    assert "ordino reproduce ranknet.table1" in body
    assert studio.get("/papers.svg?target=ranknet.table1").headers["content-type"] == "image/svg+xml"


def test_long_tables_of_papers_have_pages(studio):
    targets = re.findall(r"<option[^>]*>([^<]+)</option>", studio.get("/papers").text)
    long = next(one for one in targets if "from=61" in studio.get(f"/papers?target={one}").text)
    second = studio.get(f"/papers?target={long}&from=61")
    assert "61 to" in text_of(second)
    assert second.text.count('<th scope="row"') <= studio.get(f"/papers?target={long}").text.count('<th scope="row"')


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


def test_grades_of_queries_and_documents_whose_names_have_blanks_count(tmp_path):
    data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=["red shoes", "red shoes", "hat"], doc_ids=["a b", "c", "d"])
    data.save(tmp_path / "shop.arrow")
    client = open_studio(tmp_path / "shop.arrow", judged=tmp_path / "judged.qrels")
    answer = client.post("/judge", data={"query": "red shoes", "doc": "a_b", "grade": "3"})
    assert heading(answer) == "One of two documents of query red shoes is graded; c is next."
    assert (tmp_path / "judged.qrels").read_text() == "red_shoes 0 a_b 3\n"
    client.post("/judge", data={"query": "red shoes", "doc": "c", "grade": "0"})
    assert "of query hat are graded; d is next." in heading(client.get("/judge"))
    assert "'red shoes'" in text_of(client.get("/judged.txt"))  # which LETOR text cannot hold
    client.post("/judge", data={"query": "red shoes", "doc": "c", "grade": "undo"})
    assert heading(client.get("/judge")) == "One of two documents of query red shoes is graded; c is next."


def test_nothing_is_judged_without_a_file(place):
    client = open_studio(place.data)
    assert "There is no file to judge into." in text_of(client.get("/judge"))
    assert client.post("/judge", data={"query": "1", "doc": "x", "grade": "1"}).status_code == 200  # the same sentence


def test_a_range_picks_settings(tmp_path):
    random = np.random.default_rng(0)
    with Store(tmp_path / "tuned.sqlite") as store:
        for i in range(40):
            params = {"l2": float(10 ** random.uniform(-4, 0)), "hidden": int(i), "scaling": ("zscore", None)[i % 2]}
            value = {"map": float(random.random())}
            store.add(Trial(key=str(i), dataset="web", fold="Fold1", ranker="ranknet", label="RankNet, tuned",
                            params=params, seed=0, profile="standard", valid=value, chosen_by="map"))  # fmt: skip
    client = open_studio(tmp_path / "tuned.sqlite")
    every = client.get("/search")
    assert every.text.count("<polyline") == 40
    assert "The best settings" in text_of(every)
    some = client.get("/search?axis=hidden&low=10&high=19&where=scaling:1:1")
    assert some.text.count('<polyline class="picked"') == 5  # of ten, every second is scaled
    assert "The 5 settings that are picked" in text_of(some)
    assert 'Picked: hidden from 10 to 19; scaling "zscore"' in text_of(some)
    assert 'value="hidden:10:19"' in some.text
    none = text_of(client.get("/search?where=hidden:10:10&where=l2:0.5:9&where=map:0:0"))
    assert "No setting lies in all of these ranges." in none
    assert client.get("/search?where=hidden:x:y").status_code == 400


def test_searches_of_two_profiles_or_experiments_are_not_one(tmp_path):
    given = [("bench", "standard", 0.5), ("bench", "letor3", 0.9), ("other", "standard", 0.7)]
    with Store(tmp_path / "tuned.sqlite") as store:
        for (experiment, profile, value), l2 in product(given, (0.1, 0.2)):
            store.add(Trial(key=f"{experiment} {profile} {l2}", dataset="web", fold="Fold1", ranker="ranknet", seed=0,
                            label="RankNet, tuned", params={"l2": l2}, profile=profile, experiment=experiment,
                            valid={"map": value - l2}, chosen_by="map"))  # fmt: skip
    client = open_studio(tmp_path / "tuned.sqlite")
    for experiment, profile, value in given:
        name = f"RankNet, tuned on web, Fold1, profile {profile}, experiment {experiment}"
        told = f"The best of 2 settings reaches {value - 0.1:.4f} MAP on validation data"
        assert told in text_of(client.get("/search", params={"search": name}))


def test_of_a_long_search_the_last_settings_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "MOST", 3)
    with Store(tmp_path / "tuned.sqlite") as store:
        for i in range(5):
            found = {"valid": {"map": 0.9 - i / 10}, "chosen_by": "map"}
            store.add(Trial(key=str(i), dataset="web", fold="Fold1", ranker="ranknet", seed=0, label="RankNet, tuned",
                            params={"l2": i}, profile="standard", **found))  # fmt: skip
    answer = open_studio(tmp_path / "tuned.sqlite").get("/search")
    assert "The best of the last 3 settings reaches 0.7000 MAP on validation data" in text_of(answer)
    spec = json.loads(unescape(re.search(r'data-spec="([^"]+)"', answer.text)[1]))
    assert [one["trial"] for one in spec["data"]["values"]] == [3, 4, 5]


@pytest.fixture(scope="module")
def fused(tmp_path_factory):
    """A store of two fusions and a learned combination of two runs, with their models."""
    random = np.random.default_rng(0)
    runs = {"bm25": {}, "dense": {}}
    qrels = {}
    for q in range(12):
        names = [f"d{i}" for i in range(15)]
        grades = random.integers(0, 3, 15)
        qrels[f"q{q}"] = {name: int(grade) for name, grade in zip(names, grades, strict=True)}
        for noise, of in ((1.0, runs["bm25"]), (0.7, runs["dense"])):
            found = random.permutation(15)[:11]
            of[f"q{q}"] = {names[i]: float(grades[i] + noise * random.normal()) for i in found}
    folder = tmp_path_factory.mktemp("fused")
    data = Dataset.from_runs(runs, qrels)
    rankers = [
        {"ranker": "rank-fusion"}, {"ranker": "rank-fusion", "label": "CombMNZ", "params": {"method": "combmnz"}},
        {"ranker": LINEAR},
    ]  # fmt: skip
    store = folder / "hybrid.sqlite"
    run(
        Plan(data={"runs": data}, rankers=rankers, measures=["ndcg@10"], folds=3),
        store, n_jobs=1, rankings=5, models=models_folder(store), documents=True,
    )  # fmt: skip
    return open_studio(store)


@pytest.mark.parametrize("page", ["board", "compare", "query", "features", "model?ranker=RankFusion", "run"])
def test_fusions_have_their_pages(fused, page):
    answer = fused.get(f"/{page}")
    assert answer.status_code == 200, text_of(answer)
    assert "RankFusion" in answer.text.replace("<wbr>", "")


@pytest.mark.parametrize("label", ["RankFusion", "CombMNZ"])
def test_a_fusion_is_explained_by_its_runs(fused, label):
    answer = fused.get(f"/why?ranker={label}")
    body = text_of(answer)
    assert "is divided among 2 runs by letting the runs join one after the other" in body, body
    assert {"bm25_score", "dense_score"} == set(re.findall(r'name="edit\.([^"]+)"', answer.text))
    edited = text_of(fused.get(f"/why?ranker={label}&edit.dense_score=1000"))
    assert "It would stand" in edited


def test_questions_of_a_document_are_about_one_that_stands_on_the_other_side():
    """Why is it first, asked of the second; why is it not higher, asked of the first, in the order of its ranker."""
    from ordino.studio.shelf import Opened, Place
    from ordino.studio.slope import IDEAL, ideal_order
    from ordino.studio.views.query import _detail

    orders = {"A": [2, 0, 1, 3], "B": [1, 3, 0, 2], "C": [3, 1, 2, 0]}
    scores = {name: -np.argsort(order).astype(float) for name, order in orders.items()}
    opened = Opened(Place("1", "Fold1", 0), list("wxyz"), np.array([0.0, 1.0, 2.0, 0.0]), scores)
    tables = {IDEAL: ideal_order(opened, list(orders)), **{name: opened.order(name) for name in orders}}
    asked = {doc: [question[1:] for question in _detail(opened, doc, tables)["questions"]] for doc in "wxyz"}
    assert asked == {
        "w": [("C", "z", "w")],
        "x": [("B", "x", "z"), ("A", "y", "x")],
        "y": [("A", "y", "w"), ("B", "x", "y")],
        "z": [("C", "z", "x"), ("A", "y", "z")],
    }
