r"""OAP-BPM: many PRanks on random parts of the stream, averaged into one.

Each of N perceptrons sees each document with probability :math:`\tau` and learns from it by PRank's rule. Weights and
thresholds are averaged, which approximates the Bayes point: the center of all rankers that fit the data, which
generalizes like one of large margin. Harrington, "Online ranking/collaborative filtering using the perceptron
algorithm", ICML 2003; the large margin PRank of Burges et al. (RankNet, ICML 2005, section 6).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.judge import Choice
from ordino.networks.perceptron_kernels import prank_pass
from ordino.progress import Steps
from ordino.rankers.ordinal import OrdinalRanker

AVERAGING = ("last", "steps")


@final
class OAPBPM(OrdinalRanker):
    r"""Averaged PRank perceptrons, each on its own random part of the documents.

    Parameters
    ----------
    n_perceptrons
        How many perceptrons are averaged, :math:`N`.
    tau
        The probability :math:`\tau` with which a perceptron sees a document.
    averaging
        ``last``: the mean of the perceptrons as they stand at the end of a pass (Harrington). ``steps``: the mean over
        all documents of all passes so far as well, which changes less from pass to pass.
    epochs
        Passes over the documents. The best on ``valid`` is kept, the last where there is no ``valid``.
    metric, profile
        The measure that chooses among epochs.
    scaling
        How features are scaled first, a name of ``SCALERS``.
    seed
        Of the order of the documents and of who sees which.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress.

    Attributes
    ----------
    coef_, thresholds_
        Averaged weights and thresholds.
    classes_
        The labels, rising; one more than there are thresholds.
    epoch_
        The pass whose average was kept, from 1.

    Examples
    --------
    >>> ranker = OAPBPM(n_perceptrons=5, tau=0.5, epochs=10).fit([[2.0], [-2.0]], [1, 0])
    >>> ranker.predict_levels([[2.0], [-2.0]]).tolist()
    [1.0, 0.0]
    """

    def __init__(
        self,
        *,
        n_perceptrons: int = 100,
        tau: float = 0.3,
        averaging: str = "last",
        epochs: int = 5,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_perceptrons = n_perceptrons
        self.tau = tau
        self.averaging = averaging
        self.epochs = epochs
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        n_perceptrons = check_int("n_perceptrons", self.n_perceptrons, low=1)
        tau = check_real("tau", self.tau, low=0, high=1, open_low=True)
        averaging = check_choice("averaging", self.averaging, AVERAGING)
        epochs = check_int("epochs", self.epochs, low=1)
        n_jobs = (os.cpu_count() or 1) if self.n_jobs is None else check_int("n_jobs", self.n_jobs, low=1)
        X, level = frozen(data.X), self._levels(data)
        stream, *own = np.random.default_rng(self.seed).spawn(1 + n_perceptrons)
        n_thresholds = len(self.classes_) - 1
        now = np.zeros((n_perceptrons, X.shape[1])), np.zeros((n_perceptrons, n_thresholds))
        sums = np.zeros((n_perceptrons, X.shape[1])), np.zeros((n_perceptrons, n_thresholds))
        seen = np.zeros(n_perceptrons)

        def run_perceptron(j: int, order: NDArray[np.intp]) -> None:
            rows = order[own[j].random(len(order)) < tau]
            seen[j] += len(rows)
            prank_pass(X, level, rows, now[0][j], now[1][j], sums[0][j], sums[1][j])

        choice = Choice(valid, self.metric, self.profile)
        with ThreadPoolExecutor(n_jobs) as pool, Steps("OAP-BPM", epochs, verbose=self.verbose) as steps:
            for epoch in steps:
                order = stream.permutation(data.n_docs)
                list(pool.map(run_perceptron, range(n_perceptrons), [order] * n_perceptrons))
                of_each = now if averaging == "last" else tuple(s / np.maximum(seen, 1)[:, None] for s in sums)
                weights = of_each[0].mean(axis=0)
                if choice.takes_weights(weights):
                    self.coef_, self.thresholds_, self.epoch_ = weights, of_each[1].mean(axis=0), epoch + 1
                steps.show(**choice.figures)
