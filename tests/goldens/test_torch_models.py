"""Model files of networks that learned in torch, as all of them once did, still give the same scores."""

from pathlib import Path

import numpy as np
import pytest

import ordino
from goldens.record import data, file_name
from goldens.test_goldens import agree

FOLDER = Path(__file__).parents[1] / "fixtures" / "models-torch"
SCORES = np.load(FOLDER / "scores.npz")


@pytest.mark.parametrize("variant", SCORES.files)
def test_a_network_that_learned_in_torch_gives_its_scores(variant):
    ranker = ordino.load(FOLDER / file_name(variant))
    assert agree(ranker.predict(data()[2]), SCORES[variant])


def test_every_file_has_its_scores():
    assert {path.name for path in FOLDER.glob("*.ordino")} == {file_name(variant) for variant in SCORES.files}
