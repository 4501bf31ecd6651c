"""What the two families of networks do alike: read their parameters, choose an epoch, train repeats, compare.

:mod:`ordino.networks.scoring` has the networks that score one document, :mod:`ordino.networks.comparing` those that
compare two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.data.source import canonical
from ordino.errors import DataError, ParameterError
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.networks.rates import Schedule
from ordino.ranker import Ranker, Validation, as_held_out

if TYPE_CHECKING:
    from ordino.networks.nets import Nets
    from ordino.networks.training import Quality

Floats = NDArray[np.float64]


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


def schedule_of(ranker: Any, **changes: Any) -> Schedule:
    """How long and how fast a ranker learns, by its parameters."""
    return Schedule(**({one.name: getattr(ranker, one.name) for one in fields(Schedule)} | changes))


def metric_of(ranker: Any, data: Dataset) -> Callable[[Floats], float]:
    """The ranker's metric of scores of this data, larger is better; 0 where no query counts."""
    judge = Judge(ranker.metric, ranker.profile)
    return lambda scores: float(np.nan_to_num(judge.mean(data, scores)))


def quality_by_metric(ranker: Any, valid: Dataset, scores: Callable[[list[Layer]], Floats]) -> Quality:
    """The ranker's metric of each network of a batch, whose layers give these scores of the validation data."""
    metric = metric_of(ranker, valid)

    def quality(network: Nets) -> Floats:
        return np.array([metric(scores(network.layers(m))) for m in range(len(network))])

    return quality


def fit_together(pattern: Any, data: Dataset, seeds: Sequence[int], valid: Validation) -> list[Any]:
    """A fitted copy of the ranker for each seed; their networks train together along a leading axis.

    The ranker's ``_train`` gives what the networks of all seeds learned, and its ``_keep`` takes one of them.
    """
    first = clone(pattern)
    learned = first._train(*first._prepare(canonical(data), as_held_out(valid)), seeds)
    of_data = {name: value for name, value in vars(first).items() if name.endswith("_")}
    rankers = [pattern.with_seed(seed) for seed in seeds]
    for ranker, one in zip(rankers, learned, strict=True):
        vars(ranker).update(of_data)
        ranker._keep(one)
    return rankers


def check_documents_alone(ranker: Any) -> None:
    """Refuse to compare two documents where the scaling needs their query."""
    ranker._check_fitted()
    if ranker.scaler_ is not None and ranker.scaler_.by_query:
        raise DataError(
            f"compare() sees two documents, but scaling={ranker.scaling!r} needs the whole query; "
            "scale the data first and use scaling=None, or use scaling='symlog'"
        )


def score_difference(ranker: Ranker, A: ArrayLike, B: ArrayLike) -> Floats:
    """f(a) - f(b) for each row a of A and b of B."""
    check_documents_alone(ranker)
    return ranker.predict(A) - ranker.predict(B)


def win_probability(ranker: Ranker, A: ArrayLike, B: ArrayLike) -> Floats:
    """P(a before b) = 1 / (1 + exp(f(b) - f(a))) for each row a of A and b of B (RankNet, eq. 3)."""
    return 1 / (1 + np.exp(-np.clip(score_difference(ranker, A, B), -700, 700)))


def check_preferences(pairs: ArrayLike, probability: ArrayLike, n_rows: int) -> tuple[NDArray[np.intp], Floats]:
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
