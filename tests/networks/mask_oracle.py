"""Which neurons a step drops, written down a second time in numpy."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import numpy as np

from ordino.networks.nets import Net


def mixed(x: np.ndarray) -> np.ndarray:
    """Wellons' lowbias32 of numbers of 32 bits."""
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def next_masks(net: Net[Any], n_rows: int, *, of_pairs: bool) -> list[np.ndarray] | None:
    """By which numbers the next step of a network will multiply its hidden layers: 0 if dropped, else 1 / share kept.

    A network of rows has two keys for each layer, which number their neurons row by row; one of pairs has two keys, and
    the neurons of all layers, the outputs too, are numbered together.
    """
    threshold = net._dropped
    if not threshold:
        return None
    widths, keys = net.sizes[1:-1], copy.deepcopy(net._keys)
    drawn = keys.integers(0, 2**32, (1 if of_pairs else len(widths), 2), np.uint32)
    scale = 2.0**32 / (2.0**32 - int(threshold))

    def kept(width: int, first: int, stride: int, key: np.ndarray) -> np.ndarray:
        counter = (np.arange(n_rows)[:, None] * stride + first + np.arange(width)).astype(np.uint32)
        return np.where(mixed(mixed(counter ^ key[0]) + key[1]) < threshold, 0.0, scale)

    if not of_pairs:
        return [kept(width, 0, width, key) for width, key in zip(widths, drawn, strict=True)]
    starts = np.cumsum([0, *net.sizes[1:]])
    return [kept(stop - start, start, starts[-1], drawn[0]) for start, stop in pairwise(starts[:-1])]
