"""Any loss with any model that scores: a linear function, a network, or boosted trees."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, final

from ordino.boosting.trees import FEW_QUERIES, Task, grow, size_and_rate
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.errors import ParameterError
from ordino.forms import Form, Trees
from ordino.given import Validation
from ordino.losses import LOSSES, Loss, make_loss
from ordino.losses.trees_objective import lightgbm_objective
from ordino.networks import fields
from ordino.networks.rates import Schedule
from ordino.networks.scoring import ScoringNetwork
from ordino.parameters import Range, param
from ordino.ranker import Ranker
from ordino.recurring import n_jobs_param


@final
class Scorer(ScoringNetwork):
    """A loss of ``LOSSES`` that trains a model of your choice.

    Attributes
    ----------
    layers_, activation_, best_epoch_
        What a linear model or a network learned, as in RankNet.
    model_, best_round_
        The trees as LightGBM's model text, and how many rounds they have.
    history_
        What happened in each epoch or round.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> Scorer(loss="fidelity", model="linear", epochs=40, learning_rate=0.1).fit(data).score(data) > 0.9
    True
    """

    renamed: ClassVar[Mapping[str, str]] = {"shrinkage": "learning_rate"}

    loss: str = param("ranknet", "A name in `LOSSES`, such as fidelity or approx-ndcg.", choices=LOSSES)
    loss_options: Mapping[str, Any] | None = param(
        None,
        "The loss's own parameters, such as {'average': 'queries'}.",
    )
    model: str = param(
        "network",
        "The model: linear; network, which also uses `hidden`, `activation` and `dropout`; or trees (LightGBM with "
        "the loss as its objective), which use only `rounds`, `leaves`, `min_leaf`, `learning_rate`, `patience`, "
        "`metric`, `profile`, `scaling` and `n_jobs`.",
        choices=("linear", "network", "trees"),
    )
    rounds: int = param(500, "Maximum number of trees, for model='trees'.", low=1, brief=2)
    leaves: int | None = param(
        None,
        f"Leaves of each tree at most, for model='trees'. None is 6 under {FEW_QUERIES:,} queries, and 15 from there.",
        low=2,
        high=131072,
        space=Range(4, 63, log=True),
    )
    min_leaf: int = param(50, "Minimum documents per leaf, for model='trees'.", low=1, space=Range(5, 200, log=True))
    learning_rate: float | None = fields.learning_rate(  # type: ignore[assignment]
        None,
        "The first step size, or how much of each tree counts. None is 0.003; for trees it is 0.1 under "
        f"{FEW_QUERIES:,} queries, and 0.05 from there.",
    )

    n_jobs: int | None = n_jobs_param()

    def _check_divides(self) -> None:
        if self.model == "trees":
            raise ParameterError(
                "the trees of Scorer cannot be divided over a cluster; leave out cluster, or use model='network'"
            )

    def _loss(self) -> Loss:
        return make_loss(self.loss, **dict(self.loss_options or {}))

    @property
    def is_random(self) -> bool:
        """Trees grow from all data and draw nothing."""
        return self.model != "trees"

    def _validation(self, n_queries: int, valid: Validation) -> Validation:
        return valid if self.model == "trees" else super()._validation(n_queries, valid)

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed; networks train together."""
        if self.model == "trees":
            return Ranker.fit_repeats(self, data, seeds, valid=valid)
        return super().fit_repeats(data, seeds, valid=valid)

    def _fit(self, data: Any, valid: Any) -> None:
        of_trees, of_networks = ("model_", "best_round_"), ("layers_", "activation_", "best_epoch_")
        for name in of_networks if self.model == "trees" else of_trees:  # learned by a fit with another model
            self.__dict__.pop(name, None)
        if self.model == "trees":
            self._grow(data, valid)
        else:
            super()._fit(data, valid)

    def _widths(self, data: Dataset | Divided) -> list[int]:
        return [data.n_features] if self.model == "linear" else super()._widths(data)

    def _schedule(self) -> Schedule:
        return Schedule.of(self, learning_rate=self.learning_rate or 3e-3)

    def _grow(self, data: Dataset, valid: Dataset | None) -> None:
        """Boost trees on the gradients of the loss."""
        params = {
            "objective": "none",
            **size_and_rate(self, data.n_queries),
            "min_data_in_leaf": self.min_leaf,
            "seed": self.seed % 2**31,
        }
        objective = lightgbm_objective(self._loss(), data, n_jobs=self.n_jobs)
        grown = grow(self, Task(params, data.y, objective), data, valid)
        self.model_, self.best_round_, self.history_ = grown.model, grown.best_round, grown.history

    def form(self) -> Form:
        """The trees, or the layers of the network."""
        if not hasattr(self, "model_"):
            return super().form()
        self._check_fitted()
        return Trees(self.scaler_, self.n_inputs, self.model_, self.n_jobs)
