"""Seeds that lead to others: every repeat, iteration, member and bag draws from a stream of its own.

A part's seed is spawned from the whole's by what the part is, never made by adding a number: seed + 1 of one part would
be the seed of another.
"""

from zlib import crc32

import numpy as np


def spawned(seed: int, *path: str | int) -> np.random.SeedSequence:
    """The seed of a part, such as ``spawned(seed, "member", 3)``; no two paths lead to the same."""
    keys = tuple(crc32(step.encode()) if isinstance(step, str) else step for step in path)
    return np.random.SeedSequence(seed, spawn_key=keys)


def stream(seed: int, *path: str | int) -> np.random.Generator:
    """The random numbers of a part."""
    return np.random.default_rng(spawned(seed, *path))


def spawn_seed(seed: int, *path: str | int) -> int:
    """The seed of a part as a number below 2**31, for what takes a number.

    Examples
    --------
    >>> spawn_seed(0, "member", 1) == spawn_seed(0, "member", 1)
    True
    >>> spawn_seed(0, "member", 1) == spawn_seed(1, "member", 0)
    False
    """
    return int(spawned(seed, *path).generate_state(1)[0]) >> 1
