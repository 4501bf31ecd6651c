"""The k-th smallest values of columns whose rows lie in several places: exact, and no row ever travels.

Single-precision numbers keep their order as whole numbers of 32 bits, so a value at a rank is found by asking 32 times
how many values are at most some number. The answers of all places are added, which rounds nothing: the values are those
of the whole column, however it is divided. All ranks of several columns are asked for together.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Asked = Sequence[Ints]
"""For each of several columns, the numbers that values are compared with."""

SIGN = 0x7FFFFFFF


class SortedColumns(Protocol):
    """Some columns, sorted wherever their rows are."""

    @property
    def counts(self) -> Sequence[int]:
        """How many values, without NaN, each column has."""

    def at(self, ranks: Asked) -> list[Floats]:
        """Of each column, the values at these ranks, from 0."""


class Elsewhere(Protocol):
    """Training rows that are not here, as a scaler sees them."""

    @property
    def n_docs(self) -> int:
        """The number of rows."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    @property
    def n_queries(self) -> int:
        """The number of queries."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if they have any."""

    def sorted_columns(self, columns: slice, filling: Floats | None) -> SortedColumns:
        """Some of the columns, with these values in place of NaN, if they are given."""

    def column_blocks(self) -> list[slice]:
        """Columns that are worth sorting together."""


def as_whole_numbers(values: Floats) -> NDArray[np.int32]:
    """Whole numbers in the order of the values; both zeros are 0.

    Examples
    --------
    >>> as_whole_numbers(np.array([-1.0, -0.0, 0.0, 1e-45, 1.0], np.float32)).tolist()
    [-1065353216, 0, 0, 1, 1065353216]
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.int32)
    return np.where(bits < 0, -(bits & SIGN), bits).astype(np.int32)


def as_values(numbers: Ints) -> Floats:
    """The values of whole numbers.

    Examples
    --------
    >>> as_values(as_whole_numbers(np.array([-2.5, 0.0, 3.0], np.float32)).astype(np.int64)).tolist()
    [-2.5, 0.0, 3.0]
    """
    sizes = np.abs(numbers).astype(np.int32).view(np.float32)
    return np.where(numbers < 0, -sizes, sizes)


def sorted_numbers(column: Floats) -> NDArray[np.int32]:
    """The values of a column without NaN, in their order, as whole numbers."""
    found = as_whole_numbers(column[~np.isnan(column)])
    found.sort()
    return found


def find_ranks(count_at_most: Callable[[Asked], list[Ints]], ranks: Asked) -> list[Floats]:
    """Of each column, the values at these ranks, by what is counted in all places together.

    Examples
    --------
    >>> column = sorted_numbers(np.array([3.0, -1.0, 2.0, np.nan], np.float32))
    >>> count = lambda asked: [np.searchsorted(column, asked[0], side="right")]
    >>> find_ranks(count, [np.array([0, 2])])[0].tolist()
    [-1.0, 3.0]
    """
    low: list[Any] = [np.full(len(one), -SIGN, np.int64) for one in ranks]
    high: list[Any] = [np.full(len(one), SIGN, np.int64) for one in ranks]
    for _ in range(32):
        middle = [(a + b) >> 1 for a, b in zip(low, high, strict=True)]
        for j, found in enumerate(count_at_most(middle)):
            is_enough = found > ranks[j]
            high[j] = np.where(is_enough, middle[j], high[j])
            low[j] = np.where(is_enough, low[j], middle[j] + 1)
    return [as_values(one) for one in high]
