"""A booster of LightGBM's and the rows that it learns from or is measured on, in LightGBM's own memory."""

from collections.abc import Callable, Mapping
from ctypes import byref, c_int, c_int64, c_void_p
from typing import Any, final
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.bins_from_disk import OTHERWISE, bins_of
from ordino.boosting.library import FLOAT32, FLOAT64, INT32, call, in_words, text

Floats = NDArray[np.float64]
Gradients = Callable[[Floats, Any], tuple[Floats, Floats]]  # as LightGBM's package calls an objective

FIELDS: Mapping[str, tuple[int, Any]] = {
    "label": (FLOAT32, np.float32), "weight": (FLOAT32, np.float32), "group": (INT32, np.int32),
    "init_score": (FLOAT64, np.float64),
}  # fmt: skip
BY_ROWS = 1
LIMIT = 10_000  # documents of a query that LightGBM's ranking objective and its NDCG accept
ENDING = "\npandas_categorical:null\n"  # with which LightGBM's package ends a model text


@final
class Rows:
    """Documents as bins, with what LightGBM knows of each; held-out ones have the bins of their ``reference``."""

    def __init__(
        self, X: NDArray[np.float32], labels: NDArray[Any], params: Mapping[str, object], *,
        group: NDArray[np.int64] | None = None, weight: Floats | None = None, start: Floats | None = None,
        reference: "Rows | None" = None, from_disk: bool = False,
    ) -> None:  # fmt: skip
        words = in_words(params)
        by_us = from_disk and reference is None and not any(word in words for word in OTHERWISE)
        self.handle = bins_of(X, words) if by_us else _bins(X, words, reference)
        finalize(self, call, "DatasetFree", self.handle)
        self.n_docs = len(X)
        self._set("label", labels)
        if weight is not None and not (weight == 1).all():  # LightGBM would keep them, and multiply
            self._set("weight", weight)
        if group is not None:
            self._set("group", group)
        if start is not None:
            self._set("init_score", start.ravel(order="F"))

    def _set(self, name: str, values: NDArray[Any]) -> None:
        kind, dtype = FIELDS[name]
        given = np.ascontiguousarray(values, dtype)
        call("DatasetSetField", self.handle, name.encode(), given, len(given), kind)


def _bins(X: NDArray[np.float32], params: bytes, reference: Rows | None) -> c_void_p:
    given, handle = np.ascontiguousarray(X, np.float32), c_void_p()
    known = None if reference is None else reference.handle
    call("DatasetCreateFromMat", given, FLOAT32, *given.shape, BY_ROWS, params, known, byref(handle))
    return handle


def _free(booster: c_void_p, rows: list[Rows]) -> None:  # noqa: ARG001
    """Free a booster before its rows, to which LightGBM refers: as long as this is to be called, they are there."""
    call("BoosterFree", booster)


@final
class Booster:
    """Trees that grow round by round; ``valid`` is measured on the way."""

    def __init__(self, params: Mapping[str, object], train: Rows, valid: Rows | None = None) -> None:
        self.handle = c_void_p()
        call("BoosterCreate", train.handle, in_words(params), byref(self.handle))
        self._rows = [train] if valid is None else [train, valid]
        finalize(self, _free, self.handle, self._rows)
        if valid is not None:
            call("BoosterAddValidData", self.handle, valid.handle)
        n_outputs = c_int()
        call("BoosterGetNumClasses", self.handle, byref(n_outputs))
        self._n_outputs = n_outputs.value
        self._is_ready = False  # for gradients of others

    def update(self, gradients: Gradients | None = None) -> bool:
        """One more round, by the objective or by gradients of the outputs; whether nothing more can be learned."""
        is_exhausted = c_int()
        if gradients is None:
            call("BoosterUpdateOneIter", self.handle, byref(is_exhausted))
        else:
            if not self._is_ready:  # as the package does: LightGBM checks once more that it can go without an objective
                call("BoosterResetParameter", self.handle, b"objective=none")
                self._is_ready = True
            slopes = [one.ravel(order="F").astype(np.float32) for one in gradients(self._outputs(0), None)]
            call("BoosterUpdateOneIterCustom", self.handle, *slopes, byref(is_exhausted))
        return is_exhausted.value == 1

    def outputs(self) -> Floats:
        """What the trees say of the held-out documents, kept up to date by LightGBM round by round."""
        return self._outputs(1)

    def _outputs(self, number: int) -> Floats:
        found, length = np.empty(self._rows[number].n_docs * self._n_outputs), c_int64()
        call("BoosterGetPredict", self.handle, number, byref(length), found)
        return found if self._n_outputs == 1 else found.reshape(-1, self._n_outputs, order="F")

    def measured(self) -> float:
        """LightGBM's metric of the held-out documents; there must be one."""
        found, length = np.empty(1), c_int()
        call("BoosterGetEval", self.handle, 1, byref(length), found)
        return float(found[0])

    def text(self, n_rounds: int) -> str:
        """The first rounds as LightGBM's model text."""
        return text("BoosterSaveModelToString", self.handle, 0, n_rounds, 0) + ENDING


def training_groups(counts: NDArray[np.int64], limit: int = LIMIT) -> NDArray[np.int64]:
    """Sizes of the lists to learn from: a query with more documents than LightGBM accepts becomes equal parts.

    Rows come in canonical order, by a hash of what they are, so that the parts are random samples of the query. Only
    training sees them; metrics and predictions are of whole queries.

    Examples
    --------
    >>> training_groups(np.array([3, 25, 10]), limit=10).tolist()
    [3, 9, 8, 8, 10]
    """
    if len(counts) == 0 or counts.max() <= limit:
        return counts
    parts = -(-counts // limit)
    share, rest = np.repeat(counts // parts, parts), np.repeat(counts % parts, parts)
    part = np.arange(len(share)) - np.repeat(np.cumsum(parts) - parts, parts)  # its number inside the query
    return share + (part < rest)
