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
    """By which numbers the next step of a network will multiply its layers: 0 if dropped, else 1 / share kept.

    A network of rows has two keys for each hidden layer, and numbers its neurons from 0 on. One of pairs has two keys;
    the neurons of all layers, the outputs too, are numbered together, and behind them the inputs, whose mask is the
    last of the list. There a dual has the number of its neuron, and a feature the same number in both documents.
    """
    hidden, inputs = net._dropped, getattr(net, "_dropped_inputs", np.uint32(0))
    if not hidden and not inputs:
        return None
    keys, (n_inputs, *widths, _) = copy.deepcopy(net._keys), net.sizes

    def kept(width: int, first: int, key: np.ndarray, threshold: np.uint32, sides: int) -> np.ndarray:
        neurons = np.tile(first + np.arange(width // sides), sides).astype(np.uint32)
        lanes = mixed(np.arange(n_rows, dtype=np.uint32) ^ key[0])
        random = mixed(lanes[:, None] ^ (key[1] + neurons * np.uint32(0x9E3779B9)))
        return np.where(random < threshold, 0.0, 2.0**32 / (2.0**32 - int(threshold)))

    if not of_pairs:
        drawn = np.array([keys.next() for _ in widths], np.uint32)
        return [kept(width, 0, key, hidden, 1) for width, key in zip(widths, drawn, strict=True)]
    key, starts = np.array(keys.next(), np.uint32), np.cumsum([0, *net.sizes[1:]])
    masks = [kept(stop - start, start, key, hidden, net.sides) for start, stop in pairwise(starts[:-1])]
    return [*masks, kept(n_inputs, starts[-1], key, inputs, net.sides)]
