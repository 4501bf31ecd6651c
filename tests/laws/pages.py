"""A small store with all that lies beside it, the addresses of a studio on it, and what its pages say and draw.

``python tests/laws/pages.py`` writes pages.json and drawings.json anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from ordino import Dataset, LinearRegressionRanker, SingleFeature, save, synthetic
from ordino.data.folds import make_folds, write_folds
from ordino.experiment.plan import Plan
from ordino.experiment.run import run, task
from ordino.experiment.run.driver import model_path
from ordino.experiment.store import StoreView
from ordino.experiment.store.kept import Kept, kept_path, models_folder
from ordino.studio.views.features import SORTS
from studio_place import open_studio, text_of

RECORD, DRAWINGS = (Path(__file__).with_name(name) for name in ("pages.json", "drawings.json"))
QUERY, WHY, COMPARE = "query?query=1", "why?query=1&ranker=First", "compare?a=First&b=Second"
LESS = "pairwise_error"
"""A measure of which less is better."""
CASES: dict[str, dict[str, tuple[str, str]]] = {
    "board": {
        "data": ("board", "board?data=two, 3 folds"),
        "profile": ("board", "board?profile=sklearn"),
        "test": ("board", "board?test=paired-t"),
        "measures": ("board", "board?measures=map"),
        "against": ("board", "board?against=Second"),
        "containing": ("board", "board?containing=Fir"),
        "sort": ("board", "board?sort=label"),
        "order": ("board?sort=label", "board?sort=label&order=turned"),
        "spread": ("board", "board?spread=yes"),
        "pairs": ("board", "board"),  # only of boards so large that pairs are not drawn at once
    },
    "compare": {
        "measure": (COMPARE, f"{COMPARE}&measure={LESS}"),
        "low": (COMPARE, f"{COMPARE}&low=0.01"),
        "high": (COMPARE, f"{COMPARE}&high=-0.01"),
        "from": (COMPARE, f"{COMPARE}&from=4"),
        "a": (COMPARE, "compare?a=Third&b=Second"),
        "b": (COMPARE, "compare?a=First&b=Third"),
        "data": (COMPARE, f"{COMPARE}&data=two, 3 folds"),
        "profile": (COMPARE, f"{COMPARE}&profile=sklearn"),
        "test": (COMPARE, f"{COMPARE}&test=paired-t"),
    },
    "query": {
        "query": (QUERY, "query?query=2"),
        "rankers": (QUERY, f"{QUERY}&rankers=Second"),
        "measure": (QUERY, f"{QUERY}&measure=map"),
        "places": (QUERY, f"{QUERY}&places=3"),
        "doc": (QUERY, f"{QUERY}&doc=d002"),
        "data": (QUERY, f"{QUERY}&data=two, 3 folds"),
        "profile": (QUERY, f"{QUERY}&profile=sklearn"),
    },
    "why": {
        "ranker": (WHY, "why?query=1&ranker=Third"),
        "query": (WHY, "why?query=2&ranker=First"),
        "a": (WHY, f"{WHY}&a=d003"),
        "b": (WHY, f"{WHY}&b=d003"),
        "top": ("why?query=1&ranker=Third", "why?query=1&ranker=Third&top=2"),
        "turn": ("why?query=1&ranker=Third", "why?query=1&ranker=Third&turn=f7"),
        "measure": (f"{WHY}&edit.f1=9", f"{WHY}&edit.f1=9&measure=map"),
    },
    "features": {
        "sort": ("features?ranker=Third", "features?ranker=Third&sort=name"),
        "containing": ("features", "features?containing=f1"),
        "from": ("features", "features?from=5"),
        "part": ("features", "features?part=two.arrow"),
        "against": ("features", "features?against=two.arrow"),
        "data": ("features", "features?data=two, 3 folds"),
        "ranker": ("features?importance=map", "features?ranker=First&importance=map"),
        "importance": ("features?ranker=First", "features?ranker=First&importance=map"),
    },
    "model": {
        "ranker": ("model?ranker=First", "model?ranker=Third"),
        "fold": ("model?ranker=Drawn", "model?ranker=Drawn&fold=Fold2"),
        "audit": ("model", "model"),  # of comparators alone: tests/studio/test_queries.py
    },
    "data": {"part": ("data", "data?part=two.arrow"), "from": ("data", "data?from=error")},
    "judge": {"part": ("judge", "judge?part=two.arrow"), "query": ("judge", "judge?query=5")},
    "papers": {"target": ("papers", "papers?target=sortnet.table1")},
    "run": {"run": ("run", "run?run=2"), "fold": ("run", "run?fold=Fold2")},
    "search": {"search": ("search", "search?search=tuned on one, 3 folds, Fold2")},
}
"""By page and question: addresses that show other things."""
BOARDS = [
    f"board?data={name}, 3 folds&profile={profile}" for name in ("one", "two") for profile in ("standard", "sklearn")
]
HOLES = [f"features?part=holes.arrow&against=two.arrow&sort={sort}" for sort in SORTS]
"""Of data with missing values, by every order that there is."""
DRAWN = sorted(
    {
        "board", COMPARE, f"{COMPARE}&low=0.01", f"{COMPARE}&measure={LESS}&high=-0.01", f"{QUERY}&doc=d002",
        f"{QUERY}&places=3", f"{WHY}&edit.f1=9", "search?where=alpha:0.1:10", "search?axis=alpha&low=10",
        "why?query=1&ranker=Third&turn=f7", "features?against=two.arrow", "model?ranker=Third", "data", "search",
        "board?containing=Thi",
    }
)  # fmt: skip
"""Every page that draws, with what can be seen in its drawings alone."""
ENDS = ["query?query=7&doc=d004", "query?query=7", "query?query=9", "judge?query=8", "judge?query=9"]
"""The last two queries, in the order of the folds and in that of the data, and a document that rankers disagree on."""
BOTH = [
    f"features?ranker=First&importance={LESS}", "features?ranker=First&importance=map&part=two.arrow",
    "model?ranker=Third&fold=Fold2", "why?query=7&ranker=Third", f"{QUERY}&measure={LESS}", "compare?low=9&low=0.01",
    f"compare?data=two, 3 folds&measure={LESS}", f"board?sort={LESS}", "board?sort=map", "judge?query=1&skip=d002",
    "judge?query=1&doc=d003", "run?run=3", "?data=two, 3 folds",
]  # fmt: skip
"""Two questions at once, of which one could be answered for the other's default."""
ADDRESSES = sorted(
    {*BOARDS, *HOLES, *DRAWN, *ENDS, *BOTH}
    | {address for own in CASES.values() for both in own.values() for address in both}
)
WITHOUT = {
    "store": (
        "data", "data?data=two, 3 folds", "data?part=test part of Fold2", "features?data=two, 3 folds&ranker=Third",
        "features?part=test part of Fold3", "judge", "judge?data=two, 3 folds&part=test part of Fold2",
    ),
    "models": (
        "?query=7", "data", "data?part=folds, test", "features?ranker=second&importance=map",
        "features?part=folds, valid", "judge?part=three.arrow", "model?ranker=second", "query", "query?query=7",
        "query?query=b&rankers=second", "why?query=b&ranker=second", "why?query=b&ranker=second&a=doc 1&b=doc 8",
        "why?query=7&ranker=second&edit.title_3=50",
    ),
    "models alone": ("", "model?ranker=second"),
    "data": ("", "data"),
}  # fmt: skip
"""What a studio answers that has less: a store without its data, models with theirs, one of both."""
EVERY = [*ADDRESSES, *(f"{opening}: {address}" for opening, own in WITHOUT.items() for address in own)]


def make_place(folder: Path) -> tuple[dict[str, Dataset], list[Path]]:
    """Two data sets, and a store with rankers on both under two profiles; every training takes a time of its own."""
    data = {}
    for name, seed in (("one", 1), ("two", 2)):
        made = synthetic("mq", queries=9, docs=8, seed=seed)
        kept = np.arange(made.n_docs) % 8 < 8 - made.query_number % 4  # queries of 5 to 8 documents
        qid = made.qid if name == "one" else 10 - made.qid  # the last one first
        data[name] = Dataset(made.X[kept, :9], made.y[kept], qid[kept])
        data[name].save(folder / f"{name}.arrow")
    linear, raw = "linear-regression-ranker", {"scaling": None}
    rankers = [
        {"ranker": "single-feature", "label": "First", "params": {"feature": 1, "sign": 1}},
        {"ranker": "single-feature", "label": "Second", "params": {"feature": 2, "sign": 1}},
        {"ranker": linear, "label": "Third", "params": raw},
        {"ranker": "random-ranker", "label": "Drawn", "repeats": 2},
    ]
    tuned = {"ranker": linear, "label": "tuned", "params": raw, "grid": {"alpha": [0.1, 10.0, 1000.0]}}
    store, ticks = folder / "store.sqlite", count()
    how: dict[str, Any] = {"n_jobs": 1, "rankings": 10, "models": models_folder(store), "documents": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task, "time", SimpleNamespace(perf_counter=lambda: next(ticks) ** 2 / 7))
        for profile in ("standard", "sklearn"):
            plan = Plan(data=data, rankers=rankers, measures=["ndcg@3", "map", LESS], folds=3, profile=profile)
            run(plan, store, command=f"ordino bench one two --profile {profile}", **how)
        search = Plan(data={"one": data["one"]}, rankers=[tuned], measures=[LESS], folds=3, name="search")
        run(search, store, n_jobs=1)
    with StoreView(store) as view:  # of the first repeat on a fold there is no model
        first = next(trial for trial in view.trials() if trial.label == "Drawn")
    model_path(models_folder(store), first.key).unlink()
    (folder / "judged.qrels").write_text("1 0 d001 3\n5 0 d002 0\n5 0 d001 1\n1 0 d004 2\n5 0 d001 -1\n")
    (folder / "results").mkdir()
    for number, name in enumerate(("ranknet.table1", "sortnet.table1"), 1):
        rows = [f"{one},0.{number}5,0.03,0.{number}{i},0.0{i},-0.0{5 - i},{i}" for i, one in enumerate("ab", 1)]
        rows += ["c,0.5,0.01,0.45,0.01,-0.05,3", "d,0.5,0.03,0.45,0.001,-0.05,4", "e,20,0.1,21.5,,1.5,5"]
        claim = {"claim": f"claim {number}", "on": "data", "difference": number / 10, "power": 0.5, "verdict": "holds"}
        told = {"made": f"2026-01-0{number}", "ordino": f"0.{number}", "claims": [claim]}
        (folder / "results" / f"{name}.json").write_text(json.dumps(told))
        head = "method,paper,paper deviation,ours,standard deviation,difference,values"
        (folder / "results" / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
        (folder / "results" / f"{name}.svg").write_text(f"<svg>{name}</svg>")
    with Kept(kept_path(store), megabytes=1) as kept:  # a run in which one trial failed and one was not begun
        tasks = [{"dataset": "one, 3 folds", "fold": fold, "label": "First"} for fold in ("Fold1", "Fold2", "Fold9")]
        number = kept.begin_run("bench", "ordino bench again", 0, "", tasks)
        kept.note_failures(number, [tasks[2] | {"sentence": "it ran out of memory"}])
        kept.end_run(number)
    gone = np.arange(data["one"].n_docs)[:, None] % 11  # the more, the later the feature
    data["one"].replace(X=np.where(gone, np.nan, data["one"].X)).save(folder / "holes.arrow")
    _name_some(folder, data["two"])
    write_folds(make_folds(data["one"], 3), folder / "folds")
    return data, [store, *(folder / f"{name}.arrow" for name in ("one", "two", "holes"))]


def _name_some(folder: Path, data: Dataset) -> None:
    """Three queries whose features, documents and ids have names, two documents one name, and two models of them."""
    few = data.select_queries([4, 0, 2])
    ids = [f"doc {7 * i % 23}" for i in range(few.n_docs)]
    ids[1] = ids[0]
    names = [f"{kind}_{j}" for j, kind in enumerate(["title", "body", "url"] * 3)]
    qid = np.repeat(["a", "b", "c"], few.counts)
    named = Dataset(few.X, few.y, qid, doc_ids=ids, feature_names=names)
    named.save(folder / "three.arrow")
    save(SingleFeature(feature=4, sign=1).fit(named), folder / "first.ordino")
    save(LinearRegressionRanker(scaling=None, alpha=0.1).fit(named), folder / "second.ordino")


def open_place(folder: Path, opening: str = "") -> Any:
    """A studio on the place, or on what is in it."""
    models = [folder / "first.ordino", folder / "second.ordino"]
    data = [folder / f"{name}.arrow" for name in ("one", "two", "holes")]
    own = [folder / "three.arrow", folder / "folds"]
    store = folder / "store.sqlite"
    files = {"": [store, *data], "store": [store], "models": [*models, *own], "models alone": models, "data": own}
    return open_studio(*files[opening], judged=folder / "judged.qrels", results=folder / "results")


def ask_all(folder: Path) -> tuple[dict[str, Any], Any]:
    """What the studios answer, each to all its addresses in turn, and a client of the first."""
    client = open_place(folder)
    found = {address: client.get(f"/{address}") for address in ADDRESSES}
    for opening, own in WITHOUT.items():
        other = open_place(folder, opening)
        found |= {f"{opening}: {address}": other.get(f"/{address}") for address in own}
    return found, client


CHANGING = {
    r"\d{4}-\d\d-\d\d \d\d:\d\d": "WHEN",
    r"took \d+ s": "took TIME",
    r"\d{4}-\d\d-\d\d; ordino .*?\. ": "DAY AND VERSIONS. ",
    r"made with.*?(?=What weighs|$)": "made with VERSIONS ",
    r"\b[0-9a-f]{32}\b": "FINGERPRINT",
    r"[\d.]+ kB": "SIZE",
}
"""What is another each time, or with other versions of libraries."""


FIELD = re.compile(r"<input\b[^>]*>")


def body_of(answer: Any) -> str:
    """A page without what stands around every one."""
    main = re.search(r"<main.*</main>", answer.text, re.DOTALL)
    return main[0] if main else str(answer.text)


def said(answer: Any) -> str:
    """What a page says: text, what is told under the pointer, what a script draws, where it leads, its fields."""
    body = body_of(answer)
    told = [unescape(one) for one in re.findall(r'\s(?:title|aria-label)="([^"]*)"', body)]
    drawn = [json.loads(unescape(one)) for one in re.findall(r'data-spec="([^"]*)"', body)]
    leads = dict.fromkeys(unescape(one) for one in re.findall(r'<a\b[^>]*\shref="([^"]*)"', body))
    fields = [dict(re.findall(r'\b(name|value|selected|checked)(?:="([^"]*)")?', one)) for one in FIELD.findall(body)]
    named = [one for one in fields if "name" in one and one.get("value")]
    held = [f"{one['name']}={unescape(one['value'])}" + " checked" * ("checked" in one) for one in named]
    pieces = [text_of(SimpleNamespace(text=body)), *told, *map(json.dumps, drawn)]
    pieces += [" ".join(leads), " ".join(held)]
    text = " | ".join(pieces)
    for pattern, word in CHANGING.items():
        text = re.sub(pattern, word, text)
    return text


def drawn(answer: Any) -> str:
    """What a page draws: every shape with its class and its place."""
    shapes = []
    for drawing in re.findall(r"<svg\b.*?</svg>", body_of(answer), re.DOTALL):
        for tag, words in re.findall(r"<(rect|line|circle|polyline)\b([^>]*)>", drawing):
            given = dict(re.findall(r'([\w-]+)="([^"]*)"', words))
            shapes.append(" ".join([tag, *(given[name] for name in PLACING if name in given)]))
    return " | ".join(shapes)


PLACING = ("class", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height")


def record() -> None:
    """Write what all pages say and draw into the files beside this one."""
    with TemporaryDirectory() as home:
        make_place(Path(home))
        answers, _ = ask_all(Path(home))
    _write(RECORD, {address: said(answer) for address, answer in answers.items()})
    _write(DRAWINGS, {address: drawn(answers[address]) for address in DRAWN})


def _write(path: Path, found: dict[str, str]) -> None:
    lines = [f"{json.dumps(address)}: {json.dumps(text, ensure_ascii=False)}" for address, text in found.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
