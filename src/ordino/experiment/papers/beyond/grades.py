"""DeepNet's open question, more than two degrees of relevance: its tuned network on graded labels."""

from collections.abc import Iterator

from ordino.data.folds import Fold, Folds
from ordino.data.prepare import binarize_labels
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import pair_notes
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan

COLLECTIONS = ("MQ2007", "MQ2008")
MEASURES = ("ndcg@10", "map", "pairwise_error")
GRADED, BINARY = "graded", "binarized"
TUNED = System(
    "deepnet", {"epochs": 100, "select": "metric", "metric": "ndcg@10", "algorithm": "copeland"}, "published",
    {"epochs": 2, "n_pairs": 200, "n_valid_pairs": 100}, repeats=10,
)  # fmt: skip
PROTOCOL = """\
DeepNet's tuned network (24, 12 and 6 neurons from auto-encoders), but with 100 epochs, chosen on the validation \
part by NDCG@10, and Copeland's order, on {data} ({folds}, {repeats}). "Binarized" turns the labels of the \
training and validation parts into relevant or not (the middle of their range and more is relevant); test labels \
stay graded. A claim here is our question, not the thesis's: "comes back" means that the gain is shown, "does not" \
that there is none of a size that matters."""


def binarized(folds: Folds) -> Folds:
    """The same folds, with labels of training and validation parts as relevant or not."""

    def load(i: int) -> Fold:
        fold = folds[i]
        threshold = float(fold.train.y.max() + fold.train.y.min() + 1) // 2
        valid = None if fold.valid is None else binarize_labels(fold.valid, threshold=threshold)
        return Fold(fold.name, binarize_labels(fold.train, threshold=threshold), valid, fold.test)

    return Folds(folds.names, load)


def plans(request: Request) -> Iterator[Plan]:
    """The network on labels as they are, and on binary ones."""
    how = {"measures": MEASURES, "profile": "standard"}
    for name, folds in request.collections(COLLECTIONS).items():
        yield request.plan({name: folds}, [TUNED], **how)
        yield request.plan({f"{name}, {BINARY}": binarized(folds)}, [TUNED], **how)


def view(request: Request, trials: Trials) -> Iterator[Number]:
    """Both kinds of labels side by side."""
    for name in request.collections(COLLECTIONS):
        for labels, dataset in ((GRADED, name), (BINARY, f"{name}, {BINARY}")):
            for metric in MEASURES:
                yield Number((name, labels, metric), None, trials.by_seed(dataset, TUNED.label(request), metric))


def pairs(request: Request) -> Iterator[str]:
    """The pairs of both kinds of labels."""
    for name, folds in request.collections(COLLECTIONS).items():
        yield from pair_notes(name, folds, [TUNED], request)
        yield from pair_notes(f"{name}, {BINARY}", binarized(folds), [TUNED], request)


TARGET = Target(
    shows="DeepNet on graded and on binarized labels", needs=", ".join(COLLECTIONS), takes="30 min", plans=plans,
    view=view, pairs=pairs,
    page=Result(
        "DeepNet on graded and on binarized labels, {data}", ("collection", "labels", "measure"), protocol=PROTOCOL,
        digits=4,
        claims=[
            Claim(
                says="graded labels beat binarized ones in NDCG@10", better={"labels": GRADED, "measure": "ndcg@10"},
                worse={"labels": BINARY, "measure": "ndcg@10"},
            ),
            Claim(
                says="graded labels put fewer pairs in the wrong order",
                better={"labels": GRADED, "measure": "pairwise_error"},
                worse={"labels": BINARY, "measure": "pairwise_error"}, smaller_is_better=True,
            ),
        ],
    ),
)  # fmt: skip
