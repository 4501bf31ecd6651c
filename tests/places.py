"""Copies of arrays in one piece of memory, close together or far apart: what a kernel gives must not depend on that.

Compiled loops check whether arrays could overlap, and take another way through the loop where they lie close together.
If sums may be taken in another order, that way may round otherwise.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

GAPS = (0, 4, 20, 64, 252, 512, 4096)
PLACES = 40
TRIED = 6  # calls of each kernel that are tried at all places

Arrays = Mapping[Any, np.ndarray]


def memory_for(arrays: Arrays) -> np.ndarray:
    """Room for the arrays with gaps between them."""
    return np.zeros(sum(given.nbytes + GAPS[-1] + 64 for given in arrays.values()) + 64 * 64, np.uint8)


def placed(arrays: Arrays, memory: np.ndarray, rng: np.random.Generator) -> dict[Any, np.ndarray]:
    """Copies of the arrays in one piece of memory, in random order, some of them close together."""
    copies, at, names = {}, 64 * int(rng.integers(0, 64)), list(arrays)
    for place in rng.permutation(len(names)):
        given = arrays[names[place]]
        at += int(rng.choice(GAPS))
        at += -at % given.itemsize
        copy = memory[at : at + given.nbytes].view(given.dtype).reshape(given.shape)
        copy[...] = given
        copy.flags.writeable = given.flags.writeable
        copies[names[place]] = copy
        at += given.nbytes
    return copies


@contextmanager
def tried_everywhere() -> Iterator[dict[str, int]]:
    """Let the first calls of every kernel run at many places, and check that all give the same bits.

    What is given counts the kernels by name.
    """
    plain, rng, seen = CPUDispatcher.__call__, np.random.default_rng(0), {}

    def call(kernel: Any, *given: Any) -> Any:
        name = kernel.py_func.__name__
        seen[name] = seen.get(name, 0) + 1
        arrays = {i: one for i, one in enumerate(given) if isinstance(one, np.ndarray) and one.flags.c_contiguous}
        if seen[name] > TRIED or not arrays:
            return plain(kernel, *given)
        memory, found = memory_for(arrays), set()
        for _ in range(PLACES):
            copies = placed(arrays, memory, rng)
            result = plain(kernel, *(copies.get(i, one) for i, one in enumerate(given)))
            found.add((np.asarray(result).tobytes(), *(copies[i].tobytes() for i in arrays)))
        assert len(found) == 1, f"{name} gives {len(found)} different results, by where its arrays lie"
        for i, one in arrays.items():
            if one.tobytes() != copies[i].tobytes():
                one[...] = copies[i]
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CPUDispatcher, "__call__", call)
        yield seen
