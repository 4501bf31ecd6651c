"""What people give to ``fit``, ``predict`` and ``score``, as data sets: nothing is pooled or guessed without a word.

Documents are compared only inside a query, so a row whose query nobody named is the mistake that no figure shows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import query_numbers
from ordino.callers import needs_qid
from ordino.data.columns import check_features
from ordino.data.dataset import Dataset, split_numbers
from ordino.data.frames import recode
from ordino.data.on_disk import room_on_disk, rows_on_disk, select_on_disk
from ordino.data.shards import ShardedDataset
from ordino.data.source import canonical
from ordino.division import Divided, divided_data
from ordino.errors import DataError, ParameterError

Validation = Dataset | ShardedDataset | tuple[ArrayLike, ArrayLike, Any] | float | None


@contextmanager
def given_data(
    X: ArrayLike | Dataset | ShardedDataset | Divided, y: ArrayLike | None, qid: ArrayLike | Sequence[Any] | None,
    valid: Validation, sample_weight: ArrayLike | None, choose: Callable[[int, Validation], Validation], *,
    by_shard: bool = False,
) -> Iterator[tuple[Any, Any]]:  # fmt: skip
    """What to learn from and what to choose by, in canonical order; features of shards stay on disk meanwhile.

    Shards with a cluster are with its workers; if ``by_shard``, each with one of its own.

    ``choose`` may hold out a share of this many queries where no validation data was given.
    """
    if isinstance(X, Divided):  # inside the training of another ranker
        yield X, valid
        return
    if not isinstance(X, ShardedDataset):
        if isinstance(valid, ShardedDataset):
            raise DataError("valid is in shards but the training data is not; give both in the same way")
        data = as_dataset(X, y, qid, sample_weight)
        yield split_off(data, choose(data.n_queries, valid))
        return
    if y is not None or qid is not None or sample_weight is not None:
        raise DataError("shards have their own labels, queries and weights; leave out y, qid and sample_weight")
    chosen = choose(X.n_queries, valid)
    if X.cluster is not None:
        with divided_data(X, _held_out_elsewhere(X, chosen), by_shard=by_shard) as given:
            yield given
        return
    with room_on_disk() as room:
        if isinstance(chosen, int | float | np.number):
            kept, held_out = _share_numbers(X.n_queries, chosen)
            data = rows_on_disk(X, room)
            yield select_on_disk(data, kept, room), select_on_disk(data, held_out, room)
        else:
            in_shards = chosen if isinstance(chosen, ShardedDataset) else None
            other = as_held_out(chosen, X.n_queries) if in_shards is None else rows_on_disk(in_shards, room)
            yield rows_on_disk(X, room), other


def _held_out_elsewhere(X: ShardedDataset, chosen: Validation) -> Any:
    """Validation data for workers: shards, a data set, or the numbers of the queries to keep and to hold out."""
    if isinstance(chosen, int | float | np.number):
        return _share_numbers(X.n_queries, chosen)
    return chosen if isinstance(chosen, ShardedDataset) else as_held_out(chosen, X.n_queries)


def as_dataset(
    X: ArrayLike | Dataset, y: ArrayLike | None, qid: ArrayLike | Sequence[Any] | None,
    sample_weight: ArrayLike | None = None, *, call: str = "fit",
) -> Dataset:  # fmt: skip
    """X, y and qid as a data set; a data set as itself."""
    if isinstance(X, Dataset):
        if y is not None or qid is not None or sample_weight is not None:
            raise DataError("a Dataset has its own labels, queries and weights; leave out y, qid and sample_weight")
        return X
    if y is None:
        words = f"{call}() requires y to be passed, but the target y is None"  # as scikit-learn says
        raise DataError(f"y is missing: {words}; give one label for each row of X, or a Dataset")
    if qid is None:
        raise DataError(needs_qid(call))
    data = Dataset(X, y, qid)
    return data if sample_weight is None else data.with_weights(_for_documents(sample_weight, data))


def _for_documents(given: ArrayLike, data: Dataset) -> NDArray[Any]:
    """Weights in the order of the rows of the data set; weights of queries are given to each of their documents."""
    weights = np.asarray(given)
    if weights.shape == (data.n_queries,) != (data.n_docs,):
        return weights[query_numbers(data.offsets)]
    if weights.shape != (data.n_docs,):
        raise DataError(
            f"sample_weight has shape {weights.shape}; give {data.n_docs} weights, one for each row, or "
            f"{data.n_queries}, one for each query in the order of their first rows"
        )
    return weights if data.order is None else weights[data.order]


def as_held_out(valid: Any, n_queries: int) -> Dataset | None:
    """Validation data in canonical order, for training data of this many queries."""
    if valid is None:
        return None
    if isinstance(valid, tuple | list):
        if len(valid) not in (2, 3):
            raise DataError(f"valid has {len(valid)} parts; give a Dataset, (X, y, qid), or a share of the queries")
        if n_queries > 1 and (len(valid) == 2 or valid[2] is None):
            raise DataError(
                f"valid has no queries but the training data has {n_queries}; give valid=(X, y, qid), or a Dataset"
            )
        valid = Dataset(*valid)
    elif not isinstance(valid, Dataset):
        raise DataError(f"valid is a {type(valid).__name__}; give a Dataset, (X, y, qid), or a share of the queries")
    return canonical(valid)


def split_off(data: Dataset, valid: Validation) -> tuple[Dataset, Dataset | None]:
    """What to learn from and what to choose by, both in canonical order; a share of the queries is held out here.

    Which queries these are does not depend on the ranker or its seed, so that rankers can be compared.
    """
    if isinstance(valid, int | float | np.number):
        kept, held_out = _share_numbers(data.n_queries, valid)
        ordered = canonical(data)  # so that the order of the queries does not choose
        return ordered.select_queries(kept), ordered.select_queries(held_out)
    return canonical(data), as_held_out(valid, data.n_queries)


def _share_numbers(n_queries: int, valid: float | np.number[Any]) -> list[NDArray[np.intp]]:
    """The numbers of the queries to learn from, and of those that are held out."""
    share = float(valid)
    if not 0 < share < 1:
        raise ParameterError(f"valid={valid!r}; give validation data, or a share of the queries between 0 and 1")
    parts = split_numbers(n_queries, (1 - share,))
    if not all(map(len, parts)):
        raise DataError(f"valid={valid!r} of {n_queries} queries leaves a part empty; give validation data")
    return parts


def as_documents(X: ArrayLike | Dataset, qid: ArrayLike | Sequence[Any] | None, ranker: Any) -> Dataset:
    """Documents for a fitted ranker to score, as a data set with the features that its ``fit`` saw."""
    who, categories = type(ranker).__name__, getattr(ranker, "categories_in_", {})
    if isinstance(X, Dataset):
        data = X
    else:
        rows: Any = X if hasattr(X, "shape") else np.asarray(X)
        known = categories if hasattr(X, "columns") else {}
        data = Dataset(rows, np.zeros(rows.shape[:1] or 1), qid, categories=known)
        longest = getattr(ranker, "longest_query_in_", data.n_docs)  # older model files do not say
        if qid is None and data.n_docs > longest and ranker.scaler_ is not None and ranker.scaler_.by_query:
            raise DataError(
                f"{data.n_docs} rows without qid are one list, but the longest in fit had {longest}, and "
                f"{who} scales inside each query; pass qid=..., or a Dataset if it is one list"
            )
    check_features(data, ranker.n_features_in_, getattr(ranker, "feature_names_in_", None), who)
    return recode(data, categories)
