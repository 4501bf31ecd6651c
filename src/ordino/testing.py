"""The contract of a ranker as checks that anyone can run.

``check_ranker(MyRanker())`` checks everything that Ordino expects of a ranker, built in or your own. ``CHECKS`` has the
single checks by name, for use as test parameters.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import DataError, NothingToLearnWarning
from ordino.estimators import NotFittedError, clone
from ordino.metrics import evaluate
from ordino.model_file import load, save
from ordino.ranker import Ranker


def easy_data(n_queries: int = 12, n_docs: int = 15, seed: int = 0) -> Dataset:
    """Queries whose labels 0 to 2 follow a weighted sum of four features in [0, 1], with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 4)).astype(np.float32)
    hidden = X @ np.array([3.0, 1.0, 0.0, -1.0]) + rng.normal(0, 0.1, len(X))
    y = np.digitize(hidden, np.quantile(hidden, [0.6, 0.85])).astype(float)
    return Dataset(X, y, np.repeat(np.arange(n_queries), n_docs))


def check_ranker(ranker: Ranker, *, least_ndcg: float = 0.8) -> None:
    """Run every check on a ranker; the first that fails raises AssertionError with a sentence.

    Parameters
    ----------
    ranker
        An unfitted ranker; every check works on clones of it. Choose parameters that make it quick.
    least_ndcg
        NDCG@10 that it must reach on easy data (a random order has about 0.5).
    """
    for name, check in CHECKS.items():
        if name == "learns_easy_data":
            check_learns_easy_data(ranker, least_ndcg=least_ndcg)
        else:
            check(ranker)


def check_fit_returns_self(ranker: Ranker) -> None:
    """``fit`` gives the ranker back, from arrays and from a data set."""
    data = easy_data()
    fresh = clone(ranker)
    _expect(fresh.fit(data) is fresh, "fit(dataset) must return self")
    _expect(fresh.fit(data.X, data.y, qid=data.qid) is fresh, "fit(X, y, qid=...) must return self")


def check_parameters_untouched(ranker: Ranker) -> None:
    """``fit`` leaves the parameters as the user set them."""
    fresh = clone(ranker)
    before = {name: repr(value) for name, value in fresh.get_params().items()}
    fresh.fit(easy_data())
    after = {name: repr(value) for name, value in fresh.get_params().items()}
    _expect(before == after, "fit() must not change parameters; keep what is learned in attributes that end in _")


def check_refit_forgets(ranker: Ranker) -> None:
    """A second ``fit`` gives what a first one would."""
    data, other = easy_data(), easy_data(seed=1)
    twice = clone(ranker).fit(other).fit(data)
    _expect(
        np.array_equal(twice.predict(data), _on_easy_data(ranker).predict(data)), "fit() must forget an earlier fit()"
    )


def check_unfitted_says_so(ranker: Ranker) -> None:
    """Using a ranker before ``fit`` is refused with scikit-learn's own error."""
    for use in ("predict", "rank", "score"):
        _refused(partial(getattr(clone(ranker), use), easy_data()), f"{use}() before fit()", NotFittedError)


def check_queries_kept_apart(ranker: Ranker) -> None:
    """A query is ranked the same alone and among others."""
    data = easy_data()
    fitted = _on_easy_data(ranker)
    together = fitted.predict(data)
    for q in (0, data.n_queries - 1):
        start, stop = data.offsets[q], data.offsets[q + 1]
        alone = fitted.predict(data[q].X)
        _expect(
            np.array_equal(_order(alone), _order(together[start:stop])),
            "the order inside a query must not depend on other queries",
        )


def check_labels_ignored_in_predict(ranker: Ranker) -> None:
    """``predict`` does not look at labels."""
    data = easy_data()
    fitted = _on_easy_data(ranker)
    blind = Dataset(data.X, np.zeros(data.n_docs), data.qid)
    _expect(np.array_equal(fitted.predict(data), fitted.predict(blind)), "predict() must not look at the labels")


def check_same_seed_same_result(ranker: Ranker) -> None:
    """The same seed gives the same scores, on one thread and on two."""
    data = easy_data()
    first = _on_easy_data(ranker).predict(data)
    _expect(np.array_equal(first, clone(ranker).fit(data).predict(data)), "the same seed must give the same scores")
    if "n_jobs" in ranker.get_params():
        for n_jobs in (1, 2):
            again = clone(ranker).set_params(n_jobs=n_jobs).fit(data).predict(data)
            _expect(np.array_equal(first, again), f"n_jobs={n_jobs} must not change the scores")


def check_no_global_random_state(ranker: Ranker) -> None:
    """The global random state of numpy and Python is neither read nor changed."""
    import random

    data = easy_data()
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        outcomes = []
        for seed in (0, 1):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
            outcomes.append(clone(ranker).fit(data).predict(data))
            after = random.getstate(), str(np.random.get_state())  # noqa: NPY002
            _expect(before == after, "fit() and predict() must not change global random state")
        _expect(np.array_equal(*outcomes), "fit() must not read global random state; take a seed")
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)  # noqa: NPY002


def check_row_order_is_free(ranker: Ranker) -> None:
    """Rows shuffled inside queries, queries reordered, rows scattered: the same scores for the same documents."""
    data = easy_data()
    expected = _on_easy_data(ranker).predict(data)
    rng = np.random.default_rng(3)
    inside_queries = np.lexsort((rng.random(data.n_docs), data.query_number))
    for rows in (inside_queries, np.arange(data.n_docs)[::-1], rng.permutation(data.n_docs)):
        shuffled = clone(ranker).fit(data.X[rows], data.y[rows], qid=data.qid[rows])
        _expect(
            np.array_equal(shuffled.predict(data), expected), "the order of the rows must not change what is learned"
        )
        moved = shuffled.predict(data.X[rows], qid=data.qid[rows])
        _expect(_close(moved, expected[rows]), "predict() must give scores in the order of its rows")


def check_hard_data(ranker: Ranker) -> None:
    """One-document queries, equal labels, constant features, labels to 100 and fractions are met without complaint."""
    data = easy_data()
    X = np.column_stack((data.X, np.full(data.n_docs, 7.0))).astype(np.float32)  # a constant feature
    qid = data.qid.copy()
    qid[0] = -1  # a query of one document
    equal = np.where(qid == 3, 1.0, data.y)  # a query whose labels are all equal
    for y in (equal, equal * 50, equal / 3):
        scores = clone(ranker).fit(X, y, qid=qid).predict(X, qid=qid)
        _expect(scores.shape == (len(X),), "predict() must give one score for each row")
        _expect(bool(np.isfinite(scores).all()), "scores must be finite")
    with warnings.catch_warnings():  # nothing to learn from at all, which fit says
        warnings.filterwarnings("ignore", category=NothingToLearnWarning)
        flat = clone(ranker).fit(X, np.ones(len(X)), qid=qid).predict(X, qid=qid)
    _expect(bool(np.isfinite(flat).all()), "scores must be finite when all labels are equal")


def check_bad_data_is_refused(ranker: Ranker) -> None:
    """NaN (unless the ranker allows it), wrong feature counts and pooled queries are refused with a sentence."""
    data = easy_data()
    broken = data.X.copy()
    broken[3, 1] = np.nan
    if ranker.allows_nan:
        clone(ranker).fit(broken, data.y, qid=data.qid).predict(broken, qid=data.qid)
    else:
        _refused(lambda: clone(ranker).fit(broken, data.y, qid=data.qid), "NaN in fit()")
    fitted = _on_easy_data(ranker)
    _refused(lambda: fitted.predict(data.X[:, :2]), "too few features in predict()")
    _refused(lambda: fitted.score(data.X, data.y), "score() without qid after fit() with many queries")
    _refused(lambda: clone(ranker).fit(data.X, data.y), "fit() without qid")
    _refused(lambda: clone(ranker).fit(data.X[:0], data.y[:0], qid=[]), "fit() without a document")


def check_rank_agrees_with_predict(ranker: Ranker) -> None:
    """``rank`` is the order of ``predict``, query after query."""
    data = easy_data()
    fitted = _on_easy_data(ranker)
    scores, order = fitted.predict(data), fitted.rank(data)
    expected = np.lexsort((-scores, data.query_number))
    _expect(np.array_equal(order, expected), "rank() must give each query's rows by falling score")


def check_saved_and_loaded(ranker: Ranker) -> None:
    """A fitted ranker written to a file and read again gives the same scores, and has the same parameters."""
    data = easy_data()
    fitted = _on_easy_data(ranker)
    with TemporaryDirectory() as folder:
        save(fitted, Path(folder, "model.ordino"))
        given = {name: getattr(fitted, name) for name in fitted.unsaved}
        again = load(Path(folder, "model.ordino"), rankers=[type(ranker)], **given)
    before, after = (repr(one.get_params(deep=False)) for one in (fitted, again))
    _expect(before == after, "load() must give the parameters")
    _expect(np.array_equal(again.predict(data), fitted.predict(data)), "load() must give a ranker with the same scores")


def check_learns_easy_data(ranker: Ranker, *, least_ndcg: float = 0.8) -> None:
    """NDCG@10 on queries of the same kind that were not learned from."""
    data, unseen = easy_data(n_queries=24), easy_data(n_queries=12, seed=5)
    fitted = clone(ranker).fit(data)
    reached = evaluate(unseen, fitted.predict(unseen), metrics=["ndcg@10"])["ndcg@10"]
    _expect(reached >= least_ndcg, f"NDCG@10 on easy data is {reached:.3f}; {least_ndcg} or more was expected")


CHECKS: Mapping[str, Callable[[Ranker], None]] = MappingProxyType(
    {
        name.removeprefix("check_"): check
        for name, check in list(globals().items())
        if name.startswith("check_") and check is not check_ranker
    }
)
"""Every check of this file by its name, in the order above."""


_FITTED: WeakKeyDictionary[Ranker, tuple[str, Ranker]] = WeakKeyDictionary()


def _on_easy_data(ranker: Ranker) -> Ranker:
    """The ranker fitted on easy data: once, for all checks that change nothing in it."""
    settings = repr(ranker.get_params())
    if _FITTED.get(ranker, ("", ranker))[0] != settings:
        _FITTED[ranker] = settings, clone(ranker).fit(easy_data())
    return _FITTED[ranker][1]


def _expect(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def _refused(action: Callable[[], Any], what: str, error: type[Exception] = DataError) -> None:
    try:
        action()
    except error:
        return
    raise AssertionError(f"{what} must raise {error.__name__}")


def _close(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Equal but for single precision: a matrix product rounds differently in different places of the matrix."""
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-5 * float(np.ptp(b) or 1)))


def _order(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")
