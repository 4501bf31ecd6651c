"""SortNet's open question, other learning procedures: which choice of pairs teaches most."""

from collections.abc import Iterator

import numpy as np

from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import COLUMNS, WITH_ERROR, Row, row_number
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.networks.choosing import WAYS

COLLECTIONS = ("MQ2007", "MQ2008")
PAPER = "mis-compared"
MEASURES = ("ndcg@10", "map", "pairwise_error")
USED = "pairs used"
REPEATS = 10
BUDGET = {"hidden": 20, "max_iter": 8, "epochs": 20, "metric": "ndcg@10"}
QUICK = {"max_iter": 2, "epochs": 2}
ROWS = [Row(way, System("sortnet", BUDGET | {"choose": way}, quick=QUICK, repeats=REPEATS)) for way in WAYS]
PROTOCOL = """\
SortNet with our defaults but 20 hidden neurons, 8 iterations and 20 epochs, on {data} ({folds}, {repeats}); the \
iteration is chosen on the validation part by NDCG@10. Only the choice of training pairs differs. Ways that do not \
take the mis-compared pairs look at ten times as many pairs, drawn alike from every query, and take as many as the \
sort mis-compared. No pair is used twice. A claim here is our question, not the paper's: "comes back" means that the \
gain is shown, "does not" that there is none of a size that matters."""


def plans(request: Request) -> list[Plan]:
    """Every way on every collection."""
    how = {"measures": WITH_ERROR, "profile": "standard"}
    found = request.collections(COLLECTIONS)
    return [request.plan({name: folds}, [row.system for row in ROWS], **how) for name, folds in found.items()]


def view(request: Request, trials: Trials) -> Iterator[Number]:
    """Quality of each way, and how many pairs it had learned from in the end."""
    for name in request.collections(COLLECTIONS):
        for row in ROWS:
            yield from (row_number(row, name, "test", metric, request, trials) for metric in MEASURES)
            own = trials.of(name, row.system.label(request))
            used = [trials.store.history(trial.key)[-1]["train_known"] for trial in own]
            yield Number((name, row.label, "train", USED), None, (float(np.mean(used)),))


def _claims() -> list[Claim]:
    where = {"part": "test", "measure": "ndcg@10"}
    return [
        Claim(says=f"{way} beats {PAPER} in NDCG@10", better={"method": way} | where, worse={"method": PAPER} | where)
        for way in WAYS
        if way != PAPER
    ]


TARGET = Target(
    shows="how SortNet's pairs are chosen", needs=", ".join(COLLECTIONS), takes="40 min", plans=plans, view=view,
    page=Result("how SortNet's pairs are chosen, on {data}", COLUMNS, protocol=PROTOCOL, claims=_claims(), digits=4),
)  # fmt: skip
