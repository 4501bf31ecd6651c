"""A step of pairs is a function of what its arrays hold: not of where they lie, nor of what was left in the room."""

import numpy as np
import pytest

from ordino.networks.first_kernels import LANES
from ordino.networks.pair_kernels import make_chunk
from places import memory_for, placed

N_PAIRS = 900
HIDDEN = {"shallow": (16,), "deep": (16, 8)}
PLACES = 150


def filled(hidden, sides):
    """What the kernel is given; the room is as a new one."""
    rng = np.random.default_rng(0)
    widths = np.array([*hidden, 2])
    n_neurons, n_weights = widths.sum(), (widths[:-1] * widths[1:]).sum()
    first = rng.normal(size=(2, hidden[0] // sides, -(-N_PAIRS // LANES) * LANES + 16)).astype(np.float32)
    first[:, :, N_PAIRS:] = 0
    room = np.zeros((3, n_neurons, LANES), np.float32)
    room[2] = 1
    arrays = {
        "first": first,
        "target": rng.choice([0.0, 0.5, 1.0], N_PAIRS),
        "biases": rng.normal(0, 0.1, n_neurons).astype(np.float32),
        "weights": rng.normal(0, 0.3, n_weights).astype(np.float32),
        "dropout": np.array([123456789, 987654321, 2**30], np.uint32),
        "room": room,
        "lanes": np.zeros(LANES, np.uint32),
        "slopes": np.zeros(n_neurons + n_weights, np.float32),
    }
    return arrays, widths


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("depth", HIDDEN)
def test_a_step_has_the_same_bits_wherever_its_arrays_lie(depth, sides):
    rng, (arrays, widths) = np.random.default_rng(1), filled(HIDDEN[depth], sides)
    kernel, memory = make_chunk("tanh", "ranknet", depth == "deep"), memory_for(arrays)
    found = set()
    for number in range(PLACES):
        given = placed(arrays, memory, rng)
        if number % 2:  # what an earlier step leaves behind
            given["room"][:2] = rng.normal(size=given["room"][:2].shape)
            given["lanes"][:] = 7
        error = kernel(
            given["first"], given["target"], given["biases"], given["weights"], widths, sides, given["dropout"], 17,
            np.float32(1 / N_PAIRS), given["room"], given["lanes"], given["slopes"],
        )  # fmt: skip
        found.add((error, given["first"].tobytes(), given["slopes"].tobytes()))
    assert len(found) == 1
