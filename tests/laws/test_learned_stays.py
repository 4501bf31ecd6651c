"""Law: what was learned stays as it is, whatever parameters are set afterwards.

A parameter says how to learn, so a fitted ranker scores alike after ``set_params``, in memory and from a file. The few
that only say how to ask what was learned are named below.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ordino
from goldens.variants import make
from laws.test_parameters import CASES, TEST, TRAIN, VALID, others, settings_of
from ordino import LambdaMART, RankAggregation, RankSVM
from ordino.errors import DataError
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class

ASKING = {
    **{(name, one): "how a comparator is asked" for name in ("sortnet", "deepnet") for one in ("algorithm", "top")},
    **{("dense-comparator", one): "how a comparator is asked" for one in ("algorithm", "top", "asked")},
    **{("rank-fusion", one): "the rule, which learns nothing" for one in ("method", "k")},
    ("random-ranker", "seed"): "scores are its hashes; nothing is learned",
    ("rank-aggregation", "method"): "how the members' rankings are combined",
}
"""Parameters that are heeded when documents are ranked."""

UNSET = {"seed": [7], "metric": ["map"], "plan": [None], "store": ["elsewhere"], "max_score_ms": [1e-9]}
"""Values of parameters whose other values the tables of the effects do not say."""


def values(name: str, parameter: str) -> list[object]:
    return UNSET.get(parameter) or others(name, parameter, parameters_of(ranker_class(name))[parameter])


@pytest.mark.parametrize("name", RANKERS)
def test_no_parameter_changes_what_was_learned(name: str, tmp_path: Path) -> None:
    for _, parameter in (case for case in CASES if case[0] == name and case not in ASKING):
        ranker = make(name, settings_of(name, parameter)).fit(TRAIN, valid=VALID)
        before, was = ranker.predict(TEST), ranker.get_params(deep=False)[parameter]
        for value in values(name, parameter):
            ranker.set_params(**{parameter: value})
            np.testing.assert_array_equal(ranker.predict(TEST), before, f"{parameter}={value!r}")
            ordino.save(ranker, tmp_path / "model")
            np.testing.assert_array_equal(
                ordino.load(tmp_path / "model").predict(TEST), before, f"{parameter}={value!r}"
            )
            ranker.set_params(**{parameter: was})


@pytest.mark.parametrize("settings", [{"output": "tanh"}, {"loss": "ranknet"}, {"loss": "lambdarank"}], ids=str)
def test_nor_how_a_difference_is_read(settings: dict[str, str]) -> None:
    ranker = make("directranker", {"scaling": None, **settings}).fit(TRAIN)
    before = ranker.preference(TEST.X[:5], TEST.X[5:10])
    ranker.set_params(output="softsign", loss="directranker")
    np.testing.assert_array_equal(ranker.preference(TEST.X[:5], TEST.X[5:10]), before)


def test_nor_whether_missing_values_are_filled_in() -> None:
    holes = TRAIN.X.copy()
    holes[::7, 0] = np.nan
    data = TRAIN.replace(X=holes)
    ranker = make("rank-svm", {"missing": "median"}).fit(data)
    before = ranker.predict(data)
    np.testing.assert_array_equal(ranker.set_params(missing=None).predict(data), before)
    whole = make("rank-svm", {}).fit(TRAIN).set_params(missing="median")
    with pytest.raises(DataError, match="RankSVM cannot use"):
        whole.predict(data)


def test_nor_do_members_set_afterwards() -> None:
    """A combined ranker takes missing values if those that learned do."""
    holes = TRAIN.X.copy()
    holes[::7, 0] = np.nan
    data = TRAIN.replace(X=holes)
    ranker = RankAggregation([RankSVM(missing="median"), LambdaMART(rounds=2)]).fit(data)
    before = ranker.predict(data)
    assert np.isfinite(before).all()
    np.testing.assert_array_equal(ranker.set_params(ranker="rank-svm").predict(data), before)
    whole = RankAggregation([RankSVM()]).fit(TRAIN).set_params(ranker=[RankSVM(missing="median")])
    with pytest.raises(DataError, match="RankAggregation cannot use"):
        whole.predict(data)
