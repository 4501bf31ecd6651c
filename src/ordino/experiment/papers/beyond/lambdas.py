"""DirectRanker's open question: LambdaRank's weights on pairs of neighboring classes."""

from ordino.experiment.papers.letor import Row, letor_table, row_claim
from ordino.experiment.papers.target import System

BUDGET = {
    "hidden": (32, 8), "epochs": 20, "dropout": 0.0, "learning_rate": 3e-3, "scaling": "quantile", "metric": "ndcg@10"
}  # fmt: skip
REPEATS = 10


def _row(label: str, **params: object) -> Row:
    return Row(label, System("directranker", BUDGET | params, quick={"epochs": 2}, repeats=REPEATS))


PAPER = _row("the paper's cost")
RANKNET = _row("cross entropy", loss="ranknet")
LAMBDA = _row("lambda weights", loss="lambdarank")
ALL = _row("lambda weights, all pairs", loss="lambdarank", pairs="all")
PROTOCOL = """\
DirectRanker with layers of 32 and 8 neurons and 20 epochs on {data} ({folds}, {repeats}); the epoch is chosen on \
the validation part by NDCG@10. Pairs are of neighboring classes, but in the last row, which is LambdaRank on all \
pairs. A claim here is our question, not the paper's: "comes back" means that the gain is shown, "does not" that \
there is none of a size that matters."""

TARGET = letor_table(
    shows="DirectRanker with LambdaRank's weights on {data}", takes="20 min", protocol=PROTOCOL,
    rows=lambda *_: [PAPER, RANKNET, LAMBDA, ALL], collections=("MQ2007", "MQ2008"), metrics=("ndcg@10", "map"),
    claims=[
        row_claim("lambda weights beat the paper's cost", LAMBDA, PAPER, "ndcg@10"),
        row_claim("lambda weights beat cross entropy on the same pairs", LAMBDA, RANKNET, "ndcg@10"),
        row_claim("neighboring classes beat all pairs, with lambda weights", LAMBDA, ALL, "ndcg@10"),
    ],
)  # fmt: skip
