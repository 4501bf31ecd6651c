"""What papers fix, ranker by ranker: ``as_published`` can be fitted, takes changes, and is what the pages print."""

import re
from pathlib import Path

import pytest

from ordino import RankNet
from ordino.errors import ParameterError
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.run.task import brief_params
from ordino.parameters import parameters_of
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data

PAGES = Path(__file__).parents[2] / "docs" / "rankers"
PUBLISHED = [name for name in RANKERS if ranker_class(name).published]
each = pytest.mark.parametrize("name", PUBLISHED)


def printed(name):
    """The column "published" of a ranker's page, as text."""
    rows = re.findall(r"^\| `(\w+)` \| `.*?` \| (?:`(.*?)`)? \| ", (PAGES / f"{name}.md").read_text(), re.MULTILINE)
    return {parameter: setting for parameter, setting in rows if setting}


def test_every_ranker_of_the_papers_has_its_settings():
    of_papers = {"ranknet", "sortnet", "deepnet", "dense-comparator", "nested-ranker", "rank-aggregation"}
    of_papers |= {"directranker", "rankde", "prank", "oap-bpm", "rankprop", "ada-rank", "listnet", "rank-svm"}
    assert of_papers <= set(PUBLISHED)


@each
def test_the_published_ranker_has_the_settings_that_its_page_prints(name):
    cls = ranker_class(name)
    made = cls.as_published().get_params(deep=False)
    assert set(cls.published) <= set(parameters_of(cls))
    assert printed(name) == {parameter: repr(setting) for parameter, setting in cls.published.items()}
    for parameter, setting in cls.published.items():
        if parameter != "ranker":
            assert made[parameter] == setting, parameter
        else:
            assert type(made[parameter]) is ranker_class(setting)
    others = set(made) - set(cls.published)
    assert {parameter: made[parameter] for parameter in others} == {
        parameter: known.default for parameter, known in parameters_of(cls).items() if parameter in others
    }


@each
def test_changes_are_kept(name):
    cls = ranker_class(name)
    known = {"seed": 7, "verbose": True, "n_jobs": 1, "metric": "p@5", "profile": "letor", "rounds": 3}
    changes = {one: value for one, value in known.items() if one in parameters_of(cls)}
    made = cls.as_published(**changes).get_params(deep=False)
    assert changes
    assert {one: made[one] for one in changes} == changes
    with pytest.raises(TypeError):
        cls.published["seed"] = 1


def test_with_one_layer_an_initializer_that_is_asked_for_is_taken():
    made = [RankNet.as_published(**changes).initializer for changes in ({}, {"hidden": ()}, {"hidden": (10,)})]
    assert made[0] == made[2] != made[1] == "uniform"
    assert RankNet.as_published(hidden=(), initializer="glorot").initializer == "glorot"


@each
def test_the_published_ranker_can_be_fitted_and_asked_for_in_a_plan(name):
    made = Entry(ranker=name, preset="published").make({})
    assert repr(made) == repr(ranker_class(name).as_published())
    made.set_params(**brief_params(made))
    data = easy_data(n_queries=6)
    assert made.fit(data, valid=easy_data(n_queries=4, seed=1)).predict(data).shape == (data.n_docs,)
    assert Entry(ranker=name, preset="published").problems() == []


def test_a_ranker_without_published_settings_says_so():
    class Own(Ranker):
        def _fit(self, data, valid): ...

        def _predict(self, data):
            return data.X[:, 0]

    with pytest.raises(ParameterError, match="Own has no published settings; use Own"):
        Own.as_published()
