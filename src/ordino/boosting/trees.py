"""Boosted trees from LightGBM under our contract: what LambdaMART and McRank share.

LightGBM grows the trees; everything around them is ours: rounds are chosen on ``valid`` by any of our measures in any
profile, Ctrl-C keeps the best so far, the same seed gives the same trees on any number of threads, and what remains of
training is LightGBM's own model text, a plain string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.native_ndcg import LIMIT, NativeNDCG, native_ndcg
from ordino.checks import check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError, import_extra
from ordino.judge import Choice
from ordino.linear import FeatureWeight
from ordino.progress import Steps
from ordino.ranker import Ranker

Gradients = Callable[[NDArray[np.float64], Any], tuple[NDArray[np.float64], NDArray[np.float64]]]


DRAWING = frozenset(
    [
        "boosting",
        "boosting_type",
        "boost",
        "data_sample_strategy",
        "extra_trees",
        "extra_tree",
        "feature_fraction_bynode",
        "sub_feature_bynode",
        "colsample_bynode",
        "pos_bagging_fraction",
        "neg_bagging_fraction",
    ]
)
"""LightGBM's options that may make the trees depend on the seed."""


class Task(NamedTuple):
    """What the trees are to learn."""

    params: Mapping[str, object]  # LightGBM's objective and its own parameters
    labels: NDArray[Any]
    gradients: Gradients | None = None  # where the objective is not one of LightGBM's
    start: NDArray[np.float64] | None = None  # of each output, before the first tree
    levels: NDArray[np.float64] | None = None  # the label of each level, where the gains of LightGBM's NDCG are ours


class TreeRanker(Ranker):
    """A ranker made of LightGBM's trees.

    Attributes
    ----------
    model_
        The trees as LightGBM's model text, cut after the best round.
    best_round_
        How many rounds the model has.
    valid_history_
        The measure on ``valid`` after each round, turned so that larger is better; empty without ``valid``.
    """

    allows_nan = True
    uses_weights = True

    rounds: int
    learning_rate: float
    leaves: int
    min_leaf: int
    l2: float
    feature_share: float
    query_share: float
    patience: int
    metric: str
    profile: str
    options: Mapping[str, object] | None
    seed: int
    n_jobs: int | None
    verbose: bool

    @property
    def is_random(self) -> bool:
        """Only where features or queries are drawn, or one of LightGBM's own options draws."""
        return self.query_share < 1 or self.feature_share < 1 or not DRAWING.isdisjoint(self.options or {})

    def _grow(
        self,
        task: Task,
        data: Dataset,
        valid: Dataset | None,
        scores: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> bool:
        """Boost round after round, and tell whether Ctrl-C ended it; ``scores`` makes a score of the trees' outputs."""
        native = None if valid is None else native_ndcg(self.metric, self.profile, task.levels, valid)
        params = self._params() | dict(task.params) | ({} if native is None else native.params)
        patience = check_int("patience", self.patience, low=1)
        lgb = import_extra("lightgbm", extra="trees", purpose=type(self).__name__)
        booster, held_out = _booster(lgb, params, task, data, valid, native)
        choice = Choice(valid, self.metric, self.profile)
        rounds = check_int("rounds", self.rounds, low=1)
        self.best_round_ = 0
        waiting: list[NDArray[np.float64]] = []  # scores after the last rounds, not measured yet
        with Steps(type(self).__name__, rounds, verbose=self.verbose) as steps:
            for step in steps:
                exhausted = booster.update(fobj=task.gradients)
                if valid is None or (native is not None and choice.takes_value(native.mean(booster))):
                    self.best_round_ = step + 1
                elif native is None:
                    waiting.append(scores(_outputs(booster, held_out)))
                # a better round among those that wait can only put the end off
                may_end = exhausted or step + 1 >= self.best_round_ + patience
                if native is not None or may_end or len(waiting) >= choice.at_once:
                    self._settle(choice, waiting)
                    steps.show(**choice.figures)
                if exhausted or step + 1 >= self.best_round_ + patience:
                    break
        self._settle(choice, waiting)
        self.valid_history_ = choice.history
        self.model_: str = booster.model_to_string(num_iteration=self.best_round_)
        return steps.interrupted

    def _settle(self, choice: Choice, waiting: list[NDArray[np.float64]]) -> None:
        """Measure the rounds that wait, all in one call, and note the best."""
        done = len(choice.history)
        taken = choice.takes_which(waiting)
        waiting.clear()
        if taken is not None:
            self.best_round_ = done + taken + 1
        if choice.history and np.isnan(choice.history[0]):
            raise DataError(f"valid has no query that {self.metric} in profile {self.profile!r} counts; give others")

    def _params(self) -> dict[str, object]:
        """LightGBM's parameters under our names, and those that make it deterministic."""
        query_share = check_real("query_share", self.query_share, low=0, high=1, open_low=True)
        n_jobs = 0 if self.n_jobs is None else check_int("n_jobs", self.n_jobs, low=1)
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ParameterError(f"options={self.options!r}; give a mapping of LightGBM's parameters, or None")
        return {
            **(self.options or {}),
            "learning_rate": check_real("learning_rate", self.learning_rate, low=0, open_low=True),
            "num_leaves": check_int("leaves", self.leaves, low=2, high=131072),
            "min_data_in_leaf": check_int("min_leaf", self.min_leaf, low=1),
            "lambda_l2": check_real("l2", self.l2, low=0),
            "feature_fraction": check_real("feature_share", self.feature_share, low=0, high=1, open_low=True),
            "bagging_fraction": query_share,
            "bagging_freq": int(query_share < 1),
            "bagging_by_query": query_share < 1,
            "seed": check_int("seed", self.seed, low=0, high=2**31 - 1),
            "num_threads": n_jobs,
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "metric": "none",  # the measures are ours
            "verbosity": -1,
        }

    def _raw(self, data: Dataset) -> NDArray[np.float64]:
        """The sums of the trees, shape ``(n_docs,)`` or ``(n_docs, n_outputs)``."""
        booster = load_trees(self.model_)
        if data.n_docs == 0:  # which LightGBM refuses
            outputs = booster.num_model_per_iteration()
            return np.zeros(0 if outputs == 1 else (0, outputs))
        raw: NDArray[np.float64] = booster.predict(data.X, raw_score=True, num_threads=self.n_jobs or 0)
        return raw

    def feature_gains(self) -> list[FeatureWeight]:
        """How much each feature's splits gained in training, as shares of 1, largest first."""
        self._check_fitted()
        gains = load_trees(self.model_).feature_importance("gain")
        shares = gains / (gains.sum() or 1.0)
        names = getattr(self, "feature_names_in_", [f"f{j + 1}" for j in range(len(shares))])
        return [FeatureWeight(str(names[j]), float(shares[j])) for j in np.argsort(-shares, kind="stable")]


@lru_cache(maxsize=8)
def load_trees(model: str) -> Any:
    """LightGBM's booster from its model text."""
    lgb = import_extra("lightgbm", extra="trees", purpose="a ranker of trees")
    return lgb.Booster(model_str=model)


def merge_trees(models: Sequence[str]) -> str:
    """One model text with the trees of all, which gives the sum of their scores."""
    if len(models) == 1:
        return models[0]
    parts = [re.split(r"^Tree=\d+\n", model, flags=re.MULTILINE) for model in models]  # head, then tree after tree
    trees = [tree.partition("end of trees")[0] for _, *trees in parts for tree in trees]
    blocks = [f"Tree={i}\n{tree}" for i, tree in enumerate(trees)]
    sizes = " ".join(str(len(block)) for block in blocks)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", parts[0][0], flags=re.MULTILINE)
    _, end, tail = models[0].partition("end of trees")
    return head + "".join(blocks) + end + tail


def training_groups(counts: NDArray[np.int64], limit: int = LIMIT) -> NDArray[np.int64]:
    """Sizes of the lists to learn from: a query with more documents than LightGBM accepts becomes equal parts.

    Rows come in canonical order, by a hash of what they are, so that the parts are random samples of the query. Only
    training sees them; measures and predictions are of whole queries.

    Examples
    --------
    >>> training_groups(np.array([3, 25, 10]), limit=10).tolist()
    [3, 9, 8, 8, 10]
    """
    if len(counts) == 0 or counts.max() <= limit:
        return counts
    parts = -(-counts // limit)
    share, rest = np.repeat(counts // parts, parts), np.repeat(counts % parts, parts)
    part = np.arange(len(share)) - np.repeat(np.cumsum(parts) - parts, parts)  # its number inside the query
    return share + (part < rest)


def _booster(
    lgb: Any, params: dict[str, object], task: Task, data: Dataset, valid: Dataset | None, native: NativeNDCG | None
) -> tuple[Any, Any]:
    """A booster on its data and, beside it, the held-out data that it follows."""

    def start(n_docs: int) -> NDArray[np.float64] | None:
        if task.start is None:
            return None
        return np.full(n_docs, task.start[0]) if len(task.start) == 1 else np.tile(task.start, (n_docs, 1))

    # names stay with us: LightGBM refuses some characters
    train = lgb.Dataset(
        data.X,
        task.labels,
        group=training_groups(data.counts),
        weight=data.weights,
        init_score=start(data.n_docs),
        params=params,
    )
    booster = lgb.Booster(params, train)
    if valid is None:
        return booster, None
    labels, counts = (np.zeros(valid.n_docs), None) if native is None else (native.levels, native.counts)
    held_out = lgb.Dataset(
        valid.X, labels, group=counts, init_score=start(valid.n_docs), reference=train, params=params
    )
    return booster.add_valid(held_out, "valid"), held_out


def _outputs(booster: Any, held_out: Any) -> NDArray[np.float64]:
    """What the trees say of the held-out documents, kept up to date by LightGBM round by round."""
    seen: list[NDArray[np.float64]] = []

    def look(outputs: NDArray[np.float64], _: Any) -> tuple[str, float, bool]:
        seen.append(np.copy(outputs))  # LightGBM writes the next round's into the same place
        return "seen", 0.0, True

    booster.eval(held_out, "valid", look)
    return seen[0]
