r"""RankSVM: the widest margin between better and worse documents of the same query.

.. math:: \min_w \tfrac12 |w|^2 + C \sum_{q} \sum_{i, j \in q:\, y_i > y_j} c_{ij}\, \ell(w \cdot x_i - w \cdot x_j)

with :math:`\ell(m) = \max(0, 1 - m)^2` or :math:`\max(0, 1 - m)`. Herbrich, Graepel and Obermayer, "Large margin rank
boundaries for ordinal regression", 2000; Joachims, "Optimizing search engines using clickthrough data", KDD 2002. Pairs
are never listed: those of a short query are looped over, those of a long one summed by sorting and counting (Joachims,
KDD 2006; Lee and Lin, "Large-scale linear RankSVM", Neural Computation 2014), and the primal is solved by truncated
Newton steps (Chapelle and Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 2010).
:mod:`ordino.svm.solver` has the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Choice
from ordino.linear import LinearRanker
from ordino.losses.levels import sort_labels
from ordino.progress import Steps
from ordino.svm.pairs import PairSums
from ordino.svm.solver import minimize

LOSSES = ("squared_hinge", "hinge")
PAIRS = ("sum", "mean", "query")


class PathPoint(NamedTuple):
    """What one C of the path came to."""

    C: float
    objective: float
    gap: float
    reached: float
    """The metric on ``valid``; NaN where there is none."""


@final
class RankSVM(LinearRanker):
    """Linear support vector machine on pairs, in the primal, without a list of pairs.

    Parameters
    ----------
    C
        What a pair on the wrong side costs beside the size of the weights. Several are a path: they are solved from
        the smallest up, each from the weights of the one before, and the best on ``valid`` is taken (the first given
        where there is no ``valid``).
    loss
        ``squared_hinge`` (fast) or ``hinge`` (the loss of SVM-light).
    pairs
        What a pair weighs, :math:`c_{ij}`: 1 (``sum``, as scikit-learn's LinearSVC on pair differences), 1 over the
        number of all pairs (``mean``, so that C does not depend on the size of the data), or 1 over the number of its
        query's pairs (``query``, as SVM-rank). Document weights multiply it.
    tol
        Stop when the objective is proved to be within this share of the optimum.
    max_iter
        Newton steps at most, for each C.
    metric, profile
        The measure that chooses among several C.
    scaling
        How features are scaled first, a name of ``SCALERS``.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress along the path.

    Attributes
    ----------
    coef_
        Weights of the features.
    C_, objective_, gap_
        The C taken, its objective, and a bound on how far that is above the optimum.
    path_
        Every C tried, with its objective, gap and value on ``valid``.

    Examples
    --------
    Two documents whose only feature differs by 1: w^2/2 + (1 - w)^2 is least at w = 2/3, where it is 1/3.

    >>> ranker = RankSVM(C=1.0, tol=1e-9).fit([[1.0], [0.0]], [1, 0])
    >>> ranker.coef_.round(6).tolist(), round(ranker.objective_, 6)
    ([0.666667], 0.333333)
    """

    uses_weights = True

    def __init__(
        self,
        *,
        C: float | Sequence[float] = 0.01,
        loss: str = "squared_hinge",
        pairs: str = "sum",
        tol: float = 1e-5,
        max_iter: int = 200,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.pairs = pairs
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        loss = check_choice("loss", self.loss, LOSSES)
        tol = check_real("tol", self.tol, low=0, open_low=True)
        max_iter = check_int("max_iter", self.max_iter, low=1)
        n_jobs = None if self.n_jobs is None else check_int("n_jobs", self.n_jobs, low=1)
        given = self.C if isinstance(self.C, Sequence | np.ndarray) else [self.C]
        path = [check_real("C", c, low=0, open_low=True) for c in given]
        if not path:
            raise ParameterError("C is empty; give at least one number, more than 0")
        if valid is None:
            path = path[:1]
        path = sorted(set(path))
        weights = pair_weights(data, check_choice("pairs", self.pairs, PAIRS))
        choice = Choice(valid, self.metric, self.profile)
        self.path_: list[PathPoint] = []
        coef = None
        with (
            PairSums(data.X, data.y, data.offsets, weights, n_jobs) as sums,
            Steps("RankSVM", len(path), verbose=self.verbose) as steps,
        ):
            for step in steps:
                found = minimize(sums, C=path[step], loss=loss, tol=tol, max_iter=max_iter, start=coef)
                coef = found.coef
                if choice.takes_weights(coef):
                    self.coef_, self.C_ = coef, path[step]
                    self.objective_, self.gap_ = found.objective, found.gap
                reached = choice.history[-1] if choice.history else float("nan")
                self.path_.append(PathPoint(path[step], found.objective, found.gap, reached))
                steps.show(C=path[step], **choice.figures)


def pair_weights(data: Dataset, pairs: str) -> NDArray[np.float64]:
    """Weights of documents whose products are the weights of the pairs.

    Examples
    --------
    Query a has 1 pair, query b has 2 (its labels 1, 0, 0), so that each document of b weighs the root of 1/2.

    >>> data = Dataset([[0.0]] * 5, [1, 0, 1, 0, 0], qid=list("aabbb"))
    >>> (pair_weights(data, "query") ** 2).round(6).tolist()
    [1.0, 1.0, 0.5, 0.5, 0.5]
    """
    weights = np.ones(data.n_docs) if data.weights is None else np.array(data.weights)
    if pairs == "sum":
        return weights
    counts = sort_labels(data.y, data.offsets).n_pairs
    if pairs == "mean":
        weights /= np.sqrt(max(counts.sum(), 1.0))
    else:
        weights /= np.repeat(np.sqrt(np.maximum(counts, 1.0)), data.counts)
    return weights
