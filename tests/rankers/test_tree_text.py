"""The text of trees as somebody could have changed it: whatever no LightGBM writes is refused."""

import re

import pytest

from ordino import LambdaMART
from ordino.boosting.model_text import read_trees
from ordino.errors import ModelFileError
from ordino.testing import easy_data

N_FEATURES = easy_data().n_features


@pytest.fixture(scope="module")
def text():
    """Two trees, each of three leaves at least."""
    return LambdaMART(rounds=2, leaves=4, min_leaf=3).fit(easy_data()).form().model


def with_first(text, field, number):
    """The text with another number in the first place of a field of the first tree."""
    return re.sub(rf"^({field}=)\S+", rf"\g<1>{number}", text, count=1, flags=re.MULTILINE)


def test_features_may_be_the_first_and_the_last(text):
    for number in (0, N_FEATURES - 1):
        assert read_trees(with_first(text, "split_feature", number)).trees[0].feature[0] == number


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("split_feature", -1), ("split_feature", N_FEATURES), ("decision_type", -1), ("decision_type", 16),
        ("decision_type", 12), ("left_child", 0), ("left_child", 99), ("left_child", -99), ("right_child", 0),
    ],
)  # fmt: skip
def test_what_makes_no_tree_is_refused(text, field, number):
    with pytest.raises(ModelFileError, match="tree 0: its splits do not make one tree"):
        read_trees(with_first(text, field, number))


@pytest.mark.parametrize(
    ("field", "number", "sentence"),
    [
        ("max_feature_idx", N_FEATURES, "names for"), ("num_tree_per_iteration", 0, "a whole number from 1"),
        ("num_leaves", 0, "a whole number from 1"), ("num_leaves", 2, "where 1 finite ones were expected"),
        ("threshold", "nan", "finite ones were expected"), ("leaf_value", "inf", "finite ones were expected"),
        ("leaf_value", "x", "something that is no number"), ("is_linear", 1, "linear functions in its leaves"),
        ("num_cat", 99, "a whole number from 0"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused(text, field, number, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        read_trees(with_first(text, field, number))
