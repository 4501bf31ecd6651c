"""scikit-learn's own checks over all rankers, with the few that cannot hold for ranking, each with its reason.

scikit-learn's checks know no queries, so all rows are one list here. A check that is expected to fail and does not is a
failure too.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from rankers.test_contract import quick

SLOW = (
    "kernel-ranknet", "lambdarank", "directranker", "sortnet", "gp-rank", "rank-aggregation", "nested-ranker",
)  # fmt: skip
"""Rankers whose checks take more than a second: they are marked slow."""

MORE_THAN_A_LIST = {"auto": "AutoRanker learns by folds of queries, and scikit-learn's checks have only one list"}
"""Rankers that cannot be checked so, with the reason."""

WEIGHTS = (
    "a document counts in pairs and lists together with others: one of weight 2 is not two of them, nor is one of "
    "weight 0 left out of the list; rankers without weights say so in a warning"
)
WHOLE_QUERY = "the ranker looks at all documents of a query, by sorting, scaling inside it or combining orders"
NO_CLASSIFIER = "scikit-learn takes whoever has predict_proba for a classifier; McRank gives probabilities of levels"
BY_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
EVEN_BY_WEIGHTS = ("linear-regression-ranker", "rank-svm", "single-feature", "random-ranker", "rank-fusion")
LOOKING_AT_ALL = (
    "ranknet", "kernel-ranknet", "lambdarank", "listnet", "listmle", "rankcosine", "rankprop", "scorer", "directranker",
    "sortnet", "deepnet", "dense-comparator", "rankde", "swarm-rank", "gp-rank", "es-rank", "iesr-rank", "iesvm-rank",
    "cma-rank", "nested-ranker", "rank-aggregation", "rank-fusion",
)  # fmt: skip


def expected_failures(name: str) -> dict[str, str]:
    """The checks that cannot hold for a ranker, with the reason."""
    found = {} if name in EVEN_BY_WEIGHTS else dict.fromkeys(BY_WEIGHTS, WEIGHTS)
    if name in LOOKING_AT_ALL:
        found["check_methods_subset_invariance"] = WHOLE_QUERY
    if name == "mc-rank":
        found |= dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), NO_CLASSIFIER)
    return found


def one_list_class(cls: type[Ranker]) -> type[Ranker]:
    """The same ranker, whose rows are one list where nobody names queries, as scikit-learn's checks never do."""

    def one(X, qid):
        return np.zeros(np.shape(X if hasattr(X, "shape") else np.asarray(X))[0], int) if qid is None else qid

    def fit(self, X, y=None, *, qid=None, valid=None, sample_weight=None):
        return cls.fit(self, X, y, qid=one(X, qid), valid=valid, sample_weight=sample_weight)

    def score(self, X, y=None, *, qid=None):
        return cls.score(self, X, y, qid=one(X, qid))

    return type(cls.__name__, (cls,), {"fit": fit, "score": score, "__module__": __name__})


# under the names of their rankers, so that they can be pickled
globals().update({entry.cls: one_list_class(ranker_class(name)) for name, entry in RANKERS.items()})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in RANKERS
        if name not in MORE_THAN_A_LIST
    ],
)
def test_scikit_learns_checks(name):
    given = quick(name)
    if name == "linear-regression-ranker":
        given.set_params(scaling=None)  # else a row of weight 0 would still count in the means of its query
    ranker = globals()[type(given).__name__](**given.get_params(deep=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(ranker, expected_failed_checks=expected_failures(name), on_fail=None, on_skip=None)
    failed = {one["check_name"]: str(one["exception"])[:300] for one in found if one["status"] == "failed"}
    assert not failed
    assert len(found) > 40
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(expected_failures(name))


def test_every_reason_is_about_a_ranker_of_the_table():
    assert {*SLOW, *EVEN_BY_WEIGHTS, *LOOKING_AT_ALL, *MORE_THAN_A_LIST} <= set(RANKERS)


def table_of_failures():
    """The rows of docs/scikit-learn.md: which checks do not hold, of which rankers, and why."""
    checked = [name for name in RANKERS if name not in MORE_THAN_A_LIST]
    found = {}
    for name in checked:
        for check, reason in expected_failures(name).items():
            found.setdefault(reason, {}).setdefault(check, []).append(name)
    rows = [("all", names_of([name]), reason) for name, reason in MORE_THAN_A_LIST.items()]
    for reason, of_checks in found.items():
        rankers = next(iter(of_checks.values()))
        others = [name for name in checked if name not in rankers]
        told = names_of(rankers) if len(rankers) <= len(others) else f"all but {names_of(others)}"
        rows.append((names_of(of_checks), told, reason))
    return "".join(f"| {' | '.join(row)} |\n" for row in [("check", "of", "why"), ["---"] * 3, *rows])


def names_of(names):
    return ", ".join(f"`{name}`" for name in names)


def test_the_page_tells_every_failure():
    page = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text(encoding="utf-8")
    table = table_of_failures()
    assert table in page, f"the table of failures in docs/scikit-learn.md is to be:\n{table}"
