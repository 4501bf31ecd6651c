"""Every kernel that is compiled so that its sums may be taken in another order gives the same bits wherever arrays lie.

Losses and rankers run on small data while each of their first kernel calls is made again and again, at many places.
"""

from pathlib import Path

import numpy as np
import pytest

import ordino
from ordino import Dataset
from ordino.compiled import njit
from ordino.losses import LOSSES, make_loss
from ordino.rankers import ranker_class
from places import tried_everywhere

RNG = np.random.default_rng(0)
COUNTS = (150, 3, 70, 37, 16, 120)
OFFSETS = np.append(0, np.cumsum(COUNTS))
Y = RNG.integers(0, 4, OFFSETS[-1]).astype(float)
SCORES = RNG.normal(size=(2, OFFSETS[-1]))
WEIGHTS = RNG.choice([0.5, 1.0, 2.0], OFFSETS[-1])
DATA = Dataset(RNG.normal(size=(OFFSETS[-1], 37)), Y, np.repeat(np.arange(len(COUNTS)), COUNTS))

UNCERTAIN = {"target": 0.9, "ties": True}
VARIANTS = [
    *((name, {}) for name in LOSSES),
    *((name, UNCERTAIN) for name in ("ranknet", "fidelity", "squared", "absolute")),
    ("directranker", {"activation": "tanh"}),
]
FITS = {
    "rank-svm": [{"loss": "hinge"}, {"loss": "squared-hinge"}],
    "prank": [{}],
    "rank-de": [{"generations": 2, "population": 8}],
    "deepnet": [
        {"epochs": 2, "n_pairs": 900},
        {"epochs": 2, "n_pairs": 900, "hidden": (8, 4)},
        {"epochs": 1, "n_pairs": 900, "initializer": "autoencoders", "pretraining": 1},
    ],
    "dense-comparator": [{"epochs": 2, "n_pairs": 900, "input_dropout": 0.2}],
    "sortnet": [{"max_iter": 1, "epochs": 2, "algorithm": "merge"}],
    "ranknet": [{"epochs": 2, "dropout": 0.2}],
}
REORDERING = {
    "losses/list_kernels.py", "losses/pair_kernels.py", "networks/coder_kernels.py", "networks/first_kernels.py",
    "networks/pair_kernels.py", "networks/perceptron_kernels.py", "svm/kernels.py",
}  # fmt: skip


@pytest.mark.parametrize(("name", "parameters"), VARIANTS, ids=str)
def test_losses(name, parameters):
    loss = make_loss(name, **parameters)
    with tried_everywhere() as seen:
        loss.value_and_gradient(SCORES, Y, OFFSETS)
        loss.value_and_gradient(SCORES, Y, OFFSETS, weights=WEIGHTS)
        loss.curvature(SCORES, Y, OFFSETS)
    assert seen


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    with tried_everywhere() as seen:
        for parameters in FITS[name]:
            ranker_class(name)(**parameters).fit(DATA).predict(DATA)
    assert seen


def test_a_kernel_that_depends_on_the_place_is_found():
    address = njit()(lambda x: x.ctypes.data % 4096)
    with tried_everywhere(), pytest.raises(AssertionError, match="by where its arrays lie"):
        address(np.zeros(3))


def test_no_other_file_reorders_sums():
    """What is compiled so somewhere else must be tried above."""
    source = Path(ordino.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in source.rglob("*.py") if path.name != "compiled.py"}
    reordering = [path for path, text in texts.items() if "REORDERED" in text or "reassoc" in text]
    assert {path.relative_to(source).as_posix() for path in reordering} == REORDERING
