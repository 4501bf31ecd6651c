"""Score files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.data.scores import read_scores, write_scores
from ordino.errors import DataError


def test_last_column_of_a_line_is_the_score(tmp_path):
    file = tmp_path / "scores.txt"
    file.write_text("# made by hand\n1\t0\t0.25\n\n1\t1\t-3\n")
    assert read_scores(file, n_docs=2).tolist() == [0.25, -3.0]


@given(st.lists(st.floats(allow_nan=False)))
def test_what_is_written_is_read_back(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("scores") / "scores.txt"
    write_scores(np.array(values, dtype=float), file)
    assert read_scores(file).tolist() == values


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.5\nhigh\n", ":2: 'high' is not a number; write one score a line"),
        ("nan\n", ":1: NaN cannot be ranked; write a number"),
        ("0.5\n", ": 1 scores for 2 documents; write one line for each document"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "scores.txt"
    file.write_text(text)
    with pytest.raises(DataError) as error:
        read_scores(file, n_docs=2)
    assert str(error.value) == f"{file}{sentence}"
