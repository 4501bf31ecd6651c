"""Boosted trees from LightGBM that follow Ordino's contract, shared by LambdaMART and McRank.

LightGBM grows the trees and Ordino does the rest: the number of rounds is chosen on ``valid`` by any metric in any
profile, Ctrl-C keeps the best so far, the same seed gives the same trees on any number of threads, and the fitted
ranker keeps only LightGBM's model text, a plain string.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.booster import Booster, Gradients, Rows, training_groups
from ordino.boosting.library import sentences_of_lightgbm
from ordino.boosting.lightgbm_options import check_options
from ordino.boosting.native_ndcg import NativeNDCG, native_ndcg
from ordino.data.dataset import Dataset
from ordino.data.on_disk import give_back, is_on_disk
from ordino.data.scaling import make_scaler
from ordino.division import Divided
from ordino.errors import DataError, NothingToLearnWarning
from ordino.forms import Form, Trees, load_trees
from ordino.judge import Choice
from ordino.linear import name_weights
from ordino.parameters import Range, learned, param
from ordino.progress import Steps
from ordino.ranker import FeatureWeight, Ranker
from ordino.recurring import metric_param, n_jobs_param, patience_param, profile_param, seed_param, verbose_param
from ordino.threads import count_threads

Floats = NDArray[np.float64]
Scores = Callable[[Floats], Floats]

ENOUGH_VALUES = 1_000_000  # of features, from which on several threads grow a tree faster than one

DRAWING = frozenset(
    ("boosting", "boosting_type", "boost", "data_sample_strategy", "extra_trees", "extra_tree",
     "feature_fraction_bynode", "sub_feature_bynode", "colsample_bynode", "pos_bagging_fraction",
     "neg_bagging_fraction")
)  # fmt: skip
"""LightGBM's options that may make the trees depend on the seed."""

ALWAYS: Mapping[str, object] = MappingProxyType(
    {
        "deterministic": True,
        "feature_pre_filter": False,
        "metric": "none",  # the metrics are ours
        "verbosity": -1,
    }
)
"""LightGBM's parameters that make it deterministic and silent."""


class Task(NamedTuple):
    """What the trees are to learn."""

    params: Mapping[str, object]  # LightGBM's: the objective, how trees are grown
    labels: NDArray[Any]
    gradients: Gradients | None = None  # where the objective is not one of LightGBM's
    start: Floats | None = None  # of each output, before the first tree
    levels: Floats | None = None  # the label of each level, where the gains of LightGBM's NDCG are ours


FEW_QUERIES = 1500
"""Below which small trees at a high rate rank unseen queries better, see docs/results/defaults.md."""


def size_and_rate(ranker: Any, n_queries: int) -> dict[str, object]:
    """LightGBM's leaves and rate: the ranker's own, or where they are None, those for so many queries.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> size_and_rate(SimpleNamespace(leaves=None, learning_rate=None), 1499)
    {'num_leaves': 6, 'learning_rate': 0.1}
    >>> size_and_rate(SimpleNamespace(leaves=None, learning_rate=0.2), 1500)
    {'num_leaves': 15, 'learning_rate': 0.2}
    """
    leaves, rate = (6, 0.1) if n_queries < FEW_QUERIES else (15, 0.05)
    return {"num_leaves": ranker.leaves or leaves, "learning_rate": ranker.learning_rate or rate}


def leaves_param(default: int | None, chosen: str = "") -> Any:
    """The parameter ``leaves``; ``chosen`` says what None is."""
    text = "Maximum number of leaves per tree. Millions of documents call for hundreds."
    return param(default, f"{text}{chosen}", low=2, high=131072, space=Range(4, 63, log=True))


def rate_param(default: float | None, chosen: str = "") -> Any:
    """The parameter ``learning_rate``; ``chosen`` says what None is."""
    return param(default, f"How much each tree contributes.{chosen}", above=0, space=Range(1e-4, 0.3, log=True))


class Grown(NamedTuple):
    """The result of :func:`grow`."""

    model: str
    """The trees as LightGBM's model text, cut after the best round."""
    best_round: int
    history: list[dict[str, float]]
    """A row for each round, with the metric on ``valid`` if there is one."""
    interrupted: bool


class TreeRanker(Ranker):
    """A ranker made of LightGBM's trees: ``model_`` is their text, ``best_round_`` the number of rounds that it has."""

    allows_nan = True
    takes_categories = True
    uses_weights = True

    model_: str = learned()
    best_round_: int = learned()
    history_: list[dict[str, float]] = learned()

    rounds: int = param(500, "Maximum number of boosting rounds; with `valid`, the best is kept.", low=1, brief=2)
    learning_rate: float = rate_param(0.05)
    leaves: int = leaves_param(15)
    min_leaf: int = param(50, "Minimum number of documents per leaf.", low=1, space=Range(5, 200, log=True))
    l2: float = param(0.0, "L2 penalty on the leaf values.", low=0, space=Range(1e-6, 0.1, log=True))
    feature_share: float = param(
        1.0, "Share of the features drawn for each tree.", above=0, high=1, space=Range(0.3, 1.0)
    )
    query_share: float = param(
        1.0,
        "Share of the queries drawn for each tree. Below 1, one thread learns: LightGBM draws other queries each time "
        "on several.",
        above=0,
        high=1,
        space=Range(0.3, 1.0),
    )
    patience: int = patience_param(50, "Stop after this many rounds without improvement on `valid`.")
    metric: str = metric_param(text="The metric used to choose the round on `valid`.")
    profile: str = profile_param()
    scaling: str | None = param(
        None,
        "What the trees see: None, the features as they are; or names in `SCALERS`, such as raw+rank for the features "
        "and their places inside the query.",
        check=make_scaler,
    )
    options: Mapping[str, object] | None = param(
        None, "Other LightGBM parameters, under their LightGBM names.", check=check_options
    )
    seed: int = seed_param(high=2**31 - 1)
    n_jobs: int | None = n_jobs_param()
    verbose: bool = verbose_param()

    @property
    def is_random(self) -> bool:
        """Only if features or queries are drawn, or one of the LightGBM options is random."""
        return self.query_share < 1 or self.feature_share < 1 or not DRAWING.isdisjoint(self.options or {})

    def _params(self, data: Dataset | Divided, task: Mapping[str, object]) -> dict[str, object]:
        """LightGBM's parameters: this ranker's, and those of the task on top."""
        if data.n_docs < 2 * self.min_leaf:
            warnings.warn(
                f"{type(self).__name__}: min_leaf={self.min_leaf} cannot split {data.n_docs} documents, so nothing "
                "can be learned; lower min_leaf",
                NothingToLearnWarning,
                stacklevel=5,
            )
        own = {
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_leaf,
            "lambda_l2": self.l2,
            "feature_fraction": self.feature_share,
            "bagging_fraction": self.query_share,
            "bagging_freq": int(self.query_share < 1),
            "bagging_by_query": self.query_share < 1,
            "seed": self.seed,
        }
        return {**(self.options or {}), **own, **task}

    def _grow(self, task: Task, data: Dataset, valid: Dataset | None, scores: Scores | None = None) -> Grown:
        """Boost with this ranker's parameters; those of the task come on top."""
        return grow(self, task._replace(params=self._params(data, task.params)), data, valid, scores)

    def form(self) -> Form:
        """The trees."""
        self._check_fitted()
        return Trees(self.scaler_, self.n_inputs, self.model_, self.n_jobs)

    @property
    def booster_(self) -> Any:
        """The trees as a LightGBM ``Booster`` with the names of the features, as ``shap.TreeExplainer`` takes it."""
        self._check_fitted()
        import lightgbm as lgb

        line = "feature_names=" + " ".join(re.sub(r"\s", "_", name) for name in self.input_names())
        return lgb.Booster(model_str=re.sub(r"^feature_names=.*$", lambda _: line, self.model_, flags=re.M))

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in what all splits gained, in the order of the columns."""
        self._check_fitted()
        gains = load_trees(self.model_).feature_importance("gain")
        return self.by_feature(np.asarray(gains / (gains.sum() or 1.0), np.float64))

    def feature_gains(self) -> list[FeatureWeight]:
        """How much each feature's splits gained in training, as shares of 1, largest first."""
        return name_weights(self.feature_names(), self.feature_importances_)


@sentences_of_lightgbm()
def grow(ranker: Any, task: Task, data: Dataset, valid: Dataset | None, scores: Scores | None = None) -> Grown:
    """Boost round after round; the best on ``valid`` is kept, or the last where there is none.

    The ranker says for how many rounds, with how much patience, by which metric in which profile; ``scores`` makes
    scores of what the trees give for the held-out documents, where these are not scores already.
    """
    metric, profile, rounds = ranker.metric, ranker.profile, ranker.rounds
    patience, label = ranker.patience or rounds, type(ranker).__name__
    native = None if valid is None else native_ndcg(metric, profile, task.levels, valid)
    n_threads = count_threads(getattr(ranker, "n_jobs", None), enough=data.X.size >= ENOUGH_VALUES)
    if task.params.get("bagging_by_query"):  # LightGBM draws other queries each time where several threads draw them
        n_threads = 1
    own = {"num_threads": n_threads, **bin_layout(on_disk=is_on_disk())}
    params = {**task.params, **own, **ALWAYS, **({} if native is None else native.params)}
    booster = _booster(params, task, data, valid, native)
    choice = Choice(valid, metric, profile)
    best_round = 0
    waiting: list[Floats] = []  # scores after the last rounds, not measured yet

    def measure_waiting() -> int:
        """The best round, once the rounds that wait are measured, all in one call."""
        done = len(choice.history)
        taken = choice.takes_which(waiting)
        waiting.clear()
        if choice.history and np.isnan(choice.history[0]):
            raise DataError(f"valid has no query that {metric} in profile {profile!r} counts; use other data")
        return best_round if taken is None else done + taken + 1

    with Steps(label, rounds, verbose=ranker.verbose) as steps:
        for step in steps:
            exhausted = booster.update(task.gradients)
            if valid is None or (native is not None and choice.takes_value(native.mean(booster))):
                best_round = step + 1
            elif native is None:
                outputs = booster.outputs()
                waiting.append(outputs if scores is None else scores(outputs))
            # a better round among those that wait can only put the end off
            may_end = exhausted or step + 1 >= best_round + patience
            if native is not None or may_end or len(waiting) >= choice.at_once:
                best_round = measure_waiting()
                steps.show(**choice.figures)
            if exhausted or step + 1 >= best_round + patience:
                break
    best_round = measure_waiting()
    measured: list[dict[str, float]] = [{"valid": value} for value in choice.history]
    rows = measured if valid is not None else [{} for _ in range(best_round)]
    history = [{"round": number + 1} | row for number, row in enumerate(rows)]
    return Grown(model_text(booster, best_round), best_round, history, steps.interrupted)


def bin_layout(*, on_disk: bool) -> dict[str, bool]:
    """How LightGBM keeps its bins: by rows is faster, but a copy beside the columns; the trees are the same."""
    return {"force_col_wise": on_disk, "force_row_wise": not on_disk}


def model_text(booster: Booster, best_round: int) -> str:
    """The first trees as text, in which nothing tells on how many threads or machines they grew, or from which bins."""
    text = booster.text(best_round)
    for name, value in bin_layout(on_disk=False).items():
        text = re.sub(rf"^\[{name}: [01]\]$", f"[{name}: {int(value)}]", text, flags=re.M)
    text = re.sub(r"^\[num_threads: \d+\]$", "[num_threads: 0]", text, flags=re.M)
    text = re.sub(r"^\[machines: .*\]$", "[machines: ]", text, flags=re.M)
    return re.sub(r"^\[local_listen_port: \d+\]$", "[local_listen_port: 12400]", text, flags=re.M)


def _booster(
    params: dict[str, object], task: Task, data: Dataset, valid: Dataset | None, native: NativeNDCG | None
) -> Booster:
    """A booster on its data and, beside it, the held-out data that it follows."""

    def start(n_docs: int) -> Floats | None:
        if task.start is None:
            return None
        return np.full(n_docs, task.start[0]) if len(task.start) == 1 else np.tile(task.start, (n_docs, 1))

    names = data.feature_names or ()
    if data.categories:  # names stay with us: LightGBM refuses some characters
        params = params | {"categorical_feature": sorted(names.index(name) for name in data.categories)}
    train = Rows(
        data.X,
        task.labels,
        params,
        group=training_groups(data.counts),
        weight=data.weights,
        start=start(data.n_docs),
        from_disk=is_on_disk(),
    )
    give_back()
    held_out = None
    if valid is not None:
        labels, counts = (np.zeros(valid.n_docs), None) if native is None else (native.levels, native.counts)
        held_out = Rows(valid.X, labels, params, group=counts, start=start(valid.n_docs), reference=train)
    return Booster(params, train, held_out)
