"""RankNet's open question, other models under the constraint of speed: every loss with every model, quality by cost."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import Request, Target, Trials
from ordino.losses import LOSSES
from ordino.losses.table import probability_losses
from ordino.metrics import evaluate
from ordino.ranker import Ranker
from ordino.rankers.deepnet import DeepNet
from ordino.rankers.scorer import Scorer

COLLECTIONS = ("MQ2007", "MQ2008")
QUALITY, COST = "ndcg@10", "microseconds a document"
N_COMPONENTS, N_FOLDS, N_TIMED = 200, 2, 3
PROTOCOL = f"""\
On {{data}}, the first {N_FOLDS} folds: every loss of docs/losses.md with a linear function, a network of 64 and \
32 neurons, boosted trees (LightGBM, at most 50), and a linear function of {N_COMPONENTS} Nystroem features of an \
RBF kernel; and those losses that can judge a comparator with DeepNet's network of pairs. 10 epochs; epochs and \
rounds are chosen on the validation part by NDCG@10. Cost is that of `predict` on the whole test part with one \
thread, scaling included, the quickest of {N_TIMED}; a comparator compares every pair of a query. Values are those \
of the folds. The front of the figure is drawn through all that nothing else beats in both."""


def made(loss: str, model: str, quick: bool) -> Ranker | None:
    """The ranker of a loss and a model; None if they do not go together."""
    brief: dict[str, Any] = {"epochs": 2 if quick else 10, "seed": 0, "n_jobs": 1}
    if model == "pairs":
        return DeepNet(loss=loss, hidden=20, n_pairs=20_000, **brief) if loss in probability_losses() else None
    form = {"kernel": "linear"}.get(model, model)
    scaling = None if model == "kernel" else "zscore"
    own: dict[str, Any] = {
        "hidden": (64, 32),
        "dropout": 0.0,
        "rounds": 5 if quick else 50,
        "leaves": 15,
        "learning_rate": 0.05 if model == "trees" else None,
        "patience": 10,
    }
    return Scorer(loss=loss, model=form, scaling=scaling, **own, **brief)


MODELS = ("linear", "network", "trees", "kernel", "pairs")


def kernel_features(fold: Fold) -> tuple[Fold, Callable[[Dataset], Dataset]]:
    """The fold on features of a kernel, and what makes them."""
    scaler = StandardScaler().fit(fold.train.X)
    kernel = Nystroem(
        gamma=1 / fold.train.n_features, n_components=min(N_COMPONENTS, fold.train.n_docs), random_state=0
    )
    kernel.fit(scaler.transform(fold.train.X))

    def through(data: Dataset) -> Dataset:
        return data.replace_features(kernel.transform(scaler.transform(data.X)).astype(np.float32), None)

    valid = None if fold.valid is None else through(fold.valid)
    return Fold(fold.name, through(fold.train), valid, fold.test), through


def measured(ranker: Ranker, fold: Fold, before: Callable[[Dataset], Dataset] | None) -> tuple[float, float]:
    """NDCG@10 on the test part, and the microseconds that a document takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(fold.train, valid=fold.valid)
    times, scores = [], np.zeros(0)
    for _ in range(N_TIMED):
        begun = time.process_time()
        test = fold.test if before is None else before(fold.test)
        scores = ranker.predict(test)
        times.append(time.process_time() - begun)
    return float(evaluate(fold.test, scores, metrics=[QUALITY])[QUALITY]), 1e6 * min(times) / fold.test.n_docs


def view(request: Request, _: Trials) -> Iterator[Number | str]:
    """Quality and cost of every loss with every model."""
    for name, folds in request.collections(COLLECTIONS).items():
        values: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for fold in folds[:N_FOLDS]:
            on_kernel, through = kernel_features(fold)
            for model in MODELS:
                for loss in list(LOSSES)[:: 6 if request.quick else 1]:
                    ranker = made(loss, model, request.quick)
                    if ranker is not None:
                        own, before = (on_kernel, through) if model == "kernel" else (fold, None)
                        values.setdefault((loss, model), []).append(measured(ranker, own, before))
        for (loss, model), found in values.items():
            quality, cost = zip(*found, strict=True)
            yield Number((name, loss, model, QUALITY), None, quality)
            yield Number((name, loss, model, COST), None, cost)
        means = {key: tuple(np.mean(found, axis=0)) for key, found in values.items()}
        told = ", ".join(f"{model} with {loss}" for loss, model in front(means))
        yield f"The front on {name}, from the quickest to the best: {told}."


def front(means: dict[tuple[str, str], tuple[float, float]]) -> list[tuple[str, str]]:
    """What nothing else beats in both quality and cost, the quickest first.

    Examples
    --------
    >>> front({("a", "x"): (0.5, 1.0), ("b", "x"): (0.4, 2.0), ("c", "x"): (0.6, 3.0)})
    [('a', 'x'), ('c', 'x')]
    """
    best, kept = -np.inf, []
    for key in sorted(means, key=lambda key: (means[key][1], -means[key][0])):
        if means[key][0] > best:
            best = means[key][0]
            kept.append(key)
    return kept


TARGET = Target(
    shows="every loss with every model, quality against the cost of scoring", needs=", ".join(COLLECTIONS),
    takes="30 min", view=view,
    page=Result(
        "every loss with every model, on {data}", ("collection", "loss", "model", "measure"), protocol=PROTOCOL,
        of="folds", digits=4, axes=Axes("front", COST, QUALITY, color="model", facet="collection", logarithmic=True),
    ),
)  # fmt: skip
