r"""AdaRank: boosting on queries, by the measure itself.

Queries carry weights P. In each round the feature whose own order has the best weighted measure E joins the sum:

.. math:: \alpha = \tfrac12 \ln \frac{\sum_q P_q (1 + E_q(h))}{\sum_q P_q (1 - E_q(h))}, \qquad
    P_q \leftarrow e^{-E_q(f)} / \sum_p e^{-E_p(f)},

where f is the sum so far: queries that it ranks badly count more in the next round. Xu and Li, "AdaRank: a boosting
algorithm for information retrieval", SIGIR 2007.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.progress import Steps
from ordino.rankers.choice import Choice, Judge
from ordino.rankers.linear import LinearRanker, linear_scores
from ordino.rankers.parameters import check_int


@final
class AdaRank(LinearRanker):
    """Boosting whose weak rankers are single features, with queries weighted by how badly they are ranked.

    Parameters
    ----------
    rounds
        Weak rankers at most, :math:`T`. The best number on ``valid`` is kept, all where there is no ``valid``.
    metric, profile
        The measure E that is boosted (``map`` is AdaRank-MAP, ``ndcg@10`` AdaRank-NDCG) and that chooses the number of
        rounds; any whose values lie from 0 to 1 (or from -1).
    patience
        How many rounds in a row the same feature may be taken before the others get a turn: without a limit, one
        strong feature can be taken for ever.
    scaling
        How features are scaled first, a name of ``SCALERS``; features must be comparable, as their values are added.
    verbose
        Show progress.

    Attributes
    ----------
    coef_
        Weights of the features: the sum of the alphas of the rounds that took it.
    features_, alphas_
        What each round took, from 0, and its weight.
    query_weights_
        P after the last round that was run, for the queries that count, in canonical order.
    valid_history_
        The measure on ``valid`` after each round; empty without ``valid``.

    Examples
    --------
    The only relevant document is first by feature 0 and second by feature 1: E = 1 and 1/2. With E = 1, alpha has no
    bound; it is taken as if E were a little less.

    >>> ranker = AdaRank(metric="map", rounds=1).fit([[2.0, 1.0], [1.0, 2.0]], [1, 0])
    >>> ranker.features_
    [0]
    """

    def __init__(
        self,
        *,
        rounds: int = 200,
        metric: str = "ndcg@10",
        profile: str = "standard",
        patience: int = 5,
        scaling: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.metric = metric
        self.profile = profile
        self.patience = patience
        self.scaling = scaling
        self.verbose = verbose
