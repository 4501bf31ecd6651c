"""Optimizers: plain gradient descent, Adam and AdamW, in place on the one vector of a network's weights.

The penalty ``l2`` is on the weights alone: ``is_weight`` has a 1 for each of them and a 0 for each bias.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Step = Callable[[Floats, Floats, float], None]  # moves weights against their slopes by a rate; may change the slopes


def descent(is_weight: Floats, l2: float) -> Step:
    """Plain gradient descent: w <- w - rate * slope, with the slope l2 * w of the penalty added."""
    room, penalty = np.empty_like(is_weight), np.float32(l2) * is_weight

    def step(theta: Floats, slopes: Floats, rate: float) -> None:
        if l2:
            slopes += np.multiply(theta, penalty, out=room)
        theta -= np.multiply(slopes, np.float32(rate), out=room)

    return step


def adam(is_weight: Floats, l2: float, *, decoupled: bool = False) -> Step:
    """Adam; if decoupled, l2 is a decay of the weights beside the slopes (AdamW), not a part of them."""
    mean, square, room = np.zeros((3, len(is_weight)), np.float32)
    penalty = np.float32(l2) * is_weight
    n_steps = 0

    def step(theta: Floats, slopes: Floats, rate: float) -> None:
        nonlocal n_steps
        n_steps += 1
        if l2:
            np.multiply(theta, penalty, out=room)
            if decoupled:
                np.multiply(room, np.float32(rate), out=room)
                np.subtract(theta, room, out=theta)
            else:
                np.add(slopes, room, out=slopes)
        np.subtract(slopes, mean, out=room)
        np.multiply(room, np.float32(0.1), out=room)
        np.add(mean, room, out=mean)  # mean <- 0.9 mean + 0.1 slopes
        np.multiply(slopes, slopes, out=room)
        np.subtract(room, square, out=room)
        np.multiply(room, np.float32(0.001), out=room)
        np.add(square, room, out=square)  # square <- 0.999 square + 0.001 slopes^2
        np.sqrt(square, out=room)
        np.multiply(room, np.float32((1 - 0.999**n_steps) ** -0.5), out=room)
        np.add(room, np.float32(1e-8), out=room)
        np.divide(mean, room, out=room)
        np.multiply(room, np.float32(rate / (1 - 0.9**n_steps)), out=room)
        np.subtract(theta, room, out=theta)

    return step


OPTIMIZERS: Mapping[str, Callable[[Floats, float], Step]] = MappingProxyType(
    {"adamw": partial(adam, decoupled=True), "adam": adam, "descent": descent}
)
"""Optimizers by name: each makes, from ``is_weight`` and l2, the function that takes a step."""
