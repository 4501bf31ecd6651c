"""What the two families of networks share: parameters, checks of what users give them, repeats that train together.

A parameter here has one meaning and one check: ``epochs: int = fields.epochs(50)``. The families are
:mod:`ordino.networks.scoring`, which scores one document, and :mod:`ordino.networks.comparing`, which compares two.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.data.scaling import make_scaler
from ordino.errors import DataError, ParameterError
from ordino.estimators import clone
from ordino.given import Validation, split_off
from ordino.networks.rates import RATES
from ordino.parameters import Range, param
from ordino.ranker import Ranker

OPTIMIZERS = ("adamw", "adam", "descent")

R = TypeVar("R", bound=Ranker)
T = TypeVar("T")


def dropout(default: float) -> Any:
    """The share of hidden neurons dropped."""
    return param(default, "The share of hidden neurons dropped in training.", low=0, high=0.95, space=Range(0.0, 0.6))


def learning_rate(default: float | None, text: str = "The first step size; `rate` says how it changes.") -> Any:
    """The first step size."""
    return param(default, text, above=0, space=Range(1e-4, 0.3, log=True))


def rate() -> Any:
    """How the step size changes."""
    text = (
        "How the step size changes: constant, halve (halved when the error rises) or adaptive (DeepNet's Algorithm 1)."
    )
    return param("constant", text, choices=RATES)


def optimizer(default: str) -> Any:
    """The optimizer."""
    return param(default, "The optimizer: adamw, adam or descent (plain gradient descent).", choices=OPTIMIZERS)


def l1() -> Any:
    """The penalty on the absolute weights."""
    return param(0.0, "The penalty on the absolute weights; together with `l2` it makes the elastic net.", low=0)


def l2(default: float, text: str) -> Any:
    """The penalty on the squared weights."""
    return param(default, text, low=0, space=Range(1e-6, 0.1, log=True))


def epochs(default: int) -> Any:
    """How many times to go through the training data."""
    return param(default, "How many times to go through the training data.", low=1, brief=2)


def patience(default: int) -> Any:
    """After how many epochs without a better one to stop."""
    text = "With `valid`, stop after this many epochs without a better one; None never stops early."
    return param(default, text, low=1)


ENOUGH_QUERIES = 50
"""From which on a network holds out a share of them by itself."""


def hold_out() -> Any:
    """The share of the queries to hold out where no validation data is given."""
    text = (
        "Where `fit` gets no `valid`: the share of the queries that is held out to choose the best epoch by. It takes "
        "50 queries; with fewer, or with None, all are learned from, and the last epoch is kept."
    )
    return param(0.2, text, above=0, high=0.9)


def own_validation(share: float | None, n_queries: int, valid: Validation) -> Validation:
    """The validation data given, or the share that a network holds out by itself."""
    return share if valid is None and n_queries >= ENOUGH_QUERIES else valid


def batch(default: int, what: str) -> Any:
    """How many queries or pairs each step learns from."""
    return param(default, f"{what} in each step; None takes all at once.", low=1)


def average() -> Any:
    """What counts equally in a pairwise loss."""
    text = (
        "What counts equally in a step: every query (queries) or every pair (pairs); with sum, the losses of all pairs "
        "are added up instead of averaged, so that `learning_rate` is that of a pair."
    )
    return param("queries", text, choices=("queries", "pairs", "sum"))


def widths_of(hidden: Any) -> tuple[int, ...]:
    """The neurons of each hidden layer.

    Examples
    --------
    >>> widths_of(40), widths_of([64, 32])
    ((40,), (64, 32))
    """
    given = (hidden,) if isinstance(hidden, int | np.integer) else hidden
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ParameterError(f"hidden={hidden!r}; give the neurons of each hidden layer, such as (64, 32)")
    return tuple(check_int("hidden", width, low=1) for width in given)


def documents_of_pairs(X: ArrayLike) -> Dataset:
    """The documents that preferences are about, in the order of their rows, with the names of their columns."""
    rows: Any = X if hasattr(X, "shape") else np.asarray(X)
    return Dataset(rows, np.zeros(rows.shape[:1] or 1))


def check_preferences(
    pairs: ArrayLike, probability: ArrayLike, n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Preferences as a user gives them: row numbers ``(n_pairs, 2)``, and P(first before second) of each pair.

    Examples
    --------
    >>> check_preferences([(0, 3)], 1.0, 3)
    Traceback (most recent call last):
    ordino.errors.DataError: pairs has row number 3; the rows of X go from 0 to 2
    """
    chosen = np.asarray(pairs)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or chosen.dtype.kind not in "iu" or not len(chosen):
        raise DataError("pairs must be rows (a, b) of row numbers of X, at least one")
    if chosen.min() < 0 or chosen.max() >= n_rows:
        outside = chosen.max() if chosen.max() >= n_rows else chosen.min()
        raise DataError(f"pairs has row number {outside}; the rows of X go from 0 to {n_rows - 1}")
    target = np.asarray(probability, dtype=np.float64)
    if target.shape not in ((), (len(chosen),)) or not ((target >= 0) & (target <= 1)).all():
        raise DataError("probability must lie between 0 and 1, one for all pairs or one for each")
    return chosen.astype(np.intp), np.broadcast_to(target, len(chosen))


def check_pair_weights(weights: ArrayLike, n_pairs: int) -> NDArray[np.float64]:
    """How much each of the pairs counts: one number for all, or one for each.

    Examples
    --------
    >>> check_pair_weights([1.0, -1.0], 2)
    Traceback (most recent call last):
    ordino.errors.DataError: weights must be finite and not negative, one for all pairs or one for each, and not all 0
    """
    given = np.asarray(weights, np.float64)
    if given.shape not in ((), (n_pairs,)) or not ((given >= 0) & (given < np.inf)).all() or not given.any():
        raise DataError("weights must be finite and not negative, one for all pairs or one for each, and not all 0")
    return np.broadcast_to(given, n_pairs)


def check_scaling_alone(ranker: Ranker) -> None:
    """Refuse to learn from pairs where the scaling needs the queries that they are from.

    Examples
    --------
    >>> from ordino import RankNet
    >>> RankNet().fit_pairs([[0.0], [1.0]], [(1, 0)])
    Traceback (most recent call last):
    ordino.errors.ParameterError: fit_pairs() is not told which query a document is from, but scaling='z+rank' needs \
it; use scaling='symlog', or scale the data first and use scaling=None
    """
    scaling = ranker.get_params()["scaling"]
    if scaling is not None and make_scaler(scaling).by_query:
        raise ParameterError(
            f"fit_pairs() is not told which query a document is from, but scaling={scaling!r} needs it; use "
            "scaling='symlog', or scale the data first and use scaling=None"
        )


def check_documents_alone(ranker: Ranker) -> None:
    """Refuse to compare two documents where the scaling needs their query."""
    ranker._check_fitted()
    if ranker.scaler_ is not None and ranker.scaler_.by_query:
        raise DataError(
            f"compare() sees two documents, but scaling={ranker.get_params()['scaling']!r} needs the whole query; "
            "scale the data first and use scaling=None, or use scaling='symlog'"
        )


def fit_together(
    pattern: R, data: Dataset, seeds: Sequence[int], valid: Validation,
    train: Callable[[R, Dataset, Dataset | None, Sequence[int]], Sequence[T]], keep: Callable[[R, T], R],
) -> list[R]:  # fmt: skip
    """A fitted copy of the ranker for each seed: ``train`` learns for all seeds at once, ``keep`` takes one's part."""
    if not len(seeds):
        return []
    first = clone(pattern)
    scaled, held_out = first._prepare(*split_off(data, first._validation(data.n_queries, valid)))
    trained = train(first, scaled, held_out, seeds)
    of_data = {name: value for name, value in first.__dict__.items() if name.endswith("_")}
    rankers = [pattern.with_seed(seed) for seed in seeds]
    for ranker in rankers:
        ranker.__dict__.update(of_data)
    return [keep(ranker, one) for ranker, one in zip(rankers, trained, strict=True)]
