r"""RankSVM: the widest margin between better and worse documents of the same query.

.. math:: \min_w \tfrac12 |w|^2 + C \sum_{q} \sum_{i, j \in q:\, y_i > y_j} c_{ij}\, \ell(w \cdot x_i - w \cdot x_j)

with :math:`\ell(m) = \max(0, 1 - m)^2` or :math:`\max(0, 1 - m)`. Herbrich, Graepel and Obermayer, "Large margin rank
boundaries for ordinal regression", 2000; Joachims, "Optimizing search engines using clickthrough data", KDD 2002. Pairs
are never stored: those of a short query are looped over, those of a long query are summed by sorting and counting
(Joachims, KDD 2006; Lee and Lin, "Large-scale linear RankSVM", Neural Computation 2014), and the primal is solved by
truncated Newton steps (Chapelle and Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 2010).
The solver is in :mod:`ordino.svm.solver`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, final

import numpy as np

from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.judge import Choice
from ordino.linear import LinearRanker
from ordino.parameters import Range, param, settings
from ordino.progress import Steps
from ordino.recurring import metric_param, missing_param, n_jobs_param, profile_param, scaling_param, verbose_param
from ordino.svm.divided import DividedPairs
from ordino.svm.pairs import PairSums, document_weights
from ordino.svm.solver import Pairs, minimize

LOSSES = ("squared-hinge", "hinge")
PAIR_WEIGHTS = ("sum", "mean", "query")


@final
class RankSVM(LinearRanker):
    """Linear support vector machine on pairs, solved in the primal without storing the pairs.

    Attributes
    ----------
    coef_
        Weights of the features.
    C_, objective_, gap_
        The chosen C, its objective, and a bound on its distance from the optimum.
    history_
        Every C that was tried, with its objective, its gap and the metric on ``valid``, if given.

    Examples
    --------
    Two documents whose only feature differs by 1: w^2/2 + (1 - w)^2 is least at w = 2/3, where it is 1/3.

    >>> ranker = RankSVM(C=1.0, tol=1e-9).fit([[1.0], [0.0]], [1, 0], qid=[1] * 2)
    >>> ranker.coef_.round(6).tolist(), round(ranker.objective_, 6)
    ([0.666667], 0.333333)
    """

    uses_weights = True
    renamed: ClassVar[Mapping[str, str]] = {"pairs": "pair_weights"}
    renamed_values: ClassVar[Mapping[str, Mapping[str, str]]] = {"loss": {"squared_hinge": "squared-hinge"}}

    C: float | Sequence[float] = param(
        0.01,
        "Cost of a wrongly ordered pair, relative to the penalty on the weights. Several values are solved in "
        "ascending order, each starting from the weights of the one before, and the best on `valid` is chosen "
        "(without `valid`, the first given).",
        above=0,
        space=Range(1e-4, 100.0, log=True),
    )
    loss: str = param("squared-hinge", "squared-hinge (fast), or hinge (the loss of SVM-light).", choices=LOSSES)
    pair_weights: str = param(
        "sum",
        "Weight of a pair: 1 (sum, as in scikit-learn's LinearSVC on pair differences), 1 over the number of all "
        "pairs (mean, so that C does not depend on the size of the data), or 1 over the number of pairs in its query "
        "(query, as in SVM-rank). It is multiplied by the document weights.",
        choices=PAIR_WEIGHTS,
    )
    tol: float = param(1e-5, "Stop when the objective is provably within this share of the optimum.", above=0)
    max_iter: int = param(200, "Maximum number of Newton steps for each C.", low=1)
    metric: str = metric_param(text="The metric used to choose among several values of C.")
    profile: str = profile_param()
    scaling: str | None = scaling_param()
    missing: str | None = missing_param()
    n_jobs: int | None = n_jobs_param()
    verbose: bool = verbose_param()

    published = settings(loss="hinge", pair_weights="sum")
    """The slack variables of Joachims' problem, each pair with the same weight; C is chosen on validation data."""

    divides = True

    def _fit(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> None:
        path = [float(c) for c in self.C] if isinstance(self.C, Sequence | np.ndarray) else [float(self.C)]
        if valid is None:
            path = path[:1]
        path = sorted(set(path))
        choice = Choice(valid, self.metric, self.profile)
        self.history_: list[dict[str, float]] = []
        coef = None
        with (
            self._pairs(data) as sums,
            Steps("RankSVM", len(path), verbose=self.verbose) as steps,
        ):
            for step in steps:
                found = minimize(sums, C=path[step], loss=self.loss, tol=self.tol, max_iter=self.max_iter, start=coef)
                coef = found.coef
                if choice.takes_weights(coef):
                    self.coef_, self.C_ = coef, path[step]
                    self.objective_, self.gap_ = found.objective, found.gap
                row = {"C": path[step], "objective": found.objective, "gap": found.gap}
                self.history_.append(row | choice.last)
                steps.show(C=path[step], **choice.figures)

    @contextmanager
    def _pairs(self, data: Dataset | Divided) -> Iterator[Pairs]:
        if isinstance(data, Divided):
            yield DividedPairs(data, self.pair_weights)
            return
        weights = document_weights(data, self.pair_weights)
        with PairSums(data.X, data.y, data.offsets, weights, self.n_jobs) as sums:
            yield sums
