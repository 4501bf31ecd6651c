"""DirectRanker's open question, classification: thresholds on a ranker's scores, on scikit-learn's own data sets."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import NOTHING, Request, Target, Trials
from ordino.experiment.plan.plan import repeat_seeds
from ordino.ordinal import OrdinalClassifier
from ordino.rankers.directranker import DirectRanker
from ordino.rankers.ranknet import RankNet

REPEATS, N_FOLDS = 5, 5
ACCURACY, DISTANCE = "accuracy", "mean distance"
LOGISTIC, BOOSTING = "logistic regression", "gradient boosting"
NETWORK: dict[str, Any] = {"hidden": (32,), "epochs": 30, "learning_rate": 0.02}
MODELS: Mapping[str, Callable[[int], Any]] = {
    "ordinal, DirectRanker": lambda seed: OrdinalClassifier(DirectRanker(seed=seed, **NETWORK), folds=2),
    "ordinal, RankNet": lambda seed: OrdinalClassifier(RankNet(seed=seed, **NETWORK), folds=2),
    LOGISTIC: lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    BOOSTING: lambda seed: HistGradientBoostingClassifier(random_state=seed, max_iter=60),
}
PROTOCOL = """\
{n} times five stratified folds, other folds each time, on the data sets that ship with scikit-learn. The classes \
of diabetes are fifths of its measure of disease progression, and those of digits the digits 0 to 9: both have an \
order. Iris, wine and breast cancer have classes without one that is known, in the order of their numbers. \
"{distance}" is by how many classes a prediction is off, on average. Classifiers have scikit-learn's defaults \
(boosting with 60 rounds); OrdinalClassifier learns with networks of 32 neurons and 30 epochs. Values are means \
over the rows of one repeat. A claim here is our question: "comes back" means that the gain is shown, "does not" \
that there is none of a size that matters.""".replace("{distance}", DISTANCE)


def collections(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features and classes of each set."""
    for name in ("iris",) if quick else ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        if name == "diabetes":
            y = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
        yield name.replace("_", " "), X, y


def view(request: Request, _: Trials) -> Iterator[Number]:
    """Accuracy and distance of every model on every set."""
    for name, X, y in collections(request.quick):
        for label, make in MODELS.items():
            found: dict[str, list[float]] = {ACCURACY: [], DISTANCE: []}
            for seed in repeat_seeds(request.seed, request.at_most(REPEATS)):
                folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    predicted = cross_val_predict(make(seed), X, y, cv=folds)
                found[ACCURACY].append(float((predicted == y).mean()))
                found[DISTANCE].append(float(np.abs(predicted - y).mean()))
            yield from (Number((name, label, measure), None, tuple(values)) for measure, values in found.items())


def _claims() -> list[Claim]:
    own = "ordinal, DirectRanker"
    return [
        Claim(
            says=f"thresholds on DirectRanker's scores have a smaller {DISTANCE} than {rival}",
            better={"model": own, "measure": DISTANCE}, worse={"model": rival, "measure": DISTANCE},
            smaller_is_better=True, is_paired=True,
        )
        for rival in (LOGISTIC, BOOSTING)
    ]  # fmt: skip


TARGET = Target(
    shows="classes by thresholds on a ranker's scores", needs=NOTHING, takes="15 min", view=view,
    page=Result(
        "classes by thresholds on a ranker's scores", ("set", "model", "measure"), protocol=PROTOCOL, claims=_claims(),
        of="repeats", digits=4,
    ),
)  # fmt: skip
