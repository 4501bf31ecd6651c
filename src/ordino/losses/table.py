"""``LOSSES``: everything that is known of each loss stands in its entry, and what is made of an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, unknown_name
from ordino.losses import lambda_kernels, list_kernels, pair_kernels
from ordino.losses.base import Loss
from ordino.losses.lambdas import LambdaLoss
from ordino.losses.listwise import ListwiseLoss
from ordino.losses.pairwise import PairwiseLoss, values_of_pairs

OF_PAIRS: Mapping[str, Any] = {"pairs": "all", "average": "pairs"}
WITH_TARGETS: Mapping[str, Any] = {"ties": False, "target": 1.0, "target_by": "pair", **OF_PAIRS}
_FAMILIES = {"pairwise": PairwiseLoss, "listwise": ListwiseLoss, "lambda": LambdaLoss}


@final
@dataclass(frozen=True, kw_only=True)
class LossEntry:
    """One line of ``LOSSES``."""

    name: str
    family: str
    """pairwise, listwise or lambda."""
    formula: str
    """For a pair: m margin, p = 1 / (1 + exp(-m)), t target; for a list: s scores, y labels."""
    description: str
    kernel: Any = field(repr=False)
    """What is compiled; where a parameter chooses among several, a mapping by its values."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What may be set, with the defaults."""
    of_probability: bool = False
    """Whether it is a function of a pair's probability, so that it can judge a comparator's output too."""
    needs_positive_labels: bool = False
    """Whether labels below 0 are refused, because they are read as gains or weights."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))


def _table(*entries: LossEntry) -> Mapping[str, LossEntry]:
    return MappingProxyType({entry.name: entry for entry in entries})


LOSSES: Mapping[str, LossEntry] = _table(
    LossEntry(
        name="ranknet",
        family="pairwise",
        formula="-t m + log(1 + exp(m))",
        description="cross entropy of a pair's order (RankNet, eq. 3)",
        kernel=pair_kernels.RANKNET,
        parameters=WITH_TARGETS,
        of_probability=True,
    ),
    LossEntry(
        name="fidelity",
        family="pairwise",
        formula="1 - sqrt(t p) - sqrt((1 - t)(1 - p))",
        description="fidelity of a pair's order (FRank); bounded, zero at best",
        kernel=pair_kernels.FIDELITY,
        parameters=WITH_TARGETS,
        of_probability=True,
    ),
    LossEntry(
        name="squared",
        family="pairwise",
        formula="(t - p)^2",
        description="squared error of a pair's probability (SortNet, DeepNet)",
        kernel=pair_kernels.SQUARED,
        parameters=WITH_TARGETS,
        of_probability=True,
    ),
    LossEntry(
        name="absolute",
        family="pairwise",
        formula="abs(t - p)",
        description="absolute error of a pair's probability (DeepNet)",
        kernel=pair_kernels.ABSOLUTE,
        parameters=WITH_TARGETS,
        of_probability=True,
    ),
    LossEntry(
        name="directranker",
        family="pairwise",
        formula="y_i (1 - tau(m))^2",
        description="DirectRanker's cost of pairs of neighboring labels",
        kernel=pair_kernels.DIRECT,
        parameters={"activation": "identity", **OF_PAIRS, "pairs": "neighbors"},
        needs_positive_labels=True,
    ),
    LossEntry(
        name="hinge",
        family="pairwise",
        formula="max(0, 1 - m)",
        description="what RankSVM minimizes",
        kernel=pair_kernels.HINGE,
        parameters=OF_PAIRS,
    ),
    LossEntry(
        name="squared-hinge",
        family="pairwise",
        formula="max(0, 1 - m)^2",
        description="hinge without the kink",
        kernel=pair_kernels.SQUARED_HINGE,
        parameters=OF_PAIRS,
    ),
    LossEntry(
        name="exponential",
        family="pairwise",
        formula="exp(-m)",
        description="what RankBoost minimizes; a straight line below m = -30",
        kernel=pair_kernels.EXPONENTIAL,
        parameters=OF_PAIRS,
    ),
    LossEntry(
        name="listnet",
        family="listwise",
        formula="-sum softmax(y) log softmax(s)",
        description="cross entropy of who comes first (ListNet, top one)",
        kernel=list_kernels.LISTNET,
    ),
    LossEntry(
        name="listmle",
        family="listwise",
        formula="sum log(exp(s_i) + sum of lower exp(s_j)) - s_i",
        description="likelihood of the labels' order",
        kernel=list_kernels.LISTMLE,
    ),
    LossEntry(
        name="rankcosine",
        family="listwise",
        formula="(1 - cos(y, s)) / 2",
        description="angle between scores and labels (RankCosine)",
        kernel=list_kernels.RANKCOSINE,
        parameters={"center": False, "smoothing": 0.01},
    ),
    LossEntry(
        name="softmax",
        family="listwise",
        formula="-sum gain / total log softmax(s)",
        description="cross entropy of gains and scores",
        kernel=list_kernels.SOFTMAX,
        parameters={"gain": "linear"},
        needs_positive_labels=True,
    ),
    LossEntry(
        name="approx-ndcg",
        family="listwise",
        formula="1 - NDCG of soft ranks",
        description="NDCG made smooth (ApproxNDCG)",
        kernel=list_kernels.APPROX_NDCG,
        parameters={"gain": "exponential", "alpha": 10.0},
        needs_positive_labels=True,
    ),
    LossEntry(
        name="lambdarank",
        family="lambda",
        formula="abs(delta of the measure) log(1 + exp(-m))",
        description="pairs weighed by what their swap changes in a measure (LambdaRank)",
        kernel=lambda_kernels.MEASURES,
        parameters={"metric": "ndcg@10", "gain": "exponential", "relevant": 1.0},
        needs_positive_labels=True,
    ),
)
"""Every loss by name."""


def make_loss(name: str, **parameters: Any) -> Loss:
    """A loss of ``LOSSES`` with these parameters; the others have their defaults.

    Examples
    --------
    Two documents, the better one ahead by 1: a hinge is content, a squared error of 1 - p is not yet.

    >>> value, gradient = make_loss("hinge").value_and_gradient([3.0, 2.0], [1, 0], [0, 2])
    >>> value, gradient.tolist()
    (0.0, [0.0, 0.0])

    The worse one ahead by 1: the hinge is 1 - (-1), and pulls both with 1.

    >>> value, gradient = make_loss("hinge").value_and_gradient([2.0, 3.0], [1, 0], [0, 2])
    >>> value, gradient.tolist()
    (2.0, [-1.0, 1.0])
    >>> make_loss("hinge", ties=True)
    Traceback (most recent call last):
    ordino.errors.ParameterError: hinge has no parameter 'ties'; it has: average, pairs
    """
    if name not in LOSSES:
        raise unknown_name("loss", name, LOSSES)
    entry = LOSSES[name]
    for parameter in parameters:
        if parameter not in entry.parameters:
            has = ", ".join(sorted(entry.parameters)) or "none"
            raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {has}")
    made: Loss = _FAMILIES[entry.family](
        name=name,
        kernel=entry.kernel,
        needs_positive_labels=entry.needs_positive_labels,
        **{**entry.parameters, **parameters},
    )
    return made


def probability_losses() -> tuple[str, ...]:
    """The names of the losses that can judge a comparator, whose output is a probability.

    Examples
    --------
    >>> probability_losses()
    ('ranknet', 'fidelity', 'squared', 'absolute')
    """
    return tuple(name for name, entry in LOSSES.items() if entry.of_probability)


def pair_loss(
    name: str, *, of: str = "margin", activation: str = "identity"
) -> Callable[..., tuple[NDArray[Any], NDArray[Any]]]:
    """A loss of single pairs: ``pair_loss(name)(margin, target=1.0) -> (value, derivative)``, element by element.

    Parameters
    ----------
    name
        A pairwise loss of ``LOSSES``; cross entropy is "ranknet".
    of
        What is given: the "margin" of two scores, or the "probability" that a comparator gives the first document
        (ranknet, fidelity, squared and absolute). The derivative is with respect to what is given. Probabilities
        closer than 1e-12 to 0 or 1 are moved away from them.
    activation
        DirectRanker's odd output function; the margin goes through it.

    Returns
    -------
    function
        Takes an array of any shape and targets that broadcast to it, and gives two arrays of that shape, float32 if
        the array is. The target is the probability that the first document should come first; hinge, squared-hinge,
        exponential and directranker take the first to be the better and know no other.

    Examples
    --------
    The cross entropy of a margin of 0 is log 2, whatever the target; a certain target pulls with 1/2, a tie not at all.

    >>> import numpy as np
    >>> value, derivative = pair_loss("ranknet")(np.array([0.0, 0.0]), [1.0, 0.5])
    >>> np.exp(value).tolist(), derivative.tolist()
    ([2.0, 2.0], [-0.5, 0.0])

    A comparator's output of 0.75 misses the target 1 by 0.25.

    >>> value, derivative = pair_loss("squared", of="probability")(np.array([0.75]), 1.0)
    >>> value.round(9).tolist(), derivative.round(9).tolist()
    ([0.0625], [-0.5])
    """
    pairwise = [entry.name for entry in LOSSES.values() if entry.family == "pairwise"]
    if name not in pairwise:
        raise unknown_name("pairwise loss", name, pairwise)
    loss = make_loss(name)
    assert isinstance(loss, PairwiseLoss)
    kernel = replace(loss, activation=activation).kernels.values
    if of not in ("margin", "probability"):
        raise unknown_name("of", of, ("margin", "probability"))
    if of == "probability" and not LOSSES[name].of_probability:
        needed = ", ".join(probability_losses())
        raise ParameterError(f"{name} is a function of margins; of='probability' needs one of {needed}")

    def values(given: ArrayLike, target: ArrayLike = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
        return values_of_pairs(kernel, given, target, of_probability=of == "probability")

    return values
