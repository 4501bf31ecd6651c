"""Where a call came from: what scikit-learn's searches, splitters and pipelines would do to queries without a word.

A ranker sees only the rows that it is given, so what was done with the others is looked up in the calls above.
"""

import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.plain import count_of

ROUTING = "in scikit-learn, use sklearn.set_config(enable_metadata_routing=True) and params={'qid': qid}"
_SEARCHING = ("sklearn.model_selection._validation", "sklearn.model_selection._search")
_SPLITTING = ("_fit_and_score", "_fit_and_predict", "cross_val_predict")


def needs_qid(call: str) -> str:
    """What to say of a call without queries."""
    return (
        f"{call}() needs qid=..., the query of each row, because documents are compared only inside a query; "
        f"if all rows really are one list, say so with {call}(ordino.Dataset(X, y)); {ROUTING}"
    )


def check_splitter() -> None:
    """Refuse to learn inside scikit-learn's cross-validation if its splitter cut a query into two parts."""
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
            raise DataError(needs_qid("fit"))
        _refuse_cut(qid, found["train"], found["test"])
        return


def _routed_qid(params: Mapping[str, Any]) -> Any:
    return next((values for name, values in params.items() if name.rpartition("__")[2] == "qid"), None)


def _refuse_cut(qid: Any, train: Any, test: Any) -> None:
    ids = np.fromiter(qid, dtype=object)  # an array would take tuples apart
    if cut := set(ids[train].tolist()) & set(ids[test].tolist()):
        raise DataError(
            f"the splitter cut {count_of(len(cut), 'query', 'queries')} into a training and a test part; "
            "use cv=ordino.QueryKFold(5), which keeps queries whole"
        )


def check_pipeline(valid: object) -> None:
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


def _calls_above() -> Iterator[tuple[str, dict[str, Any]]]:
    """The names and variables of the calls of scikit-learn's model_selection that led here, the nearest first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__") in _SEARCHING:
            yield frame.f_code.co_name, frame.f_locals
        frame = frame.f_back
