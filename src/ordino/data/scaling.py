"""Feature scaling that knows the query: scikit-learn transformers, chosen by name from :data:`SCALERS`.

Features of different queries are not comparable, so three of the scalers work inside each query (SortNet eq. 4, RankDE
eq. 5, z-score) and learn nothing; the others treat every document alike (DirectRanker's normal quantiles, RankNet's
logs of counts, symmetric log). All give float32, leave NaN where it is, and need little memory beside the result.
:mod:`ordino.data.scaler` has the contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ordino.arrays import frozen
from ordino.data import scaling_kernels as kernels
from ordino.data.grouping import Groups
from ordino.data.scaler import BLOCK_ROWS, Features, Scaler, blocks_of
from ordino.data.symlog import symmetric_log
from ordino.errors import DataError, ParameterError, unknown_name


class _QueryScaler(Scaler):
    """A scaler that looks at one query at a time and learns nothing but how many features there are."""

    by_query: ClassVar[bool] = True
    _kind: ClassVar[int]

    def _scaled(self, features: Features, groups: Groups) -> Features:
        scaled = np.empty_like(features)
        rows = np.arange(len(features)) if groups.order is None else groups.order
        heads = np.searchsorted(groups.offsets[:-1], np.arange(0, len(features), BLOCK_ROWS))
        bounds = np.unique(
            np.append(heads, len(groups.offsets) - 1)
        ).tolist()  # runs of whole queries, about a block each
        given = (frozen(features), frozen(rows), frozen(groups.offsets))

        def work(run: tuple[int, int]) -> None:
            X, order, offsets = given
            kernels.scale_queries(X, order, offsets[run[0] : run[1] + 1], self._kind, scaled)

        self._run(work, pairwise(bounds))
        return scaled


@final
class QueryMax(_QueryScaler):
    r"""Minus the mean, over the largest absolute value, inside each query (SortNet and DeepNet, eq. 4).

    .. math:: \hat x = (x - \mu_q) / \max_q |x|

    Values lie in [-1, 1] if the feature has one sign, in [-2, 2] otherwise. A feature that is 0 in the whole query
    stays 0.

    Examples
    --------
    Query a: mean 2, largest 4. Query b: 5 is its own mean.

    >>> QueryMax().fit_transform([[0], [2], [4], [5]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [-0.5, 0.0, 0.5, 0.0]
    """

    _kind: ClassVar[int] = kernels.QUERYMAX


@final
class MinMax(_QueryScaler):
    r"""From 0 at the smallest to 1 at the largest value, inside each query (RankDE, eq. 5).

    .. math:: \hat x = (x - \min_q x) / (\max_q x - \min_q x)

    A feature that is the same in the whole query becomes 0.

    Examples
    --------
    >>> MinMax().fit_transform([[1], [2], [5], [7]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [0.0, 0.25, 1.0, 0.0]
    """

    _kind: ClassVar[int] = kernels.MINMAX


@final
class ZScore(_QueryScaler):
    r"""Mean 0 and standard deviation 1 inside each query.

    .. math:: \hat x = (x - \mu_q) / \sigma_q, \quad \sigma_q^2 = \tfrac{1}{n_q} \sum (x - \mu_q)^2

    A feature that is the same in the whole query becomes 0.

    Examples
    --------
    Mean 3, deviations -2, -2, 2, 2: the standard deviation is 2.

    >>> ZScore().fit_transform([[1], [1], [5], [5]]).ravel().tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """

    _kind: ClassVar[int] = kernels.ZSCORE


@final
class NormalQuantiles(Scaler):
    """Ranks among the training values, spread as a normal distribution with standard deviation 1/3 (DirectRanker 4.2).

    A value becomes the share of training values below it, linear between ``n_quantiles`` quantiles, and the share
    becomes the normal quantile: scikit-learn's ``QuantileTransformer(output_distribution="normal")`` over 3, fitted on
    all rows, so that their order does not count. Values at or past the ends of the training values are clipped to
    -1.733 and 1.733. Unlike scikit-learn's, a feature that was constant in training becomes 0 where it still has that
    value.

    Parameters
    ----------
    n_quantiles
        How many quantiles are kept; at most one for each row.
    std
        Standard deviation of the result.

    Attributes
    ----------
    quantiles_
        Shape ``(n_features, n_quantiles)``.

    Examples
    --------
    The middle of the training values becomes 0; 84 % of a normal distribution lie below one standard deviation.

    >>> scaler = NormalQuantiles().fit(np.arange(101.0).reshape(-1, 1))
    >>> scaler.transform([[50], [84.13447], [500]]).ravel().round(3)
    array([0.   , 0.333, 1.733], dtype=float32)
    """

    quantiles_: NDArray[np.float64]

    def __init__(self, *, n_quantiles: int = 1000, std: float = 1 / 3, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.n_quantiles = n_quantiles
        self.std = std

    def _learn(self, features: Features) -> None:
        if not isinstance(self.n_quantiles, int | np.integer) or self.n_quantiles < 2:
            raise ParameterError(f"n_quantiles={self.n_quantiles!r}; it must be a whole number from 2 on")
        if not 0 < self.std < np.inf:
            raise ParameterError(f"std={self.std!r}; it must be a positive number")
        if not len(features):
            raise DataError("the data has no rows; quantiles need at least one")
        n_quantiles = max(2, min(self.n_quantiles, len(features)))
        self.quantiles_ = np.full((features.shape[1], n_quantiles), np.nan)

        def work(j: int) -> None:
            values = np.sort(features[:, j])
            values = values[: len(values) - np.count_nonzero(np.isnan(values))].astype(np.float64)  # NaN sorts last
            if len(values):
                place = np.linspace(0, len(values) - 1, n_quantiles)
                self.quantiles_[j] = np.interp(place, np.arange(len(values)), values)

        self._run(work, range(features.shape[1]))

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        scaled = np.empty_like(features)
        references = np.linspace(0, 1, self.quantiles_.shape[1])
        end = -ndtri(1e-7)  # where scikit-learn clips

        def work(rows: slice) -> None:
            share = np.empty((rows.stop - rows.start, features.shape[1]))
            kernels.shares_below(frozen(features[rows]), self.quantiles_, references, share)
            ndtri(share, out=share)
            np.clip(share, -end, end, out=share)
            np.multiply(share, self.std, out=scaled[rows], casting="same_kind")

        self._run(work, blocks_of(len(features)))
        return scaled


@final
class LogCounts(Scaler):
    """log(1 + x) of the features that are counts, the others as they are (RankNet, section 6).

    Parameters
    ----------
    columns
        Numbers of the features that are counts, from 0. If None, :meth:`fit` takes the features whose training values
        are all whole numbers from 0 on.

    Attributes
    ----------
    columns_
        The features that were taken, rising.

    Examples
    --------
    >>> scaler = LogCounts().fit([[0, 0.5], [7, 2.0]])
    >>> scaler.columns_.tolist()
    [0]
    >>> scaler.transform([[0, 0.5]]).tolist()
    [[0.0, 0.5]]
    """

    columns_: NDArray[np.int64]

    def __init__(self, *, columns: Sequence[int] | None = None, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.columns = columns

    def _learn(self, features: Features) -> None:
        n_features = features.shape[1]
        if self.columns is not None:
            given = np.unique(np.asarray(self.columns))
            if given.size and (given.dtype.kind not in "iu" or given[0] < 0 or given[-1] >= n_features):
                raise ParameterError(f"columns={self.columns!r}; give numbers from 0 to {n_features - 1}")
            self.columns_ = given.astype(np.int64)
            self._check_counts(features)
            return
        counts = np.ones(n_features, bool)
        for rows in blocks_of(len(features)):
            block = features[rows]
            counts &= (np.isnan(block) | ((block >= 0) & (block == np.rint(block)))).all(axis=0)
        self.columns_ = np.flatnonzero(counts).astype(np.int64)

    def _check_counts(self, features: Features) -> None:
        for rows in blocks_of(len(features)):
            negative = features[rows, self.columns_] < 0
            if negative.any():
                i, j = np.argwhere(negative)[0] + (rows.start, 0)
                raise DataError(
                    f"feature {self.columns_[j]} has {features[i, self.columns_[j]]:g} in row {i}, but is scaled as a "
                    "count; name the counts with columns=..., or choose the scaler 'symlog'"
                )

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        self._check_counts(features)
        scaled = features.copy()

        def work(rows: slice) -> None:
            scaled[rows, self.columns_] = np.log1p(scaled[rows, self.columns_])

        self._run(work, blocks_of(len(features)))
        return scaled


@final
class SymmetricLog(Scaler):
    """sign(x) log(1 + abs(x)): large values drawn in, signs and zeros kept.

    Examples
    --------
    >>> SymmetricLog().fit_transform([[0.0], [-1.0], [1.0]]).ravel().round(3)
    array([ 0.   , -0.693,  0.693], dtype=float32)
    """

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        scaled = np.empty_like(features)

        def work(rows: slice) -> None:
            symmetric_log(features[rows], out=scaled[rows])

        self._run(work, blocks_of(len(features)))
        return scaled


@final
class NoScaling(Scaler):
    """Features as they are.

    Examples
    --------
    >>> NoScaling().fit_transform([[3.0, 4.0]]).tolist()
    [[3.0, 4.0]]
    """

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        return features


SCALERS: Mapping[str, type[Scaler]] = MappingProxyType(
    {
        "none": NoScaling,
        "querymax": QueryMax,
        "minmax": MinMax,
        "zscore": ZScore,
        "quantile": NormalQuantiles,
        "logcount": LogCounts,
        "symlog": SymmetricLog,
    }
)
"""Every scaler by its name; the first line of a class says what it does."""


def make_scaler(name: str, **params: Any) -> Scaler:
    """Make the scaler with this name.

    Examples
    --------
    >>> make_scaler("quantile", n_quantiles=100)
    NormalQuantiles(n_quantiles=100)
    >>> make_scaler("zcore")
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown scaler 'zcore'; did you mean 'zscore'?
    """
    if name not in SCALERS:
        raise unknown_name("scaler", name, SCALERS)
    allowed = list(signature(SCALERS[name]).parameters)
    for param in params:
        if param not in allowed:
            raise unknown_name(f"parameter of scaler {name!r}:", param, allowed)
    return SCALERS[name](**params)
