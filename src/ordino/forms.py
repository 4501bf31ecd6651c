"""What a fitted ranker is, without how it was learned: linear, stumps, trees, a network, a comparator of pairs.

A form holds the scaling and the learned arrays, scores raw documents, and checks that its parts fit together.
``predict``, the model file and explanations share it; so will export and service.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from ctypes import c_int
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.dataset import Dataset
from ordino.errors import DataError
from ordino.layers import ACTIVATIONS, Layer, forward
from ordino.threads import count_threads, was_forked

Floats = NDArray[np.float64]

BLOCK = 65536  # rows in double precision at a time
ENOUGH_DOCS = 5000  # from which on threads score with trees faster than one


class Scaling(Protocol):
    """What a form needs of a scaler."""

    by_query: bool

    def transform(self, data: Dataset) -> Any:
        """The data set with scaled features."""


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """What scores documents; see the module's text."""

    kind: ClassVar[str]
    """linear, stumps, trees, network, pairs, or other."""

    scaler: Scaling | None
    n_features: int

    def score(self, data: Dataset) -> Floats:
        """Scores of documents with raw features, in the grouped order of the data set."""
        return self.score_scaled(data if self.scaler is None else self.scaler.transform(data))

    @abstractmethod
    def score_scaled(self, data: Dataset) -> Floats:
        """The same for features that are scaled already."""

    @abstractmethod
    def check(self) -> None:
        """Refuse parts that do not fit together: compiled loops trust sizes."""


def require(fits: object, part: str) -> None:
    """Refuse a learned part by its name, unless it fits."""
    if not fits:
        raise DataError(f"{part} does not fit the other parts of the model; get the file again")


@dataclass(frozen=True, eq=False)
class Linear(Form):
    """A weighted sum of the features.

    Examples
    --------
    >>> Linear(None, 2, np.array([2.0, -1.0]), 0.5).score(Dataset([[1.0, 4.0], [3.0, 0.0]], [0, 0])).tolist()
    [-1.5, 6.5]
    """

    kind: ClassVar[str] = "linear"

    coef: Floats
    bias: float = 0.0
    """The same for every document; imported models have one."""

    def score_scaled(self, data: Dataset) -> Floats:
        """``X @ coef`` in double precision, and the bias."""
        scores = linear_scores(data.X, self.coef)
        return scores + self.bias if self.bias else scores

    def check(self) -> None:
        """One weight for each feature."""
        coef = np.asarray(self.coef)
        require(coef.dtype == np.float64 and coef.shape == (self.n_features,), "coef_")
        require(isinstance(self.bias, float) and np.isfinite(self.bias), "bias_")


def linear_scores(X: NDArray[np.float32], coef: Floats) -> Floats:
    """``X @ coef`` in double precision, without a double copy of X."""
    scores = np.empty(len(X))
    for rows in row_blocks(len(X), BLOCK):
        # a sum along each row, so that a document's score does not depend on its neighbors
        scores[rows] = np.einsum("ij,j->i", X[rows].astype(np.float64), coef)
    return scores


class Stump(NamedTuple):
    """A weak ranker: ``alpha`` for documents whose feature is above the threshold, 0 for the rest."""

    feature: int
    threshold: float
    alpha: float

    def scores(self, X: NDArray[np.float32]) -> Floats:
        """``alpha`` or 0 for each row."""
        return np.where(X[:, self.feature] > self.threshold, self.alpha, 0.0)


@final
@dataclass(frozen=True, eq=False)
class Stumps(Form):
    """A sum of weak rankers, each a question about one feature."""

    kind: ClassVar[str] = "stumps"

    stumps: Sequence[Stump]

    def score_scaled(self, data: Dataset) -> Floats:
        """The sum of the scores of all stumps, added in their order."""
        scores = np.zeros(data.n_docs)
        for stump in self.stumps:
            scores += stump.scores(data.X)
        return scores

    def check(self) -> None:
        """Every stump asks about a feature that there is."""
        numbers = [stump.feature for stump in self.stumps]
        require(all(isinstance(j, int) and 0 <= j < self.n_features for j in numbers), "stumps_")
        values = [value for stump in self.stumps for value in (stump.threshold, stump.alpha)]
        require(all(isinstance(value, int | float | np.number) for value in values), "stumps_")


@dataclass(frozen=True, eq=False)
class Trees(Form):
    """Trees of LightGBM, kept as its model text."""

    kind: ClassVar[str] = "trees"

    model: str
    n_jobs: int | None = None

    def score_scaled(self, data: Dataset) -> Floats:
        """The sum of the trees."""
        return self.outputs(data)

    def outputs(self, data: Dataset) -> Floats:
        """What the trees give, shape ``(n_docs,)`` or ``(n_docs, n_outputs)``."""
        booster = load_trees(self.model)
        if data.n_docs == 0:  # which LightGBM refuses
            n_outputs = booster.num_model_per_iteration()
            return np.zeros(0 if n_outputs == 1 else (0, n_outputs))
        n_threads = count_threads(self.n_jobs, enough=data.n_docs >= ENOUGH_DOCS)
        raw: Floats = booster.predict(data.X, raw_score=True, num_threads=n_threads)
        return raw

    def check(self) -> None:
        """LightGBM checks its own text when it is first used."""
        require(isinstance(self.model, str), "model_")


@lru_cache(maxsize=8)
def load_trees(model: str) -> Any:
    """LightGBM's booster from its model text."""
    return load_lightgbm().Booster(model_str=model)


def load_lightgbm() -> Any:
    """LightGBM; in a forked process with one thread, since OpenMP would wait forever for those of the parent."""
    import lightgbm

    if was_forked():
        lightgbm.basic._LIB.LGBM_SetMaxThreads(c_int(1))  # type: ignore[attr-defined]
    return lightgbm


@final
@dataclass(frozen=True, eq=False)
class Network(Form):
    """A network that scores one document at a time."""

    kind: ClassVar[str] = "network"

    layers: Sequence[Layer]
    activation: str
    is_squashed: bool = False
    """Whether the score is the logistic function of the output, as in RankLib; it changes no order."""

    def score_scaled(self, data: Dataset) -> Floats:
        """The output of the last layer."""
        outputs = forward(data.X, self.layers, self.activation)
        return 0.5 + 0.5 * np.tanh(0.5 * outputs) if self.is_squashed else outputs

    def check(self) -> None:
        """Layers that follow each other, from the features to one output."""
        require(are_layers(self.layers) and len(self.layers[0].W) == self.n_features, "layers_")
        require(isinstance(self.activation, str) and self.activation in ACTIVATIONS, "activation")


def are_layers(layers: Any) -> bool:
    """Whether layers follow each other and end in one output."""
    return (
        isinstance(layers, list)
        and len(layers) > 0
        and all(W.dtype == b.dtype == np.float32 and W.ndim == 2 and b.shape == W.shape[1:] for W, b in layers)
        and all(one.W.shape[1] == two.W.shape[0] for one, two in pairwise(layers))
        and layers[-1].W.shape[1] == 1
    )


@final
@dataclass(frozen=True, eq=False)
class Learned(Form):
    """A ranker that is none of the other forms: it scores itself."""

    kind: ClassVar[str] = "other"

    ranker: Any

    def score_scaled(self, data: Dataset) -> Floats:
        """The ranker's own ``_predict``."""
        scores: Floats = self.ranker._predict(data)
        return scores

    def check(self) -> None:
        """The ranker's own check."""
        self.ranker._check_learned()
