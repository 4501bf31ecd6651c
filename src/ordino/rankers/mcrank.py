r"""McRank: classify documents into levels of relevance, rank by the expected one (Li, Burges and Wu, NIPS 2007).

.. math:: s(x) = \sum_{k} T(k) \, P(y = k \mid x)

In its multiple classification form all :math:`P(y = k)` come from one softmax over boosted trees. In its ordinal form
the trees learn :math:`P(y \ge k)` for each level above the lowest, and the levels' probabilities are differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from ordino.boosting.trees import Gradients, Task, TreeRanker
from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.errors import DataError

FORMS = ("multiclass", "ordinal")
VALUES = ("linear", "exponential")
MOST_LEVELS = 100


@final
class McRank(TreeRanker):
    r"""Boosted trees that classify, ranked by expected relevance.

    Parameters
    ----------
    form
        ``multiclass`` or ``ordinal``.
    value
        What a level is worth, the paper's *T(k)*: linear (the label) or exponential (:math:`2^y - 1`).
    rounds
        How many rounds at most, with a tree for each level in each (for each but one in ordinal form); with ``valid``
        the best round is kept.
    learning_rate, leaves
        The paper's :math:`\nu` and *J*.
    min_leaf, l2, feature_share, query_share, patience, metric, profile, options, seed, n_jobs, verbose
        As in :class:`LambdaMART`.

    Attributes
    ----------
    levels_, worth_
        The labels seen in training, rising, and what each is worth.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0]] * 20, [0, 1, 2] * 20
    >>> ranker = McRank(rounds=5, min_leaf=5).fit(X, y)
    >>> ranker.rank([[2.0], [3.0], [1.0]]).tolist()
    [1, 0, 2]
    >>> int(ranker.predict_proba([[3.0]]).argmax())
    2
    """

    def __init__(
        self,
        *,
        form: str = "multiclass",
        value: str = "linear",
        rounds: int = 500,
        learning_rate: float = 0.05,
        leaves: int = 10,
        min_leaf: int = 50,
        l2: float = 0.0,
        feature_share: float = 1.0,
        query_share: float = 1.0,
        patience: int = 50,
        metric: str = "ndcg@10",
        profile: str = "standard",
        options: Mapping[str, object] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.form = form
        self.value = value
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.l2 = l2
        self.feature_share = feature_share
        self.query_share = query_share
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.options = options
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        form = check_choice("form", self.form, FORMS)
        value = check_choice("value", self.value, VALUES)
        self.levels_, level = np.unique(data.y, return_inverse=True)
        if len(self.levels_) > MOST_LEVELS:
            raise DataError(
                f"y has {len(self.levels_):,} different labels but McRank tells {MOST_LEVELS} levels apart at most; "
                "round the labels, or use LambdaMART"
            )
        # 2^y for 2^y - 1, which moves all scores alike; very large ones are divided by a power of 2
        self.worth_ = self.levels_ if value == "linear" else np.exp2(self.levels_ - max(self.levels_[-1] - 500.0, 0.0))
        self.ordinal_ = form == "ordinal"
        n_levels = max(len(self.levels_), 2)  # where all labels are equal, the second level stays empty
        if not self.ordinal_:
            params = {"objective": "multiclass", "num_class": n_levels}
            self._grow(Task(params, level), data, valid, scores=self._expected)
            return
        above = level[:, None] >= np.arange(1, n_levels)  # (n_docs, n_levels - 1): y >= k?
        weights = np.ones(data.n_docs) if data.weights is None else data.weights
        share = (weights @ above + 0.5) / (weights.sum() + 1.0)
        self.start_ = np.log(share / (1.0 - share))
        params = {"objective": "none", "num_class": n_levels - 1}
        task = Task(params, level, logistic_gradients(above, data.weights), self.start_)
        self._grow(
            task, data, valid, scores=lambda outputs: self._expected(at_levels(outputs.reshape(-1, n_levels - 1)))
        )

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._expected(self._probabilities(data))

    def predict_proba(
        self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> NDArray[np.float64]:
        """The probability of each of ``levels_``, shape ``(n_docs, n_levels)``, in the order of X."""
        data = self._checked(X, qid)
        return data.restore(self._probabilities(data))[:, : len(self.levels_)]

    def _probabilities(self, data: Dataset) -> NDArray[np.float64]:
        raw = self._raw(data)
        if self.ordinal_:
            return at_levels(raw.reshape(data.n_docs, len(self.start_)) + self.start_)
        return np.asarray(softmax(raw, axis=1))

    def _expected(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expected value of a document's level."""
        # a sum along each row, so that a document's score does not depend on its neighbors
        return np.asarray(np.einsum("ij,j->i", probabilities[:, : len(self.worth_)], self.worth_))


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

    The trees of different k know nothing of each other. Where one says that k is likelier to be reached than k - 1,
    it is taken down to it, so that no probability is negative.

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
