"""`make demo`: every ranker on data made here, measured on queries that none of them has seen."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.progress import track
from rich.table import Table

import ordino
from ordino.rankers import RANKERS, ranker_class

QUICK = {  # settings for seconds instead of minutes, where a ranker's defaults take longer
    "rankde": {"generations": 300},
    "swarm-rank": {"generations": 300},
    "cma-rank": {"generations": 150},
    "gp-rank": {"generations": 30},
    "es-rank": {"generations": 1500},
    "iesr-rank": {"generations": 1500},
    "iesvm-rank": {"generations": 1500},
}


def main() -> None:
    console = Console()
    data = ordino.synthetic("mq", queries=240, seed=1)
    train, valid, test = data.split(0.5, 0.25)
    console.print(f"[bold]{data}[/bold], made like MQ2007 and split by query: learn, choose, test.\n")
    console.print(str(train.describe()), "\n")
    board = []
    for name in track(RANKERS, description="learning", console=console, disable=not sys.stdout.isatty()):
        start = time.perf_counter()
        ranker = ranker_class(name)(**QUICK.get(name, {})).fit(train, valid=valid)
        seconds = time.perf_counter() - start
        result = ordino.evaluate(test, ranker.predict(test), metrics=["ndcg@10", "map", "p@10"])
        board.append((result["ndcg@10"], result["map"], result["p@10"], name, seconds))
    table = Table("ranker", "NDCG@10", "MAP", "P@10", "seconds", title="On the test queries, best first")
    for ndcg, average_precision, precision, name, seconds in sorted(board, reverse=True):
        table.add_row(name, f"{ndcg:.4f}", f"{average_precision:.4f}", f"{precision:.4f}", f"{seconds:.1f}")
    console.print(table)
    console.print("Profile: standard. Another tool's rules are one word away: evaluate(..., profile='trec').")


if __name__ == "__main__":
    main()
