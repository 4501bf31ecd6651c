"""What scoring networks and comparing networks have in common: widths, a schedule, a measure to choose the epoch by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.judge import Judge
from ordino.ranker import Ranker

if TYPE_CHECKING:
    from ordino.networks.training import Schedule


class GradientRanker(Ranker):
    """A ranker that is a network. A family says its parameters; a ranker names its own and takes these as keywords."""

    hidden: int | Sequence[int]
    learning_rate: float
    rate: str
    optimizer: str
    l1: float
    l2: float | None
    epochs: int
    patience: int | None
    batch: int | None
    metric: str
    profile: str
    scaling: str | None

    def _widths(self) -> tuple[int, ...]:
        """Neurons of each hidden layer."""
        hidden: object = (self.hidden,) if isinstance(self.hidden, int | np.integer) else self.hidden
        if isinstance(hidden, str) or not isinstance(hidden, Sequence | np.ndarray):
            raise ParameterError(f"hidden={self.hidden!r}; give the neurons of each hidden layer, such as (64, 32)")
        return tuple(check_int("hidden", width, low=1) for width in hidden)

    def _schedule(self) -> Schedule:
        """How long and how fast to learn."""
        from ordino.networks.training import Schedule

        return Schedule(
            epochs=check_int("epochs", self.epochs, low=1),
            learning_rate=check_real("learning_rate", self.learning_rate, low=0, open_low=True),
            optimizer=self.optimizer,
            rate=self.rate,
            l1=check_real("l1", self.l1, low=0),
            l2=check_real("l2", self._decay(), low=0),
            patience=None if self.patience is None else check_int("patience", self.patience, low=1),
        )

    def _decay(self) -> float | None:
        return self.l2

    def _batch(self) -> int | None:
        return None if self.batch is None else check_int("batch", self.batch, low=1)

    def _quality(self, data: Dataset) -> Callable[[NDArray[np.float64]], float]:
        """The metric of scores, larger is better; 0 where no query has one."""
        judge = Judge(self.metric, self.profile)
        return lambda scores: float(np.nan_to_num(judge.mean(data, scores)))

    def _check_documents_alone(self) -> None:
        """Refuse to compare two documents where the scaling needs their query."""
        self._check_fitted()
        if self.scaler_ is not None and self.scaler_.by_query:
            raise DataError(
                f"compare() sees two documents, but scaling={self.scaling!r} needs the whole query; "
                "scale the data first and use scaling=None, or use scaling='symlog'"
            )
