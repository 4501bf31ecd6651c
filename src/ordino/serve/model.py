"""One model that is served: what scores, its features, its card."""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, name_features
from ordino.data.dataset import Dataset
from ordino.data.frames import Categories
from ordino.errors import DataError, OrdinoError
from ordino.model_file.container import read_file
from ordino.model_file.files import Score, categories_of, loaded, scorer_of

WARM_ROWS = 3
TIMED_ROWS, QUICK = 100, 0.0005  # documents, and the seconds in which a quick model scores them


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A model as it was in one version of its file; never changed."""

    name: str
    version: str
    """The beginning of the file's checksum."""
    loaded: str
    """When its file was read, in UTC."""
    card: dict[str, Any]
    names: tuple[str, ...]
    is_named: bool
    """Whether the features had names in training; else they are called f1, f2, ..."""
    categories: Categories
    takes_nan: bool
    score: Score
    ranker: Any
    """What can be explained."""
    is_quick: bool = False
    """Whether it takes but milliseconds for all documents that a request may have."""

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.names)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The column of each feature."""
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def schemas(self) -> dict[bytes, Any]:
        """What Arrow schemas of requests say of this model's features."""
        return {}

    def data(self, X: NDArray[Any]) -> Dataset:
        """Documents of one query; values that float32 cannot hold are refused by the name of their feature."""
        return Dataset(
            X, np.zeros(len(X)), feature_names=self.names if self.is_named else None, categories=self.categories
        )

    def scores(self, X: NDArray[Any]) -> Floats:
        """Scores of the documents of one query, as ``ordino rank`` gives them; they are finite."""
        if len(X) == 0:
            return np.zeros(0)
        with np.errstate(all="ignore"):
            scores = self.score(self.data(X))
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise DataError(f"document {row}, from 0, gets the score {scores[row]}; its features are too large")
        return scores

    def warm(self) -> None:
        """Score once, so that what is compiled or loaded on first use is ready."""
        self.scores(np.zeros((WARM_ROWS, self.n_features), np.float32))

    def summary(self) -> dict[str, Any]:
        """What the service tells of the model."""
        return {
            "name": self.name,
            "version": self.version,
            "loaded": self.loaded,
            "ranker": self.card.get("ranker"),
            "features": list(self.names),
            "missing": "allowed" if self.takes_nan else "refused",
            "card": self.card,
        }


def load_model(name: str, path: Path, version: str, when: str) -> Model:
    """Load a model from a file that nobody writes to."""
    contents = read_file(path, mapped=True)
    score, card = scorer_of(path, contents), contents.card
    ranker = getattr(score, "__self__", None) or loaded(path, contents)
    given = card["features"]["names"]
    names = name_features(given, card["features"]["count"])
    known = categories_of(ranker)
    model = Model(name, version, when, card, names, given is not None, known, False, score, ranker)
    model.warm()
    return replace(model, takes_nan=_takes_nan(model), is_quick=_is_quick(model))


def _is_quick(model: Model) -> bool:
    """Whether the model scores a hundred documents in half a millisecond, the best of three times."""
    X, seconds = np.zeros((TIMED_ROWS, model.n_features), np.float32), list[float]()
    for _ in range(3):
        start = time.perf_counter()
        model.scores(X)
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 10 * QUICK:
            break
    return min(seconds) <= QUICK


def _takes_nan(model: Model) -> bool:
    """Whether the model scores documents with missing values, found by asking it to."""
    try:
        model.scores(np.full((WARM_ROWS, model.n_features), np.nan, np.float32))
    except OrdinoError:
        return False
    return True
