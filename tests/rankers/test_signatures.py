"""Signatures tell the truth: one list of parameters makes the signature, help, errors, conversion and search space."""

import inspect

import pytest
from sklearn.base import clone

from ordino import Dataset
from ordino.errors import ParameterError
from ordino.parameters import Choices, Range, parameters_of
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_lists_its_own_parameters(name):
    cls = ranker_class(name)
    signature = inspect.signature(cls)
    assert all(one.kind is not one.VAR_KEYWORD for one in signature.parameters.values())
    assert list(signature.parameters) == list(parameters_of(cls))
    assert set(cls().get_params(deep=False)) == set(signature.parameters)
    assert "_get_param_names" not in vars(Ranker)


@pytest.mark.parametrize("name", RANKERS)
def test_every_parameter_is_explained_once_and_help_shows_it(name):
    cls = ranker_class(name)
    text = inspect.getdoc(cls)
    assert text.count("Parameters\n----------") == 1
    for parameter, known in parameters_of(cls).items():
        assert len(known.text) > 10, parameter
        assert known.text.endswith("."), parameter
        assert f"\n{parameter}\n    {known.text.split()[0]}" in text


@pytest.mark.parametrize("name", RANKERS)
def test_repr_shows_what_was_changed(name):
    cls = ranker_class(name)
    assert repr(cls()) == f"{cls.__name__}()"
    numbers = [one for one, known in parameters_of(cls).items() if known.low is not None and known.kinds == {"int"}]
    for parameter in numbers[:1]:
        assert repr(cls(**{parameter: 7})) == f"{cls.__name__}({parameter}=7)"
    assert repr(clone(cls())) == repr(cls())


@pytest.mark.parametrize("name", RANKERS)
def test_an_unknown_name_gets_the_nearest(name):
    cls = ranker_class(name)
    known = next(iter(parameters_of(cls)))
    for attempt in (lambda: cls(**{known + "x": 3}), lambda: cls().set_params(**{known + "x": 3})):
        with pytest.raises(ParameterError) as error:
            attempt()
        assert cls.__name__ in str(error.value)
        assert len(known) < 4 or f"did you mean {known!r}?" in str(error.value)


@pytest.mark.parametrize("name", RANKERS)
def test_an_old_name_is_refused_with_the_new_one(name):
    cls = ranker_class(name)
    for old, new in cls.renamed.items():
        with pytest.raises(ParameterError, match=f"{old} of {cls.__name__} is now called '{new}'"):
            cls(**{old: 1})
        assert new in parameters_of(cls)


@pytest.mark.parametrize("name", RANKERS)
def test_defaults_spaces_and_brief_values_are_allowed(name):
    for parameter, known in parameters_of(ranker_class(name)).items():
        known.verify(parameter, known.default)
        if known.brief is not None:
            known.verify(parameter, known.brief)
        match known.space:
            case Range(low, high):
                known.verify(parameter, low)
                known.verify(parameter, high)
            case Choices(values):
                for value in values:
                    known.verify(parameter, value)


@pytest.mark.parametrize("name", RANKERS)
def test_wrong_values_are_refused_in_a_sentence(name):
    cls = ranker_class(name)
    for parameter, known in parameters_of(cls).items():
        if known.low is not None or known.above is not None:
            low = known.low if known.above is None else known.above
            wrong = low - 1 if known.above is None else low
            with pytest.raises(ParameterError, match=f"{parameter}="):
                cls(**{parameter: wrong}).fit(easy_data())
        if known.high is not None:
            known.verify(parameter, known.high)
            with pytest.raises(ParameterError, match=f"{parameter}="):
                cls(**{parameter: known.high + 1}).fit(easy_data())
        if known.choices:
            with pytest.raises(ParameterError, match=r"did you mean|choose from"):
                cls(**{parameter: "no such name"}).fit(easy_data())


def test_a_subclass_of_a_user_keeps_its_parameters():
    class Mine(ranker_class("rank-svm").__mro__[1]):
        strength: float = 2.0

        def _fit(self, data, valid):
            self.coef_ = [self.strength] * data.n_features

    assert repr(Mine(strength=3.0)) == "Mine(strength=3.0)"
    assert clone(Mine(strength=3.0)).strength == 3.0
    assert Mine().set_params(strength=1.0).get_params() == {"strength": 1.0}


def test_a_ranker_may_write_its_own_init():
    class Plain(Ranker):
        def __init__(self, *, sign=1):
            self.sign = sign

        def _fit(self, data, valid):
            pass

        def _predict(self, data):
            return self.sign * data.X[:, 0].astype(float)

    class Plainer(Plain):
        pass

    assert repr(Plain(sign=-1)) == "Plain(sign=-1)"
    assert repr(Plainer(sign=-1)) == "Plainer(sign=-1)"
    assert Plain(sign=-1).fit(Dataset([[1.0], [2.0]], [0, 1])).rank([[1.0], [2.0]]).tolist() == [0, 1]
