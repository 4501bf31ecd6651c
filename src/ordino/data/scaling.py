"""Scalers by name: query-aware feature scaling, chosen from :data:`SCALERS`.

Feature values are not comparable between queries, so most of the scalers work within each query and learn nothing (a
feature that is constant within the query becomes 0); the others treat all documents alike. Several are joined by ``+``:
``zscore+rank`` gives the features of both. The contract is in :mod:`ordino.data.scaler`.
"""

from collections.abc import Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ordino.arrays import frozen, row_blocks
from ordino.checks import check_choice, check_int, check_real
from ordino.data.columns import Features, Groups, symmetric_log
from ordino.data.order_statistics import Elsewhere
from ordino.data.query_features import Hinge, Joined, QueryLog, QueryRank, Unscaled
from ordino.data.scaler import BLOCK_ROWS, Ids, QueryScaler, Scaler
from ordino.errors import DataError, ParameterError
from ordino.threads import run_blocks

COLUMNS = 4
"""Features that a thread copies and sorts at a time: rows may come from disk, where a row is read as a whole."""

__all__ = ["SCALERS", "Ids", "MinMax", "NormalQuantiles", "QueryMax", "Scaler", "SymmetricLog", "ZScore", "make_scaler"]


@final
class QueryMax(QueryScaler):
    r"""Subtract the mean and divide by the largest absolute value, within each query (SortNet and DeepNet, eq. 4).

    .. math:: \hat x = (x - \mu_q) / \max_q |x|

    Values lie in [-1, 1] if all values of the feature have the same sign, in [-2, 2] otherwise.

    Examples
    --------
    >>> QueryMax().fit_transform([[0], [2], [4], [5]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [-0.5, 0.0, 0.5, 0.0]
    """

    _kind = "querymax"


@final
class MinMax(QueryScaler):
    r"""Scale to 0 at the smallest and 1 at the largest value, within each query (RankDE, eq. 5).

    .. math:: \hat x = (x - \min_q x) / (\max_q x - \min_q x)

    Examples
    --------
    >>> MinMax().fit_transform([[1], [2], [5], [7]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [0.0, 0.25, 1.0, 0.0]
    """

    _kind = "minmax"


@final
class ZScore(QueryScaler):
    r"""Scale to mean 0 and standard deviation 1 within each query.

    .. math:: \hat x = (x - \mu_q) / \sigma_q, \quad \sigma_q^2 = \tfrac{1}{n_q} \sum (x - \mu_q)^2

    Examples
    --------
    >>> ZScore().fit_transform([[1], [1], [5], [5]]).ravel().tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """

    _kind = "zscore"


@final
class NormalQuantiles(Scaler):
    """Ranks among the training values, spread as a normal distribution with standard deviation 1/3 (DirectRanker 4.2).

    A value becomes the share of training values below it, linear between ``n_quantiles`` quantiles (at most one for
    each row), and the share becomes the normal quantile times ``std``: scikit-learn's
    ``QuantileTransformer(output_distribution="normal")`` over 3, fitted on all rows. Values at or beyond the range of
    the training values are clipped to -1.733 and 1.733. Unlike scikit-learn's, a feature that was constant in training
    becomes 0 where it still has that value.

    Examples
    --------
    >>> scaler = NormalQuantiles().fit(np.arange(101.0).reshape(-1, 1))
    >>> scaler.transform([[50], [84.13447], [500]]).ravel().round(3)
    array([0.   , 0.333, 1.733], dtype=float32)
    """

    quantiles_: NDArray[np.float64]  # (n_features, n_quantiles)

    def __init__(self, *, n_quantiles: int = 1000, std: float = 1 / 3, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.n_quantiles, self.std = n_quantiles, std

    def _learn(self, features: Features | None) -> None:
        n_quantiles = check_int("n_quantiles", self.n_quantiles, low=2)
        check_real("std", self.std, low=0, open_low=True)
        if features is None:
            raise DataError("quantiles need all training rows at once; give a Dataset, or choose another scaling")
        if not len(features):
            raise DataError("the data has no rows; quantiles need at least one")
        n_quantiles = max(2, min(n_quantiles, len(features)))
        quantiles = np.full((features.shape[1], n_quantiles), np.nan)

        def work(columns: slice) -> None:
            for j, column in zip(range(features.shape[1])[columns], features[:, columns].T.copy(), strict=True):
                column.sort()
                values = column[: len(column) - np.count_nonzero(np.isnan(column))].astype(np.float64)  # NaN sorts last
                if len(values):
                    place = np.linspace(0, len(values) - 1, n_quantiles)
                    quantiles[j] = np.interp(place, np.arange(len(values)), values)

        run_blocks(work, row_blocks(features.shape[1], COLUMNS), self.n_jobs)
        self.quantiles_ = quantiles

    def _learn_elsewhere(self, data: Elsewhere, filling: Features | None) -> None:
        n_quantiles = check_int("n_quantiles", self.n_quantiles, low=2)
        check_real("std", self.std, low=0, open_low=True)
        n_quantiles = max(2, min(n_quantiles, data.n_docs))
        quantiles = np.full((data.n_features, n_quantiles), np.nan)
        for columns in data.column_blocks():
            found = data.sorted_columns(columns, filling)
            places = [np.linspace(0, max(count - 1, 0), n_quantiles) for count in found.counts]
            below = [np.floor(place).astype(np.int64) for place in places]
            ranks = [np.unique(np.minimum(np.append(one, one + 1), max(count - 1, 0)))
                     for one, count in zip(below, found.counts, strict=True)]  # fmt: skip
            numbers = range(data.n_features)[columns]
            for j, count, *known in zip(numbers, found.counts, places, ranks, found.at(ranks), strict=True):
                if count:
                    quantiles[j] = np.interp(known[0], known[1], known[2].astype(np.float64))
        self.quantiles_ = quantiles

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        from ordino.data.scaling_kernels import shares_below  # numba loads here

        scaled = np.empty_like(features)
        references = np.linspace(0, 1, self.quantiles_.shape[1])
        end = -ndtri(1e-7)  # where scikit-learn clips

        def work(rows: slice) -> None:
            share = np.empty((rows.stop - rows.start, features.shape[1]))
            shares_below(frozen(features[rows]), self.quantiles_, references, share)
            ndtri(share, out=share)
            np.clip(share, -end, end, out=share)
            np.multiply(share, self.std, out=scaled[rows], casting="same_kind")

        run_blocks(work, row_blocks(len(features), BLOCK_ROWS), self.n_jobs)
        return scaled


@final
class SymmetricLog(Scaler):
    """sign(x) log(1 + abs(x)): compresses large values, keeps signs and zeros.

    Examples
    --------
    >>> SymmetricLog().fit_transform([[0.0], [-1.0], [1.0]]).ravel().round(3)
    array([ 0.   , -0.693,  0.693], dtype=float32)
    """

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        scaled = np.empty_like(features)
        blocks = row_blocks(len(features), BLOCK_ROWS)
        run_blocks(lambda rows: symmetric_log(features[rows], out=scaled[rows]), blocks, self.n_jobs)
        return scaled


SCALERS: Mapping[str, type[Scaler]] = MappingProxyType(
    {
        "querymax": QueryMax,
        "minmax": MinMax,
        "zscore": ZScore,
        "rank": QueryRank,
        "qlog": QueryLog,
        "hinge": Hinge,
        "quantile": NormalQuantiles,
        "symlog": SymmetricLog,
        "raw": Unscaled,
    }
)
"""Every scaler by its name; the first line of a class says what it does."""

SHORT: Mapping[str, str] = MappingProxyType({"z": "zscore"})
"""Short names, for several joined by ``+``."""

_REMOVED = {"none": "None", "logcount": "'symlog'"}  # and what to use instead


def make_scaler(name: str, **params: Any) -> Scaler:
    """Make the scaler with this name, or several names joined by ``+``, which take no parameters but ``n_jobs``.

    Examples
    --------
    >>> make_scaler("quantile", n_quantiles=100)
    NormalQuantiles(n_quantiles=100)
    >>> make_scaler("z+rank+qlog").names
    ('zscore', 'rank', 'qlog')
    """
    if isinstance(name, str) and "+" in name:
        names = [SHORT.get(part.strip(), part.strip()) for part in name.split("+")]
        parts = [make_scaler(part, **{"n_jobs": None} | params) for part in names]
        if len(set(names)) < len(names):
            raise ParameterError(f"scaling={name!r} names a scaler twice; name each once")
        return Joined(names=tuple(names), parts=parts, **params)
    if name in _REMOVED:
        raise ParameterError(f"scaling={name!r} no longer exists; use scaling={_REMOVED[name]}")
    scaler = SCALERS[check_choice("scaling", SHORT.get(name, name), SCALERS)]
    for param in params:
        check_choice(f"parameter of scaling {name!r}:", param, signature(scaler).parameters)
    return scaler(**params)
