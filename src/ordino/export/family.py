"""What is exported, one small form a family: scaled linear, trees (stumps are small ones), scoring network.

Raw features go in. Trees have raw thresholds, in single precision, since that is what documents are; the other two
keep their preparation beside the weights, because some engines have normalizers.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Affine:
    """A map of each feature: standard is (x - a) / b, minmax is (x - a) / (b - a), affine is a x + b.

    ``steps`` are what the scaler computes, each rounded to single precision, for engines that can do the same: a curve
    with jumps after it shows every rounding.
    """

    kind: str
    a: Floats
    b: Floats
    steps: tuple[tuple[Literal["Sub", "Div", "Mul", "Add"], Floats], ...]

    def factor_and_offset(self) -> tuple[Floats, Floats]:
        """The same as ``factor * x + offset``."""
        if self.kind == "standard":
            return 1 / self.b, -self.a / self.b
        if self.kind == "minmax":
            return 1 / (self.b - self.a), -self.a / (self.b - self.a)
        return self.a, self.b


@final
@dataclass(frozen=True)
class SymLog:
    """sign(x) log(1 + abs(x))."""

    kind: str = "symlog"


@final
@dataclass(frozen=True)
class Quantiles:
    """The share of training values below, as a normal quantile times ``std``; see ``NormalQuantiles``."""

    quantiles: Floats  # (n_features, n_quantiles)
    std: float
    kind: str = "quantile"


Step = Affine | SymLog | Quantiles


@final
@dataclass(frozen=True)
class Preparation:
    """What happens to the features first: missing values are filled in, then every value is mapped by itself."""

    fill: NDArray[np.float32] | None = None
    steps: tuple[Step, ...] = ()

    @property
    def is_affine(self) -> bool:
        """Whether all maps together are a factor and an offset for each feature."""
        return all(isinstance(step, Affine) for step in self.steps)

    def factor_and_offset(self, n_features: int) -> tuple[Floats, Floats]:
        """All affine maps as one."""
        factor, offset = np.ones(n_features), np.zeros(n_features)
        for step in self.steps:
            assert isinstance(step, Affine)
            a, b = step.factor_and_offset()
            factor, offset = a * factor, a * offset + b
        return factor, offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Preparation) and _same(self, other)

    __hash__ = None  # type: ignore[assignment]


def _same(a: Any, b: Any) -> bool:
    """Whether two nested values are equal, arrays number by number."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return all(_same(vars(a)[key], vars(b)[key]) for key in vars(a)) if hasattr(a, "__dict__") else bool(a == b)


class Odds(NamedTuple):
    """The ranker's score is ``low + (high - low) logistic(what the engine gives + start)``, which rises with it."""

    low: float = 0.0
    high: float = 1.0
    start: float = 0.0


@final
@dataclass(frozen=True)
class PlainLinear:
    """A weighted sum of prepared features and a constant."""

    names: tuple[str, ...]
    weights: Floats
    bias: float = 0.0
    preparation: Preparation = field(default_factory=Preparation)
    odds: Odds | None = None
    kind: str = "linear"


class Tree(NamedTuple):
    """A tree over raw features: left where ``x <= threshold``. A child below 0 is leaf ``~child``."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats

    @property
    def root(self) -> int:
        """The first node."""
        return 0 if len(self.feature) else ~0


class Levels(NamedTuple):
    """How several sums of trees become one score: the expected worth of a level (McRank)."""

    worth: Floats
    start: Floats | None
    """None for a softmax over all levels; else the log-odds of P(y >= k) before the first tree."""

    @property
    def n_outputs(self) -> int:
        """The number of sums: tree ``i`` belongs to sum ``i % n_outputs``."""
        return max(len(self.worth), 2) if self.start is None else len(self.start)


@final
@dataclass(frozen=True)
class PlainTrees:
    """A sum of trees."""

    names: tuple[str, ...]
    trees: tuple[Tree, ...]
    kind: str = "trees"
    """trees, or stumps: one split each, 0 on the left."""
    levels: Levels | None = None
    odds: Odds | None = None
    categorical: str | None = None
    """The model text of LightGBM, if some splits ask for categories, which only it can hold."""

    def lowest(self) -> float:
        """No document has a lower score."""
        return float(sum(tree.value.min() for tree in self.trees))


@final
@dataclass(frozen=True)
class PlainNetwork:
    """Layers ``(W, b)`` with ``W`` of shape (inputs, neurons), an activation between them, one linear output."""

    names: tuple[str, ...]
    layers: tuple[tuple[Floats, Floats], ...]
    activation: str
    preparation: Preparation = field(default_factory=Preparation)
    odds: Odds | None = None
    kind: str = "network"


Plain = PlainLinear | PlainTrees | PlainNetwork
