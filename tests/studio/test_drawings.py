"""Themes, links and drawings: what is told by their numbers."""

import re
import shutil
from html import unescape
from itertools import pairwise

import numpy as np
import pandas as pd

from ordino import Dataset, LambdaMART, LinearRegressionRanker
from ordino.experiment.store import Store, Trial
from ordino.studio.frame import NAV
from ordino.studio.what_if import _scored, draw_turn
from ordino.testing import easy_data
from studio_place import open_studio, text_of

PAGES = [entry.name for group in NAV.values() for entry in group]


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


def test_a_feature_is_turned_with_all_other_edits_in_place():
    """What is edited is as if the document had had those values."""
    data = easy_data(n_queries=1)
    model = LinearRegressionRanker().fit(easy_data())
    first, second, *_ = model.feature_names()
    X = data.X.copy()
    X[2, 1] = 5.0
    edited = draw_turn(model, data, 2, first, {second: 5.0})
    assert edited == draw_turn(model, data.replace(X=X), 2, first, {})
    assert edited != draw_turn(model, data, 2, first, {})


def test_an_edit_is_scored_as_if_the_document_had_had_the_value():
    """Also among categories, whose numbers mean nothing without their names."""
    rng = np.random.default_rng(0)
    table = {"kind": pd.Categorical(rng.choice(["a", "b", "c"], 40)), "age": rng.normal(size=40)}
    data = Dataset(pd.DataFrame(table), (table["kind"] == "b") + (table["age"] > 1), np.repeat(np.arange(4), 10))
    model = LambdaMART(rounds=5, min_leaf=2).fit(data)
    query = data.select_queries([2])
    X = query.X.copy()
    X[3] = 1.0, 2.5
    edited = query.replace_features(X, query.feature_names, categories=query.categories)
    expected = [model.predict(query), model.predict(edited)]
    assert not np.array_equal(*expected)
    assert _scored(model, query, 3, [{}, {0: 1.0, 1: 2.5}]).tolist() == np.array(expected).tolist()


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
    capsys.readouterr()
    assert ordino("studio", "--results", tmp_path, "--check") == 0  # pages of papers need no store
    assert capsys.readouterr().out.splitlines() == ["kind\tfile"]
    assert ordino("studio", place.store, "--host", "0.0.0.0", "--port", "70000") == 2


def test_the_slope_graph_has_every_document_at_its_places():
    from ordino.studio.shelf import Opened, Place
    from ordino.studio.slope import IDEAL, WIDE, draw_slope

    random = np.random.default_rng(1)
    labels = random.integers(0, 4, 30).astype(float)
    scores = {"A": random.random(30), "B": random.random(30)}
    opened = Opened(Place("1", "Fold1", 0), [f"d{i}" for i in range(30)], labels, scores)
    graph = draw_slope(opened, ["A", "B"], {IDEAL: 0.8, "A": 0.5, "B": 0.5}, 10, WIDE)
    assert [(column.value, column.share) for column in graph.columns] == [("0.8000", 0.8), *[("0.5000", 0.5)] * 2]
    assert [column.name for column in graph.columns] == [IDEAL, "A", "B"]
    ideal = [doc for doc in graph.documents if doc.chips[0].x == graph.columns[0].x]
    assert [float(doc.grade) for doc in ideal] == sorted(labels, reverse=True)[:10]
    for number, ranker in enumerate(("A", "B"), start=1):
        order = [f"d{i}" for i in np.argsort(-scores[ranker])]
        shown = {doc.name: chip for doc in graph.documents for chip in doc.chips if chip.x == graph.columns[number].x}
        first = sorted((chip.y, name) for name, chip in shown.items() if not chip.place)
        assert [name for _, name in first] == order[:10]
        lower = {name: int(chip.place) for name, chip in shown.items() if chip.place}
        downwards = sorted(lower, key=lambda name: shown[name].y)
        assert downwards == sorted(lower, key=order.index)
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
