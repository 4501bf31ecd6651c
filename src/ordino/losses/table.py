"""``LOSSES``, whose entries define each loss, and the functions that make a loss from an entry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, unknown_name
from ordino.losses import lambda_kernels, list_kernels, pair_kernels
from ordino.losses.base import Loss
from ordino.losses.families import MORE, LambdaLoss, ListwiseLoss, PairwiseLoss, values_of_pairs

OF_PAIRS: Mapping[str, Any] = {"pairs": "all", "average": "pairs"}
WITH_TARGETS: Mapping[str, Any] = {"ties": False, "target": 1.0, "target_by": "pair", **OF_PAIRS}
_FAMILIES = {"pairwise": PairwiseLoss, "listwise": ListwiseLoss, "lambda": LambdaLoss}


@final
@dataclass(frozen=True)
class LossEntry:
    """One line of ``LOSSES``."""

    name: str
    family: str
    """pairwise, listwise or lambda."""
    formula: str
    """In TeX. For a pair: m margin, p = 1 / (1 + exp(-m)), t target; for a list: s scores, y labels."""
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


# fmt: off
_ENTRIES = (
    LossEntry("ranknet", "pairwise", r"-t m + \log(1 + e^m)", "cross entropy of a pair's order (RankNet, eq. 3)",
              pair_kernels.RANKNET, WITH_TARGETS, of_probability=True),
    LossEntry("fidelity", "pairwise", r"1 - \sqrt{t p} - \sqrt{(1 - t)(1 - p)}",
              "fidelity of a pair's order (FRank); bounded, with minimum 0",
              pair_kernels.FIDELITY, WITH_TARGETS, of_probability=True),
    LossEntry("squared", "pairwise", "(t - p)^2", "squared error of a pair's probability (SortNet, DeepNet)",
              pair_kernels.SQUARED, WITH_TARGETS, of_probability=True),
    LossEntry("absolute", "pairwise", r"\lvert t - p \rvert", "absolute error of a pair's probability (DeepNet)",
              pair_kernels.ABSOLUTE, WITH_TARGETS, of_probability=True),
    LossEntry("directranker", "pairwise", r"y_i (1 - \tau(m))^2", "DirectRanker's cost of pairs of neighboring labels",
              pair_kernels.DIRECT, {"activation": "identity", **OF_PAIRS, "pairs": "neighbors"},
              needs_positive_labels=True),
    LossEntry("hinge", "pairwise", r"\max(0, 1 - m)", "what RankSVM minimizes", pair_kernels.HINGE, OF_PAIRS),
    LossEntry("squared-hinge", "pairwise", r"\max(0, 1 - m)^2", "the smooth version of the hinge",
              pair_kernels.SQUARED_HINGE, OF_PAIRS),
    LossEntry("exponential", "pairwise", "e^{-m}", "what RankBoost minimizes; a straight line below m = -30",
              pair_kernels.EXPONENTIAL, OF_PAIRS),
    LossEntry("listnet", "listwise", r"-\sum P_y \log P_s",
              "cross entropy of the probabilities of the first k documents (ListNet); for k = 1 they are softmaxes",
              {1: list_kernels.LISTNET, MORE: list_kernels.LISTNET_TOP}, {"k": 1}),
    LossEntry("listmle", "listwise", r"\sum_i \log(e^{s_i} + \sum_{y_j < y_i} e^{s_j}) - s_i",
              "negative log-likelihood of the labels' order (ListMLE)", list_kernels.LISTMLE),
    LossEntry("rankcosine", "listwise", r"(1 - \cos(y, s)) / 2", "angle between scores and labels (RankCosine)",
              list_kernels.RANKCOSINE, {"center": False, "smoothing": 0.01}),
    LossEntry("softmax", "listwise", r"-\sum_i \frac{g_i}{\sum_j g_j} \log \mathrm{softmax}(s)_i",
              "cross entropy of gains and scores", list_kernels.SOFTMAX, {"gain": "linear"},
              needs_positive_labels=True),
    LossEntry("approx-ndcg", "listwise", r"1 - \mathrm{NDCG}(\text{soft ranks})",
              "a smooth approximation of NDCG (ApproxNDCG)", list_kernels.APPROX_NDCG,
              {"gain": "exponential", "alpha": 10.0}, needs_positive_labels=True),
    LossEntry("lambdarank", "lambda", r"\lvert \Delta \mathrm{metric} \rvert \log(1 + e^{-m})",
              "pairs weighted by how their swap changes a metric (LambdaRank)", lambda_kernels.KERNELS,
              {"metric": "ndcg@10", "gain": "exponential", "relevant": 1.0, "pairs": "all", "normalize": False},
              needs_positive_labels=True),
)
# fmt: on
LOSSES: Mapping[str, LossEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
"""Every loss by name."""


def make_loss(name: str, **parameters: Any) -> Loss:
    """A loss from ``LOSSES`` with these parameters; the others keep their defaults.

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
    known = {"kernel": entry.kernel, "needs_positive_labels": entry.needs_positive_labels}
    made: Loss = _FAMILIES[entry.family](name=name, **known, **{**entry.parameters, **parameters})
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
    """A loss of single pairs: ``pair_loss(name)(margin, target=1.0) -> (value, derivative)``, elementwise.

    The function takes an array of any shape and targets that broadcast to it, and gives two arrays of that shape,
    float32 if the array is. The target is the probability that the first document should come first; hinge,
    squared-hinge, exponential and directranker always treat the first document as the better one.

    Parameters
    ----------
    name
        A pairwise loss of ``LOSSES``; cross entropy is "ranknet".
    of
        The function's argument: the "margin" of two scores, or the "probability" that a comparator gives the first
        document (ranknet, fidelity, squared and absolute). The derivative is with respect to it. Probabilities closer
        than 1e-12 to 0 or 1 are moved away from them.
    activation
        DirectRanker's odd output function, applied to the margin.

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
        raise ParameterError(f"{name} takes only margins; for of='probability' use one of {needed}")

    def values(given: ArrayLike, target: ArrayLike = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
        return values_of_pairs(kernel, given, target, of_probability=of == "probability")

    return values
