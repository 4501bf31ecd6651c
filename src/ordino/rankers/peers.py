"""Other libraries as contestants in ``ordino bench``: XGBoost, CatBoost and LightGBM by their own defaults.

They learn from the same folds and are measured and tested as all others are, so that a comparison with them is fair.
They are no rankers to keep: to use such a model, train it with its own library.
"""

from abc import abstractmethod
from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import import_extra
from ordino.parameters import param
from ordino.ranker import Ranker
from ordino.recurring import n_jobs_param, seed_param
from ordino.threads import count_threads


class Peer(Ranker):
    """A ranker of another library with that library's defaults; validation data is passed on to it."""

    allows_nan = True
    library: ClassVar[str]
    is_drawn: ClassVar[bool] = False
    """Whether the library's defaults depend on the seed."""

    options: Mapping[str, Any] | None = param(None, "Parameters of the library, under its own names.")
    seed: int = seed_param(high=2**31 - 1)
    n_jobs: int | None = n_jobs_param()

    @property
    def is_random(self) -> bool:
        """Where the library draws by default, or options may make it draw."""
        return self.is_drawn or bool(self.options)

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        library = import_extra(self.library, extra="peers", purpose=type(self).__name__)
        self.model_ = self._learn(library, dict(self.options or {}), count_threads(self.n_jobs), data, valid)

    @abstractmethod
    def _learn(
        self, library: ModuleType, options: dict[str, Any], n_threads: int, data: Dataset, valid: Dataset | None
    ) -> Any:
        """The fitted model of the library."""

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict(data.X), np.float64)


@final
class XGBoost(Peer):
    """``xgboost.XGBRanker`` with its defaults."""

    library = "xgboost"

    def _learn(
        self, library: ModuleType, options: dict[str, Any], n_threads: int, data: Dataset, valid: Dataset | None
    ) -> Any:
        model = library.XGBRanker(**{"random_state": self.seed, "n_jobs": n_threads} | options)
        held_out: dict[str, Any] = {}
        if valid is not None:
            held_out = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.query_number]}
        return model.fit(data.X, data.y, qid=data.query_number, verbose=False, **held_out)


@final
class CatBoost(Peer):
    """``catboost.CatBoostRanker`` with its defaults; with validation data it keeps its best iteration."""

    library = "catboost"
    is_drawn = True

    def _learn(
        self, library: ModuleType, options: dict[str, Any], n_threads: int, data: Dataset, valid: Dataset | None
    ) -> Any:
        quiet = {"verbose": False, "allow_writing_files": False}
        model = library.CatBoostRanker(**quiet | {"random_seed": self.seed, "thread_count": n_threads} | options)
        held_out = None if valid is None else library.Pool(valid.X, valid.y, group_id=valid.query_number)
        return model.fit(data.X, data.y, group_id=data.query_number, eval_set=held_out)


@final
class LightGBM(Peer):
    """LightGBM's objective lambdarank with its defaults, which are those of ``lightgbm.LGBMRanker``."""

    library = "lightgbm"

    def _learn(
        self, library: ModuleType, options: dict[str, Any], n_threads: int, data: Dataset, valid: Dataset | None
    ) -> Any:
        train, *held_out = (
            library.Dataset(part.X, part.y, group=part.counts) for part in (data, valid) if part is not None
        )
        own = {"objective": "lambdarank", "seed": self.seed, "num_threads": n_threads, "verbosity": -1}
        return library.train(own | options, train, valid_sets=held_out)
