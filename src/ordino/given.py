"""What people give to ``fit`` and ``score``, as data sets: nothing is pooled, cut or guessed without a word.

Documents are compared only inside a query, so a row whose query nobody named is the mistake that no figure shows.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import query_numbers
from ordino.data.dataset import Dataset, split_numbers
from ordino.data.on_disk import room_on_disk, rows_on_disk, select_on_disk
from ordino.data.shards import ShardedDataset
from ordino.data.source import canonical
from ordino.division import Divided, divided_data
from ordino.errors import DataError, ParameterError
from ordino.plain import count_of

Validation = Dataset | ShardedDataset | tuple[ArrayLike, ArrayLike, Any] | float | None

ROUTING = "in scikit-learn, use sklearn.set_config(enable_metadata_routing=True) and params={'qid': qid}"

_QID = "qid=..., the query of each row"
_VALID = "valid=(X, y, qid), or valid=0.2 to hold out a share of the queries"
FOREIGN_WORDS = {
    "group": f"{_QID}; np.repeat(np.arange(len(group)), group) makes it from group sizes",
    "groups": _QID,
    "group_id": _QID,
    "query_id": _QID,
    "eval_set": _VALID,
    "eval_group": _VALID,
    "eval_qid": _VALID,
    "validation_data": _VALID,
    "X_val": _VALID,
    "early_stopping_rounds": "valid=..., and the ranker's parameter patience if it has one",
    "weight": "sample_weight=..., one for each row or each query",
    "weights": "sample_weight=..., one for each row or each query",
    "group_weight": "sample_weight=..., one for each row or each query",
    "eval_metric": "the ranker's parameter metric, by which valid chooses",
    "eval_at": "the ranker's parameter metric, such as metric='ndcg@10'",
    "callbacks": "valid=..., and the ranker's parameter patience if it has one",
    "feature_name": "a DataFrame as X, whose columns have names",
    "feature_names": "a DataFrame as X, whose columns have names",
    "categorical_feature": "a DataFrame as X, whose categorical columns are categories",
    "cat_features": "a DataFrame as X, whose categorical columns are categories",
    "verbose": "the ranker's parameter verbose",
    "epochs": "the ranker's parameter epochs",
}
"""What people type who know LightGBM, XGBoost, CatBoost or Keras, and what it is here."""


CALLS = {
    "fit": ("X, y, qid, valid and sample_weight; settings are parameters of the ranker", "fit(X, y, qid=qid)"),
    "predict": ("X and qid", "predict(X, qid=qid)"),
    "rank": ("X and qid", "rank(X, qid=qid)"),
    "score": ("X, y, qid and sample_weight", "score(X, y, qid=qid)"),
}
"""What the methods of a ranker take, and how one types it."""


def refuse_words(call: str, unnamed: Sequence[object], words: Iterable[str]) -> None:
    """Refuse arguments of a method that other libraries have, in our words.

    Examples
    --------
    >>> refuse_words("fit", (), ["groups"])
    Traceback (most recent call last):
    ordino.errors.ParameterError: fit() has no argument groups; use qid=..., the query of each row
    >>> refuse_words("predict", ([1, 1, 2],), ())
    Traceback (most recent call last):
    ordino.errors.ParameterError: predict() takes the queries by name; write predict(X, qid=qid)
    """
    known, typed = CALLS[call]
    if unnamed:
        raise ParameterError(f"{call}() takes the queries by name; write {typed}")
    for word in words:
        ours = FOREIGN_WORDS.get(word, "")
        is_ours = bool(ours) and (call == "fit" or ours.startswith(_QID) or (call == "score" and "weight" in word))
        raise ParameterError(f"{call}() has no argument {word}; " + (f"use {ours}" if is_ours else f"it takes {known}"))


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
            other = rows_on_disk(chosen, room) if isinstance(chosen, ShardedDataset) else as_held_out(chosen)
            yield rows_on_disk(X, room), other


def _held_out_elsewhere(X: ShardedDataset, chosen: Validation) -> Any:
    """Validation data for workers: shards, a data set, or the numbers of the queries to keep and to hold out."""
    if isinstance(chosen, int | float | np.number):
        return _share_numbers(X.n_queries, chosen)
    return chosen if isinstance(chosen, ShardedDataset) else as_held_out(chosen)


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
        raise DataError(_needs_qid(call))
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


def as_held_out(valid: Dataset | tuple[ArrayLike, ArrayLike, Any] | None) -> Dataset | None:
    """Validation data in canonical order."""
    return None if valid is None else canonical(valid if isinstance(valid, Dataset) else Dataset(*valid))


def _needs_qid(call: str) -> str:
    return (
        f"{call}() needs qid=..., the query of each row, because documents are compared only inside a query; "
        f"if all rows really are one list, say so with {call}(ordino.Dataset(X, y)); {ROUTING}"
    )


def split_off(data: Dataset, valid: Validation) -> tuple[Dataset, Dataset | None]:
    """What to learn from and what to choose by, both in canonical order; a share of the queries is held out here.

    Which queries these are does not depend on the ranker or its seed, so that rankers can be compared.
    """
    if isinstance(valid, int | float | np.number):
        kept, held_out = _share_numbers(data.n_queries, valid)
        ordered = canonical(data)  # so that the order of the queries does not choose
        return ordered.select_queries(kept), ordered.select_queries(held_out)
    if isinstance(valid, tuple | list):
        if len(valid) not in (2, 3):
            raise DataError(f"valid has {len(valid)} parts; give a Dataset, (X, y, qid), or a share of the queries")
        if data.n_queries > 1 and (len(valid) == 2 or valid[2] is None):
            raise DataError(
                f"valid has no queries but the training data has {data.n_queries}; give valid=(X, y, qid), or a Dataset"
            )
        valid = Dataset(*valid)
    elif valid is not None and not isinstance(valid, Dataset):
        raise DataError(f"valid is a {type(valid).__name__}; give a Dataset, (X, y, qid), or a share of the queries")
    return canonical(data), as_held_out(valid)


def _share_numbers(n_queries: int, valid: float | np.number[Any]) -> list[NDArray[np.intp]]:
    """The numbers of the queries to learn from, and of those that are held out."""
    share = float(valid)
    if not 0 < share < 1:
        raise ParameterError(f"valid={valid!r}; give validation data, or a share of the queries between 0 and 1")
    parts = split_numbers(n_queries, (1 - share,))
    if not all(map(len, parts)):
        raise DataError(f"valid={valid!r} of {n_queries} queries leaves a part empty; give validation data")
    return parts


def check_splitter() -> None:
    """Refuse to learn inside scikit-learn's cross-validation if its splitter cut a query into two parts.

    A ranker sees only its own part of the rows, so what the splitter did is looked up in scikit-learn's calls above.
    """
    calls = {name: found for name, found in _calls_above() if name in _SPLITTING}
    rows = calls.get("_fit_and_score") or calls.get("_fit_and_predict") or {}
    params = rows.get("score_params") or calls.get("cross_val_predict", {}).get("params") or {}
    if (qid := _routed_qid(params)) is not None and rows.get("train") is not None:
        _refuse_cut(qid, rows["train"], rows["test"])


def check_search(ranker: object) -> None:
    """Refuse a search without queries, or one that cuts them, while scikit-learn copies the ranker for a fit.

    A refusal in ``fit`` itself would only be one failed fit of many, whose score is NaN.
    """
    for name, found in _calls_above():
        if name != "<genexpr>" or "train" not in found:
            continue
        searched: Any = found.get("estimator", found.get("base_estimator"))
        routed, shared = found.get("routed_params"), found.get("fit_and_score_kwargs", {})
        params = shared.get("fit_params") if routed is None else routed.estimator.fit or {}
        last = searched.steps[-1][1] if hasattr(searched, "steps") else searched
        if last is not ranker or params is None:  # a ranker inside something else has its queries from there
            return
        if (qid := _routed_qid(params)) is None:
            raise DataError(_needs_qid("fit"))
        _refuse_cut(qid, found["train"], found["test"])
        return


def _routed_qid(params: Mapping[str, Any]) -> Any:
    return next((values for name, values in params.items() if name.rpartition("__")[2] == "qid"), None)


def _refuse_cut(qid: Any, train: Any, test: Any) -> None:
    ids = np.asarray(qid, dtype=object)
    if cut := set(ids[train].tolist()) & set(ids[test].tolist()):
        raise DataError(
            f"the splitter cut {count_of(len(cut), 'query', 'queries')} into a training and a test part; "
            "use cv=ordino.QueryKFold(5), which keeps queries whole"
        )


def check_pipeline(valid: Validation) -> None:
    """Refuse validation data inside a pipeline: the steps before the ranker do not change it.

    It would be measured as raw features by a ranker that learned from changed ones, and nothing would show it.
    """
    caller = sys._getframe(2)
    if valid is None or isinstance(valid, int | float | np.number):
        return
    if caller.f_globals.get("__name__") == "sklearn.pipeline" and len(caller.f_locals["self"].steps) > 1:
        raise DataError(
            "the steps of a pipeline before the ranker do not change validation data; give valid=0.2, a share of the "
            "queries to hold out, or fit the steps first and the ranker with fit(X, y, qid=qid, valid=(X, y, qid))"
        )


def is_in_search() -> bool:
    """Whether scikit-learn or Optuna called: a fit that Ctrl-C cut short must then not count as one of many."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("sklearn.model_selection.", "optuna.")):
            return True
        frame = frame.f_back
    return False


_SEARCHING = ("sklearn.model_selection._validation", "sklearn.model_selection._search")
_SPLITTING = ("_fit_and_score", "_fit_and_predict", "cross_val_predict")


def _calls_above() -> Iterator[tuple[str, dict[str, Any]]]:
    """The names and variables of the calls of scikit-learn's model_selection that led here, the nearest first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__") in _SEARCHING:
            yield frame.f_code.co_name, frame.f_locals
        frame = frame.f_back


def why_nothing_is_learned(data: Dataset | Divided) -> str:
    """What is wrong with data that teaches nothing; an empty text if some query has two different labels."""
    if data.counts.max() == 1 and data.n_docs > 1:
        return f"each of the {data.n_docs} rows is a query of its own, so there is nothing to rank; check qid"
    if isinstance(data, Divided):
        differ = bool(data.pairs.any())
    else:
        differ = bool((data.y[1:] != data.y[:-1])[data.query_number[1:] == data.query_number[:-1]].any())
    return "" if differ else "no query has two different labels, so nothing can be learned; check y and qid"
