r"""McRank: classify documents into relevance levels, rank by the expected level (Li, Burges and Wu, NIPS 2007).

.. math:: s(x) = \sum_{k} T(k) \, P(y = k \mid x)

In its multiple classification form all :math:`P(y = k)` come from one softmax over boosted trees. In its ordinal form
the trees learn :math:`P(y \ge k)` for each level above the lowest, and the levels' probabilities are differences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from ordino.boosting.booster import Gradients
from ordino.boosting.trees import Task, TreeRanker, leaves_param
from ordino.data.dataset import Dataset
from ordino.errors import DataError
from ordino.forms import Trees, require
from ordino.parameters import param, settings

CLASSIFICATIONS = ("multiclass", "ordinal")
VALUES = ("linear", "exponential")
MOST_LEVELS = 100


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedLevel(Trees):
    """Trees whose outputs are probabilities of levels; a document's score is the expected worth of its level."""

    worth: NDArray[np.float64]
    """What each level is worth."""
    start: NDArray[np.float64] | None = None
    """In ordinal form the log-odds of P(y >= k) before the first tree."""

    def score_scaled(self, data: Dataset) -> NDArray[np.float64]:
        """The expected worth."""
        return expected_worth(self.probabilities(data), self.worth)

    def probabilities(self, data: Dataset) -> NDArray[np.float64]:
        """P(y = k) of each level, shape ``(n_docs, n_levels)``."""
        raw = self.outputs(data)
        if self.start is None:
            return np.asarray(softmax(raw, axis=1))
        return at_levels(raw.reshape(data.n_docs, len(self.start)) + self.start)

    def check(self) -> None:
        """Levels that are worth something, with a start for each but one."""
        Trees.check(self)
        require(np.asarray(self.worth).dtype == np.float64 and np.ndim(self.worth) == 1, "worth_")
        require(self.start is None or np.shape(self.start) == (max(len(self.worth), 2) - 1,), "start_")


@final
class McRank(TreeRanker):
    r"""Boosted trees that classify, ranked by expected relevance.

    Each round grows a tree for each level (in ordinal form, for each level but one). The paper's :math:`\nu` and *J*
    are ``learning_rate`` and ``leaves``.

    Attributes
    ----------
    levels_, worth_
        The labels seen in training, in ascending order, and the value of each.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0]] * 20, [0, 1, 2] * 20
    >>> ranker = McRank(rounds=5, min_leaf=5).fit(X, y, qid=[1] * len(y))
    >>> ranker.rank([[2.0], [3.0], [1.0]]).tolist()
    [1, 0, 2]
    >>> int(ranker.predict_proba([[3.0]]).argmax())
    2
    """

    renamed: ClassVar[Mapping[str, str]] = {"form": "classification"}

    classification: str = param(
        "multiclass", "multiclass (all levels in one softmax) or ordinal (P(y >= k) for each).", choices=CLASSIFICATIONS
    )
    value: str = param(
        "linear",
        "Value of a level, the paper's T(k): linear (the label) or exponential (2^y - 1).",
        choices=VALUES,
    )
    leaves: int = leaves_param(10)

    published = settings(classification="multiclass", value="linear")
    """Multiple classification, T(k) = k."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        self.levels_, level = np.unique(data.y, return_inverse=True)
        if len(self.levels_) > MOST_LEVELS:
            raise DataError(
                f"y has {len(self.levels_):,} different labels, but McRank supports at most {MOST_LEVELS} levels; "
                "round the labels, or use LambdaMART"
            )
        # 2^y for 2^y - 1, which moves all scores alike; very large ones are divided by a power of 2
        scale = max(self.levels_[-1] - 500.0, 0.0)
        self.worth_ = self.levels_ if self.value == "linear" else np.exp2(self.levels_ - scale)
        self.ordinal_ = self.classification == "ordinal"
        self.__dict__.pop("start_", None)  # of a fit in ordinal form
        n_levels = max(len(self.levels_), 2)  # where all labels are equal, the second level stays empty
        if self.ordinal_:
            above = level[:, None] >= np.arange(1, n_levels)  # (n_docs, n_levels - 1): y >= k?
            weights = data.doc_weights
            share = (weights @ above + 0.5) / (weights.sum() + 1.0)
            self.start_ = np.log(share / (1.0 - share))
            params = {"objective": "none", "num_class": n_levels - 1}
            task = Task(params, level, logistic_gradients(above, data.weights), self.start_)
        else:
            task = Task({"objective": "multiclass", "num_class": n_levels}, level)

        def scores(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
            found = at_levels(outputs.reshape(-1, n_levels - 1)) if self.ordinal_ else outputs
            return expected_worth(found, self.worth_)

        self.model_, self.best_round_, self.history_, _ = self._grow(task, data, valid, scores)

    def form(self) -> ExpectedLevel:
        """The trees and what the levels are worth."""
        self._check_fitted()
        start = self.start_ if self.ordinal_ else None
        return ExpectedLevel(self.scaler_, self.n_inputs, self.model_, self.n_jobs, worth=self.worth_, start=start)

    def predict_proba(
        self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> NDArray[np.float64]:
        """The probability of each of ``levels_``, shape ``(n_docs, n_levels)``, in the order of X."""
        data = self.prepared(X, qid=qid)
        return data.restore(self.form().probabilities(data))[:, : len(self.levels_)]


def expected_worth(probabilities: NDArray[np.float64], worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected worth of each document's level."""
    # a sum along each row, so that a document's score does not depend on its neighbors
    return np.asarray(np.einsum("ij,j->i", probabilities[:, : len(worth)], worth))


def logistic_gradients(above: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> Gradients:
    """First and second derivatives of the logistic loss of each P(y >= k), for LightGBM."""
    importance = 1.0 if weights is None else weights[:, None]

    def gradients(outputs: NDArray[np.float64], _: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p = expit(outputs.reshape(above.shape))
        pair = (p - above) * importance, p * (1.0 - p) * importance
        return pair if above.shape[1] > 1 else (pair[0].ravel(), pair[1].ravel())

    return gradients


def at_levels(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(y = k) of each level from the log-odds of P(y >= k), k from 1; shape ``(n_docs, n_levels)``.

    The trees of different k are independent. If P(y >= k) comes out larger than P(y >= k - 1), it is lowered to it, so
    that no probability is negative.

    Examples
    --------
    P(y >= 1) = 1/2 and P(y >= 2) = 1/4 leave 1/2, 1/4 and 1/4.

    >>> at_levels(np.log([[1.0, 1 / 3]])).round(6).tolist()
    [[0.5, 0.25, 0.25]]
    """
    reached = np.minimum.accumulate(expit(outputs), axis=1)
    n_docs = len(reached)
    padded: NDArray[np.float64] = np.column_stack((np.ones(n_docs), reached, np.zeros(n_docs)))
    return padded[:, :-1] - padded[:, 1:]
