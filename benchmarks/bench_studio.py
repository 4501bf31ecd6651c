"""How long a page of the studio takes from a store of 1,000 trials x 10,000 queries: first and again, processor time.

The store is made here: 20 rankers, 50 seeds, three metrics, with the rankings of ten seeds beside it (20 documents a
query). A page is asked for through the application itself, without a network. The limit is 200 ms for a page that was
looked at before or shares its board with one that was; the first board of a store reads every value once.

    python benchmarks/bench_studio.py [--trials 1000] [--queries 10000]
"""

import argparse
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from starlette.testclient import TestClient

from ordino.experiment.store import Store, Trial
from ordino.experiment.store.kept import Kept, kept_path
from ordino.experiment.store.rankings import Listed
from ordino.studio.app import make_app
from ordino.studio.sources import find_sources
from ordino.web.address import LOCAL_NAMES

LIMIT = 0.2
RANKERS, DOCS, KEPT = 20, 20, 10
METRICS = ("ndcg@10", "map", "mrr")
TOKEN = "a-token-for-benchmarks"
PAGES = (
    "board", "board?sort=map", "board?against=Ranker03", "compare", "compare?a=Ranker01&b=Ranker07&low=0.1&high=0.5",
    "query", "query?query=7777&places=20", "run", "search", "model", "board.csv",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=10_000)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        store = Path(folder, "many.sqlite")
        make_store(store, given.trials, given.queries)
        print(f"{given.trials:,} trials x {given.queries:,} queries, {store.stat().st_size / 1e6:,.0f} MB")
        app = make_app(find_sources([store]), token=TOKEN, hosts=LOCAL_NAMES, patience=600)
        client = TestClient(app, base_url="http://127.0.0.1")
        client.get("/nowhere", params={"token": TOKEN})
        slow = []
        print(f"{'page':<55} first, s   again, s      kB")
        for page in PAGES:
            first, size = timed(client, page)
            again = min(timed(client, page)[0] for _ in range(3))
            print(f"{page:<55} {first:8.3f} {again:10.3f} {size / 1000:7.0f}")
            slow += [page] if again > LIMIT and not page.endswith("csv") else []
        print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB")
    if slow:
        raise SystemExit(f"over {LIMIT} s: {', '.join(slow)}")


def timed(client: TestClient, page: str) -> tuple[float, int]:
    """Processor seconds of a page, and its size."""
    start = time.process_time()
    answer = client.get(f"/{page}")
    assert answer.status_code == 200, (page, answer.status_code)
    return time.process_time() - start, len(answer.content)


def make_store(path: Path, n_trials: int, n_queries: int) -> None:
    """Trials whose values are drawn: each ranker a little worse than the one before it."""
    rng = np.random.default_rng(0)
    hardness = rng.uniform(0.2, 0.8, n_queries)
    ids = np.arange(n_queries)
    offsets = np.arange(n_queries + 1) * DOCS
    labels = rng.integers(0, 5, n_queries * DOCS).astype(float)
    with Store(path) as store, Kept(kept_path(path), megabytes=4000) as kept:
        kept.add_lists("cafe", Listed(offsets, labels, None))
        for number in range(n_trials):
            ranker, seed = number % RANKERS, number // RANKERS
            values = {name: np.clip(hardness - 0.01 * ranker + rng.normal(0, 0.1, n_queries), 0, 1) for name in METRICS}
            trial = Trial(
                key=f"{ranker}/{seed}", dataset="many", fold="Fold1", ranker="ranknet", label=f"Ranker{ranker:02d}",
                params={}, seed=seed, profile="standard", data="cafe", per_query=values, query_ids=ids,
                test={name: float(column.mean()) for name, column in values.items()},
            )  # fmt: skip
            store.add(trial)
            if seed < KEPT:
                kept.add_scores(trial.key, offsets, rng.random(n_queries * DOCS).astype(np.float32).astype(float))


if __name__ == "__main__":
    main()
