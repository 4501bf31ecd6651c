"""RankLib's text models as plain values: linear, RankBoost's thresholds, ensembles of trees, networks.

The first line names the class. A file is another's text: every number is checked, every loop is bounded by its size,
and whatever is wrong is said in one sentence.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.errors import ModelFileError

MOST_FEATURES = 1_000_000
DEEPEST = 400  # splits of a tree; those of RankLib have ten leaves by default


class LinearText(NamedTuple):
    """A weighted sum; features count from 1."""

    weights: tuple[tuple[int, float], ...]
    bias: float


class Thresholds(NamedTuple):
    """RankBoost: (feature, threshold, alpha), which adds alpha where the feature is above the threshold."""

    rankers: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Node:
    """A leaf with its output, or a split with its threshold, left where the feature is at most that."""

    value: float
    feature: int = 0
    left: "Node | None" = None
    right: "Node | None" = None


class WeightedTree(NamedTuple):
    """A tree and how much it counts."""

    weight: float
    root: Node


class Forest(NamedTuple):
    """One ensemble of trees, or several whose scores are averaged."""

    ensembles: tuple[tuple[WeightedTree, ...], ...]


class Neurons(NamedTuple):
    """Layers of logistic neurons, the output among them: ``h = logistic(h @ W + b)``."""

    features: tuple[int, ...]
    layers: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]


Body = LinearText | Thresholds | Forest | Neurons


class RankLibModel(NamedTuple):
    """A model and the name in its first line."""

    name: str
    body: Body

    @property
    def n_features(self) -> int:
        """The largest number of a feature."""
        match self.body:
            case LinearText(weights=weights):
                numbers = [feature for feature, _ in weights]
            case Thresholds(rankers=rankers):
                numbers = [feature for feature, _, _ in rankers]
            case Forest(ensembles=ensembles):
                numbers = [feature for trees in ensembles for tree in trees for feature in _features(tree.root)]
            case Neurons(features=features):
                numbers = list(features)
        return max(numbers, default=1)


def _features(root: Node) -> Iterator[int]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.left is not None and node.right is not None:
            yield node.feature
            waiting += [node.left, node.right]


def read_ranklib(text: str) -> RankLibModel:
    r"""The model of a RankLib file.

    Examples
    --------
    >>> read_ranklib("## Coordinate Ascent\n## Restart = 5\n1:0.25 3:-0.75\n").body
    LinearText(weights=((1, 0.25), (3, -0.75)), bias=0.0)
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    name = lines[0].removeprefix("##").strip() if lines and lines[0].startswith("##") else ""
    if name not in READERS:
        known = ", ".join(sorted(READERS))
        raise ModelFileError(f"the first line names no model of RankLib; it must be ## and one of: {known}")
    body = [line for line in lines if not line.startswith("#")]
    if not body:
        raise ModelFileError(f"there is nothing after the head of this {name} model; get the file again")
    return RankLibModel(name, READERS[name](body))


def _number(word: str, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ModelFileError(f"{what} is {word[:40]!r}, which is no number; get the file again") from None
    if not math.isfinite(value):
        raise ModelFileError(f"{what} is {word}; it must be finite")
    return value


def _feature(word: str, low: int = 1) -> int:
    if not re.fullmatch(r"\d{1,7}", word) or not low <= int(word) <= MOST_FEATURES:
        raise ModelFileError(f"{word[:40]!r} is no number of a feature; they go from 1 to {MOST_FEATURES:,}")
    return int(word)


def _fields(lines: Sequence[str], n: int) -> list[list[str]]:
    found = [word.split(":") for line in lines for word in line.split()]
    for parts in found:
        if len(parts) != n:
            raise ModelFileError(f"{':'.join(parts)[:40]!r} has {len(parts)} parts where {n} were expected")
    return found


def _linear(lines: Sequence[str]) -> LinearText:
    pairs = [(_feature(number, low=0), _number(weight, "a weight")) for number, weight in _fields(lines, 2)]
    bias = sum((weight for feature, weight in pairs if feature == 0), 0.0)
    return LinearText(tuple(pair for pair in pairs if pair[0] > 0), bias)


def _thresholds(lines: Sequence[str]) -> Thresholds:
    rankers = [
        (_feature(feature), _number(threshold, "a threshold"), _number(alpha, "a weight"))
        for feature, threshold, alpha in _fields(lines, 3)
    ]
    return Thresholds(tuple(rankers))


_TOKEN = re.compile(r"<\s*(/?)\s*(\w+)((?:\s+\w+\s*=\s*\"[^\"]*\")*)\s*>|([^<>\s]+)")
Token = tuple[str, str]


def _tokens(lines: Sequence[str]) -> list[Token]:
    """Tags as ("split", "left") or ("/split", ""), texts as ("", "0.5"); RankLib's XML has nothing else."""
    text = "\n".join(lines)
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        if text[end : match.start()].strip():
            raise ModelFileError("the trees are not RankLib's XML; get the file again")
        end = match.end()
        slash, tag, attributes, word = match.groups()
        given = re.search(r'(?:pos|weight)\s*=\s*"([^"]*)"', attributes or "")
        found.append(("", word) if word else (slash + tag, given[1] if given else ""))
    if text[end:].strip():
        raise ModelFileError("the trees are not RankLib's XML; get the file again")
    return found


class _Reader:
    """Takes one token after the other."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens, self._at = tokens, 0

    def peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "the end"

    def take(self, tag: str) -> str:
        if self.peek() != tag:
            found = self.peek() or self._tokens[self._at][1][:40]
            raise ModelFileError(
                f"the trees have {found!r} where {tag or 'a number'!r} was expected; get the file again"
            )
        self._at += 1
        return self._tokens[self._at - 1][1]

    def value(self, tag: str) -> str:
        self.take(tag)
        word = self.take("")
        self.take(f"/{tag}")
        return word


def _forest(lines: Sequence[str]) -> Forest:
    reader = _Reader(_tokens(lines))
    ensembles = []
    while reader.peek() != "the end":
        reader.take("ensemble")
        trees = []
        while reader.peek() == "tree":
            weight = _number(reader.take("tree"), "the weight of a tree")
            reader.take("split")
            trees.append(WeightedTree(weight, _node(reader, 0)))
            reader.take("/tree")
        reader.take("/ensemble")
        if not trees:
            raise ModelFileError("an ensemble has no tree; get the file again")
        ensembles.append(tuple(trees))
    return Forest(tuple(ensembles))


def _node(reader: _Reader, depth: int) -> Node:
    """What stands between <split> and </split>; the first of these was taken already."""
    if depth > DEEPEST:
        raise ModelFileError(f"a tree is deeper than {DEEPEST} splits; no model of RankLib is")
    if reader.peek() == "output":
        node = Node(_number(reader.value("output"), "the output of a leaf"))
    else:
        feature, threshold = _feature(reader.value("feature")), _number(reader.value("threshold"), "a threshold")
        sides = []
        for _ in range(2):
            reader.take("split")
            sides.append(_node(reader, depth + 1))
        node = Node(threshold, feature, *sides)
    reader.take("/split")
    return node


def _neurons(lines: Sequence[str]) -> Neurons:
    features = tuple(_feature(word) for word in lines[0].split())
    n_hidden = _feature(lines[1], low=0) if len(lines) > 1 else -1
    if not features or n_hidden < 0 or n_hidden > len(lines) - 2:
        raise ModelFileError("the head of the network is not whole; get the file again")
    sizes = [len(features), *(_feature(line) for line in lines[2 : 2 + n_hidden]), 1]
    rows = [line.split() for line in lines[2 + n_hidden :]]
    if len(rows) != sum(sizes[:-1]) + 1:
        raise ModelFileError(f"the network has {len(rows)} lines of weights where {sum(sizes[:-1]) + 1} were expected")
    # the last neuron of layer 0 is the bias: it is connected to every neuron of every later layer, layer by layer
    expected = [(0, i, sizes[1]) for i in range(sizes[0])] + [(0, sizes[0], sum(sizes[1:]))]
    expected += [(k, i, sizes[k + 1]) for k in range(1, len(sizes) - 1) for i in range(sizes[k])]
    weights: list[list[float]] = []
    for row, (layer, neuron, n_weights) in zip(rows, expected, strict=True):
        if row[:2] != [str(layer), str(neuron)] or len(row) != 2 + n_weights:
            raise ModelFileError(f"the weights of neuron {neuron} in layer {layer} are not whole; get the file again")
        weights.append([_number(word, "a weight") for word in row[2:]])
    biases = np.array(weights.pop(sizes[0]))
    layers, start, done = [], 0, 0
    for n_in, n_out in pairwise(sizes):
        W = np.array(weights[start : start + n_in]).reshape(n_in, n_out)
        layers.append((W, biases[done : done + n_out]))
        start, done = start + n_in, done + n_out
    return Neurons(features, tuple(layers))


READERS: Mapping[str, Callable[[Sequence[str]], Body]] = {
    "LambdaMART": _forest,
    "MART": _forest,
    "Random Forests": _forest,
    "Coordinate Ascent": _linear,
    "AdaRank": _linear,
    "Linear Regression": _linear,
    "RankBoost": _thresholds,
    "RankNet": _neurons,
    "LambdaRank": _neurons,
    "ListNet": _neurons,
}
"""Who reads the body of a model, by the name in its first line."""
