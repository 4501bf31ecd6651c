"""`make demo`: every ranker on data made here, measured on queries that none has seen, as a table and a page."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from rich.console import Console

import ordino
from ordino.data.folds import Fold, Folds
from ordino.experiment.plan import Plan
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.page import html
from ordino.experiment.report.text import terminal
from ordino.experiment.run import run
from ordino.experiment.store.kept import MEGABYTES, models_folder
from ordino.rankers import RANKERS

QUERIES = (120, 60, 240)  # to learn from, to choose by, to test on: with fewer of the last, chance decides who is first
QUICK = {  # settings for seconds instead of minutes, where a ranker's defaults take longer
    "sortnet": {"max_iter": 4, "epochs": 15},
    "deepnet": {"epochs": 20},
    "dense-comparator": {"epochs": 20},
    "rankde": {"generations": 300},
    "swarm-rank": {"generations": 300},
    "cma-rank": {"generations": 150},
    "gp-rank": {"generations": 30},
    "es-rank": {"generations": 1500},
    "iesr-rank": {"generations": 1500},
    "iesvm-rank": {"generations": 1500},
    "auto": {"minutes": 0.5},
}


def main() -> None:
    start, console = time.perf_counter(), Console()
    data = ordino.synthetic("mq", queries=sum(QUERIES), seed=1)
    parts = data.split(*(n / sum(QUERIES) for n in QUERIES))
    folds = Folds(["Fold1"], lambda _: Fold("Fold1", *parts))
    console.print(f"[bold]{data}[/bold], made like MQ2007 and split by query: learn, choose, test.\n")
    console.print(str(folds[0].train.describe()), "\n")
    plan = Plan(
        data={"Data made like MQ2007": folds},
        rankers=[{"ranker": name, "params": QUICK.get(name, {})} for name in RANKERS],
        measures=["ndcg@10", "map", "p@10", *(f"ndcg@{k}" for k in (1, 3, 5, 20))],
        name="demo",
    )
    home = Path(mkdtemp(prefix="ordino-demo-"))
    store = home / "demo.sqlite"
    kept = {"rankings": MEGABYTES, "models": models_folder(store), "documents": True}
    boards = make_boards(run(plan, store, verbose=True, **kept), measures=["ndcg@10", "map", "p@10"])
    page = home / "demo.html"
    page.write_text(html(boards, title="Every ranker of Ordino"), encoding="utf-8")
    print(terminal(boards))
    console.print(f"{len(RANKERS)} rankers in {time.perf_counter() - start:.0f} seconds. Open the page in a browser:")
    console.print(page.as_uri(), soft_wrap=True)
    console.print("Look closer, from the board to why a document is first in four clicks:")
    console.print(f"{Path(sys.executable).parent / 'ordino'} studio {store}", soft_wrap=True)


if __name__ == "__main__":
    main()
