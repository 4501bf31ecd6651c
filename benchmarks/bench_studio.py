"""How long every page of the studio takes from a store of 1,000 trials x 10,000 queries: first and again.

The store is made here: 20 rankers, 50 seeds, three metrics, the rankings of ten seeds beside it (20 documents a query),
a model of each kind that Why explains in its own way, the test documents, a search of 200 settings and a run. Each page
is asked for in three processes, through the application itself, without a network: first with nothing of the store
remembered, then three times again. The process whose first view is the middle one counts. Times are processor seconds;
the limit is 200 ms. Templates and kernels, which the studio loads while the browser opens, are loaded before. The last
row is the board of a copy of the store without the sums, which earlier versions did not write: it reads every value,
and is held to no limit.

    python benchmarks/bench_studio.py [--trials 1000] [--queries 10000] [--store FOLDER] [--record]

``--store`` keeps the store, or uses the one that is there. ``--record`` writes the table to docs/studio.md.
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from written import add_record, written

PAGE = Path(__file__).parents[1] / "docs" / "studio.md"
LIMIT = 0.2
RANKERS, DOCS, FEATURES, KEPT = 20, 20, 12, 10
METRICS = ("ndcg@10", "map", "mrr")
TOKEN = "a-token-for-benchmarks"
PAGES = {
    "board": "Board",
    "board?sort=map": "Board, sorted by another measure",
    "board?against=Ranker03": "Board against a baseline",
    "board?pairs=yes": "Board with every pair of 16 rankers, 120 tests",
    "board.csv": "Board as a file",
    "compare": "Compare",
    "compare?a=Ranker01&b=Ranker07&low=0.1&high=0.5": "Compare, some queries",
    "compare?test=paired-t": "Compare by another test",
    "query": "Query",
    "query?query=7777&places=20": "Query, 20 places",
    "why?ranker=Ranker00": "Why, linear ranker",
    "why?ranker=Ranker01": "Why, LambdaMART",
    "run": "Run",
    "search": "Search, 200 settings",
    "search?axis=l2&low=0.2&high=0.4": "Search, some settings",
    "model?ranker=Ranker00": "Model",
    "features?ranker=Ranker00": "Features, with 200,000 documents",
    "data": "Data, 200,000 documents",
    "judge": "Judge",
    "papers": "Papers",
    "papers?target=ranknet.table1": "Papers, one table",
}
"""Every kind of page by its address; the documents are those of 10,000 queries."""

PROCESSES = 3  # for each page; the one with the middle first view counts, as the machine's speed varies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--page", help="ask for this page alone, in this process")
    parser.add_argument("--pages", nargs="*", default=list(PAGES), help="the addresses of the pages to ask for")
    add_record(parser)
    given = parser.parse_args()
    if given.page:
        print(json.dumps(measure(given.store, given.page)))
        return
    with TemporaryDirectory() as made:
        folder = given.store or Path(made)
        folder.mkdir(exist_ok=True)
        store = folder / "many.sqlite"
        if not store.exists():
            start = time.process_time()
            make_store(store, given.trials, given.queries)
            print(f"made in {time.process_time() - start:.0f} s")
        with written("bench_studio", record=given.record, page=PAGE):
            slow = print_table(folder, given.pages, Path(made))
    if slow:
        raise SystemExit(f"over {LIMIT} s: {', '.join(slow)}")


def print_table(folder: Path, pages: list[str], made: Path) -> list[str]:
    """A row for each page; returns those above the limit."""
    store = folder / "many.sqlite"
    with sqlite3.connect(store) as connection:
        [[n_trials, n_rankers]] = connection.execute(
            "SELECT count(*), count(DISTINCT label) FROM trials WHERE test <> '{}'"
        )
    told = f"{store.stat().st_size / 1e6:,.0f} MB on disk, {n_trials:,} trials of {n_rankers} rankers"
    print(f"{told}; processor seconds, kB of the page, MB of the process; each page is to stay under {LIMIT} s")
    print("| page | first, s | again, s | kB | memory, MB |\n|---|---:|---:|---:|---:|")
    slow = [page for page in pages if print_row(folder, page, PAGES[page]) > LIMIT]
    old = made / "old"
    old.mkdir()
    shutil.copy(store, old)
    with sqlite3.connect(old / store.name) as connection:
        connection.executescript("DROP TABLE sums; DROP TABLE test_queries;")
    print_row(old, "board", "Board of a store of an earlier version")
    return slow


def print_row(folder: Path, page: str, told: str) -> float:
    """One page, in a process of its own: the larger of both times."""
    command = [sys.executable, __file__, "--store", str(folder), "--page", page]
    runs = [subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout for _ in range(PROCESSES)]
    first, again, size, memory = sorted(json.loads(run) for run in runs)[PROCESSES // 2]
    print(f"| {told} | {first:.3f} | {again:.3f} | {size / 1000:,.0f} | {memory:,.0f} |", flush=True)
    return float(max(first, again))


def measure(folder: Path, page: str) -> tuple[float, float, int, float]:
    """Processor seconds of the first view and of the best of three later ones, bytes, and megabytes of the process."""
    from starlette.testclient import TestClient

    from ordino.studio.app import make_app, prepare
    from ordino.studio.sources import find_sources
    from ordino.web.address import LOCAL_NAMES

    results = Path(__file__).parents[1] / "docs" / "results" / "reproduce"
    paths = [folder / "many.sqlite", *([folder / "many.arrow"] if page.startswith(("data", "features")) else [])]
    more = {"judged": folder / "judged.qrels", "results": results}
    if page.startswith("judge"):
        paths = [folder / "many.arrow"]
    client = TestClient(
        make_app(find_sources(paths, **more), token=TOKEN, hosts=LOCAL_NAMES, patience=600),
        base_url="http://127.0.0.1",
    )
    prepare()
    client.get("/nowhere", params={"token": TOKEN})

    def timed() -> tuple[float, int]:
        start = time.process_time()
        answer = client.get(f"/{page}")
        assert answer.status_code == 200, (page, answer.status_code, answer.text[-2000:])
        return time.process_time() - start, len(answer.content)

    first, size = timed()
    again = min(timed()[0] for _ in range(3))
    return first, again, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def make_store(path: Path, n_trials: int, n_queries: int) -> None:
    """Trials whose values are drawn: each ranker a little worse than the one before it."""
    from ordino import LambdaMART, LinearRegressionRanker, save
    from ordino.data.dataset import Dataset
    from ordino.experiment.run.driver import documents_path, model_path
    from ordino.experiment.store import Store, Trial
    from ordino.experiment.store.kept import Kept, kept_path, models_folder
    from ordino.experiment.store.rankings import listed_of

    rng = np.random.default_rng(0)
    hardness = rng.uniform(0.2, 0.8, n_queries)
    ids = np.arange(n_queries)
    X = rng.random((n_queries * DOCS, FEATURES), np.float32)
    labels = np.clip(4 * X[:, :3].mean(axis=1) + rng.normal(0, 1, len(X)), 0, 4).round()
    data = Dataset(X, labels, np.repeat(ids, DOCS), feature_names=[f"feature_{i}" for i in range(FEATURES)])
    data.save(path.with_suffix(".arrow"))
    few = data.select_queries(np.arange(min(200, n_queries)))
    models = {0: LinearRegressionRanker().fit(few), 1: LambdaMART(rounds=20, leaves=8).fit(few)}
    folder = models_folder(path)
    folder.mkdir()
    data.save(documents_path(folder, "cafe"))
    common: dict[str, Any] = {
        "dataset": "many",
        "fold": "Fold1",
        "profile": "standard",
        "data": "cafe",
        "chosen_by": "ndcg@10",
    }
    with Store(path) as store, Kept(kept_path(path), megabytes=4000) as kept:
        kept.add_lists("cafe", listed_of(data))
        cells = [{"dataset": "many", "fold": "Fold1", "label": f"Ranker{number:02d}"} for number in range(RANKERS)]
        kept.end_run(kept.begin_run("bench", "ordino bench many.arrow", os.getpid(), str(path.parent), cells))
        for number in range(n_trials):
            ranker, seed = number % RANKERS, number // RANKERS
            values = {name: np.clip(hardness - 0.01 * ranker + rng.normal(0, 0.1, n_queries), 0, 1) for name in METRICS}
            curve = [{"round": i + 1, "valid": 0.5 - 0.3 / (i + 1)} for i in range(30)]
            trial = Trial(
                key=f"{ranker}/{seed}".replace("/", "-"), ranker=f"ranker-{ranker}", label=f"Ranker{ranker:02d}",
                params={"l2": 0.1}, seed=seed, per_query=values, query_ids=ids, history=curve,
                test={name: float(column.mean()) for name, column in values.items()}, **common,
            )  # fmt: skip
            store.add(trial)
            if ranker in models and seed == 0:
                save(models[ranker], model_path(folder, trial.key))
            if seed < KEPT:
                scores = rng.random(n_queries * DOCS).astype(np.float32).astype(float)
                if ranker in models and seed == 0:
                    scores = np.asarray(models[ranker].predict(data), float)
                kept.add_scores(trial.key, data.offsets, scores)
        for number in range(200):
            params: dict[str, Any] = {
                "l2": float(rng.random()),
                "hidden": int(rng.integers(4, 64)),
                "scaling": ("zscore", None)[number % 2],
            }
            value = {"ndcg@10": float(0.5 - (params["l2"] - 0.3) ** 2 + rng.normal(0, 0.01))}
            store.add(Trial(key=f"tuning-{number}", ranker="ranknet", label="RankNet, tuned", params=params, seed=0,
                            valid=value, **common))  # fmt: skip


if __name__ == "__main__":
    main()
