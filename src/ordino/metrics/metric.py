"""A metric is a value: it is parsed from ``ndcg@10``, prints as the same text, and gives one number for each query.

:data:`METRICS` is the table of all metrics. Error messages, the command line's help and the documentation are made from
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, unknown_name
from ordino.metrics import formulas
from ordino.metrics.block import Block
from ordino.metrics.profiles import Profile

Values = TypeVar("Values", int, float, NDArray[np.float64])

_LARGEST_K = 2**31 - 1
_NOTATION = re.compile(r"([a-z][a-z_\d]*)\s*(?:\(([^()]*)\))?\s*(?:@\s*(.+))?")


@final
@dataclass(frozen=True)
class Parameter:
    """A number that a metric takes in parentheses, as in ``rbp(p=0.9)``."""

    name: str
    description: str
    default: float | None
    _: KW_ONLY
    low: float
    high: float
    whole: bool
    keyword: str | None = None
    """Its name in Python, if different from ``name``."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g}"


@final
@dataclass(frozen=True)
class Measure:
    """An entry of :data:`METRICS`: a metric before its cutoff and parameters are chosen."""

    name: str
    formula: Callable[[Block, Metric], NDArray[np.float64]]
    """Computes the value of each query of a block; NaN where there is none, which no mean counts.

    Queries that the profile leaves out become NaN afterwards: a formula need not look for them.
    """
    _: KW_ONLY
    cutoff: Literal["required", "optional", "none"] = "optional"
    """Whether ``@k`` must, may or cannot follow the name."""
    aliases: tuple[str, ...] = ()
    """Other names for it."""
    parameters: tuple[Parameter, ...] = ()
    """Numbers in parentheses; one without a name is the first."""
    greater_is_better: bool = True
    """False for metrics that count errors: whatever looks for the best then looks for the smallest value."""
    uses_gain: bool = False
    """Whether the formula reads what labels gain (``gains``, ``chances`` or ``ideal`` of a block): only then is it
    prepared, and are labels refused that can have no gain, such as negative ones."""
    stops_early: bool = False
    """Whether a profile may limit the number of ranks when there is no cutoff."""
    low: float = 0.0
    """The least that it can be."""
    high: float = 1.0
    """The most that it can be; ``inf`` if there is no limit."""

    @property
    def description(self) -> str:
        """One sentence: the first line of the formula's documentation."""
        return (self.formula.__doc__ or "").partition("\n")[0]

    @property
    def example(self) -> str:
        """The shortest way to write it."""
        return f"{self.name}@10" if self.cutoff == "required" else self.name


_SAMPLES = (
    Parameter("samples", "pairs to draw; all by default", None, low=1, high=2**31 - 1, whole=True),
    Parameter("seed", "random seed", 0, low=0, high=2**31 - 1, whole=True),
)
_LABEL = Parameter("max", "the highest possible label", None, low=1, high=100, whole=True, keyword="max_label")
_CHANCE = Parameter("p", "probability of going on", 0.8, low=0.0, high=1.0, whole=False)

_ALL = (
    Measure("p", formulas.precision, cutoff="required", aliases=("precision", "prec")),
    Measure("recall", formulas.recall, cutoff="required"),
    Measure("map", formulas.average_precision, stops_early=True, aliases=("ap", "average_precision")),
    Measure("ndcg", formulas.ndcg, stops_early=True, uses_gain=True),
    Measure("dcg", formulas.dcg, uses_gain=True, high=np.inf),
    Measure("meanndcg", formulas.mean_ndcg, cutoff="none", uses_gain=True, aliases=("mean_ndcg",)),
    Measure("mrr", formulas.reciprocal_rank, aliases=("rr", "reciprocal_rank")),
    Measure("err", formulas.expected_reciprocal_rank, uses_gain=True, parameters=(_LABEL,)),
    Measure("rbp", formulas.rank_biased_precision, parameters=(_CHANCE,)),
    Measure("hit", formulas.hit, cutoff="required", aliases=("hit_rate", "success")),
    Measure("pairwise_accuracy", formulas.pairwise_accuracy, cutoff="none", parameters=_SAMPLES),
    Measure("pairwise_error", formulas.pairwise_error, cutoff="none", parameters=_SAMPLES, greater_is_better=False),
    Measure("kendall", formulas.kendall, cutoff="none", aliases=("kendall_tau", "tau"), low=-1.0),
    Measure("spearman", formulas.spearman, cutoff="none", aliases=("rho",), low=-1.0),
)
METRICS: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})
"""Every metric by name."""

_BY_NAME = MappingProxyType(
    {name: measure for measure in METRICS.values() for name in (measure.name, *measure.aliases)}
)


@final
@dataclass(frozen=True)
class Metric:
    """A metric with its cutoff and parameters; equal metrics compare and hash as equal.

    Parameters
    ----------
    name
        A key of :data:`METRICS`.
    k
        Number of ranks that count; None for all.
    parameters
        Pairs of name and value; values equal to the default are dropped.

    Examples
    --------
    >>> print(Metric("ndcg", 10), Metric("rbp", parameters=(("p", 0.9),)))
    ndcg@10 rbp(p=0.9)
    >>> parse_metric("NDCG@10") == Metric("ndcg", 10)
    True
    """

    name: str
    k: int | None = None
    parameters: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if self.name not in METRICS:
            raise unknown_name("metric", self.name, METRICS)
        where, measure = f"metric {str(self)!r}", self.measure
        if self.k is None and measure.cutoff == "required":
            raise ParameterError(f"{where}: {self.name} needs a cutoff; write it as {measure.example!r}")
        if self.k is not None and measure.cutoff == "none":
            raise ParameterError(f"{where}: {self.name} has no cutoff; write it as {measure.example!r}")
        if self.k is not None and not (_is_whole(self.k) and 1 <= self.k <= _LARGEST_K):
            raise ParameterError(f"{where}: k is {self.k!r}; give a whole number from 1, as in '{self.name}@10'")
        known = {parameter.name: parameter for parameter in measure.parameters}
        chosen = []
        for name, value in self.parameters:
            if name not in known:
                raise _unknown_parameter(where, name, measure)
            parameter = known[name]
            right_kind = _is_whole(value) if parameter.whole else isinstance(value, int | float | np.floating)
            if not right_kind or not parameter.low <= value <= parameter.high:
                raise ParameterError(f"{where}: {name} is {value!r}; give {parameter.allowed}")
            if value != parameter.default:
                chosen.append((name, int(value) if parameter.whole else float(value)))
        if len({name for name, _ in self.parameters}) < len(self.parameters):
            raise ParameterError(f"{where}: a parameter is given twice; give each once")
        object.__setattr__(self, "k", None if self.k is None else int(self.k))
        object.__setattr__(self, "parameters", tuple(sorted(chosen)))

    @property
    def measure(self) -> Measure:
        """Its entry in :data:`METRICS`."""
        return METRICS[self.name]

    @property
    def greater_is_better(self) -> bool:
        """False for metrics that count errors."""
        return self.measure.greater_is_better

    def quality(self, values: Values) -> Values:
        """The values, negated if smaller is better, so that larger is always better.

        Examples
        --------
        >>> parse_metric("pairwise_error").quality(np.array([0.25])).tolist()
        [-0.25]
        """
        return values if self.greater_is_better else -values

    def value_of(self, parameter: str) -> float | None:
        """The value of a parameter: the one chosen, or the default."""
        defaults = {p.name: p.default for p in self.measure.parameters}
        return dict(self.parameters).get(parameter, defaults[parameter])

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return self.name + (f"({inside})" if inside else "") + ("" if self.k is None else f"@{self.k}")

    def per_query(
        self, y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, *, profile: str | Profile = "standard"
    ) -> NDArray[np.float64]:
        """The value of each query, shape ``(n_queries,)``; NaN where the profile leaves the query out.

        The arguments are those of :func:`ordino.metrics.measure`.

        Examples
        --------
        Query 0 has its relevant document at rank 1, query 1 at rank 2.

        >>> parse_metric("mrr").per_query([1, 0, 0, 1], [5.0, 4.0, 5.0, 4.0], [0, 2, 4]).tolist()
        [1.0, 0.5]
        """
        from ordino.metrics.engine import values_of

        values: NDArray[np.float64] = values_of(y, scores, offsets, (self,), profile=profile, find_ties=False).values[0]
        return values


def parse_metric(text: str | Metric) -> Metric:
    """The metric with a name such as ``ndcg@10``, ``map`` or ``rbp(p=0.9)``; case does not matter.

    Examples
    --------
    >>> parse_metric("Precision@5"), parse_metric("rbp(0.9)")
    (Metric(name='p', k=5, parameters=()), Metric(name='rbp', k=None, parameters=(('p', 0.9),)))
    >>> parse_metric("ndgc@10")
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown metric 'ndgc@10'; did you mean 'ndcg@10'?
    """
    if isinstance(text, Metric):
        return text
    if not isinstance(text, str):
        raise ParameterError(f"metric is {text!r}; give a name such as 'ndcg@10'")
    return _parse(text)


@lru_cache(maxsize=256)
def _parse(text: str) -> Metric:
    found = _NOTATION.fullmatch(text.strip().lower())
    measure = None if found is None else _BY_NAME.get(found[1])
    if found is None or measure is None:
        suffix = "".join(re.findall(r"@\s*\d+\s*$", text))
        names = [name + suffix if m.cutoff != "none" else name for name, m in _BY_NAME.items()]
        raise unknown_name("metric", text, names if suffix else [m.example for m in METRICS.values()])
    _, inside, cutoff = found.groups()
    k: Any = cutoff
    if cutoff is not None and re.fullmatch(r"[+-]?\d+", cutoff.strip()):
        k = int(cutoff)
    return Metric(measure.name, k, tuple(_parse_parameters(f"metric {text!r}", inside, measure)))


def _parse_parameters(where: str, inside: str | None, measure: Measure) -> list[tuple[str, float]]:
    """Pairs from ``p=0.9, ...``; a value without a name is that of the first parameter."""
    pairs = []
    for part in (inside or "").split(","):
        if inside is None or not part.strip():
            continue
        name, _, value = (piece.strip() for piece in part.rpartition("="))
        if not measure.parameters:
            raise _unknown_parameter(where, name or value, measure)
        try:
            number = float(value)
        except ValueError:
            raise ParameterError(f"{where}: {value!r} is not a number; give numbers in the parentheses") from None
        pairs.append((name or measure.parameters[0].name, int(number) if number.is_integer() else number))
    return pairs


def _unknown_parameter(where: str, name: str, measure: Measure) -> ParameterError:
    allowed = ", ".join(parameter.name for parameter in measure.parameters)
    has = f"{measure.name} takes {allowed}" if allowed else f"{measure.name} takes none"
    return ParameterError(f"{where}: unknown parameter {name!r}; {has}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
