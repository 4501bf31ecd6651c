"""Three rankers on the folds of one data set, kept in a store, and whether their differences are more than chance."""

from pathlib import Path
from tempfile import TemporaryDirectory

import ordino
from ordino.data.folds import make_folds
from ordino.experiment.plan import Plan
from ordino.experiment.report.board import compare_labels, make_boards
from ordino.experiment.report.text import markdown
from ordino.experiment.run import run


def main() -> None:
    folds = make_folds(ordino.synthetic("mq", queries=90, seed=1), k=3)
    plan = Plan(
        data={"Data made like MQ2007": folds},
        rankers=[{"ranker": name} for name in ("single-feature", "linear-regression-ranker", "rank-svm")],
        measures=["ndcg@10", "map"],
    )
    with TemporaryDirectory() as folder:
        trials = run(plan, Path(folder) / "store.sqlite", n_jobs=1)  # a stopped run goes on from the store
    [board] = make_boards(trials, baseline="SingleFeature")
    print(markdown([board]))
    for found in compare_labels(board, "RankSVM", "LinearRegressionRanker"):
        print(
            f"{found.measure}: RankSVM minus least squares is {found.difference:+.4f} "
            f"({found.interval.low:+.4f} to {found.interval.high:+.4f}), p = {found.p:.3f}"
        )


if __name__ == "__main__":
    main()
