"""A comparator as plain arrays: what a fitted ranker keeps, and all it takes to compare and to sort. No torch here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import frozen
from ordino.checks import check_choice
from ordino.data.columns import as_features
from ordino.errors import DataError, ParameterError
from ordino.layers import ACTIVATIONS, Layer
from ordino.order import kernels
from ordino.order.kernels import LANES, Packed, project_rows

Floats = NDArray[np.float32]

BLOCK = 16384  # pairs compared at a time


@final
@dataclass(frozen=True, eq=False)
class PairNetwork:
    r"""A network that takes two documents and gives two outputs, N> (the first comes first) and N< (the second does).

    .. math:: h = \sigma(x L + y R + b), \quad \ldots, \quad (N_\succ, N_\prec) = \tau(h W + c)

    The network is *symmetric* if it keeps the sharing rules of SortNet (section 2) and DeepNet: the second half of each
    layer holds the duals of the first, in the same order, so that N>(x, y) = N<(y, x). A network that does not is
    compared in both orders, which makes it the symmetric network of twice the width that contains it (Theorem 2.1 of
    SortNet): its logits are the mean of those of (x, y) and of those of (y, x) swapped.

    Parameters
    ----------
    left, right
        Weights of the first layer for the first and the second document, shape ``(n_features, n_hidden)``.
    bias
        Of the first layer, shape ``(n_hidden,)``.
    deeper
        The layers above; the last has two outputs.
    activation
        Of the hidden layers: sigmoid, tanh, relu, softplus or identity.
    output
        Of the two outputs: sigmoid, tanh, softplus or identity.

    Examples
    --------
    One feature, one neuron ``x - y`` and its dual ``y - x``, each output the difference of the two.

    >>> larger_first = PairNetwork(
    ...     [[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),), activation="identity", output="identity"
    ... )
    >>> larger_first.symmetric
    True
    >>> larger_first.outputs([[3.0], [1.0]], [[1.0], [1.0]]).tolist()
    [[4.0, -4.0], [0.0, 0.0]]
    >>> larger_first.compare([[3.0], [1.0]], [[1.0], [1.0]]).round(4).tolist()
    [0.9997, 0.5]
    """

    left: Floats
    right: Floats
    bias: Floats
    deeper: tuple[Layer, ...]
    activation: str = "sigmoid"
    output: str = "sigmoid"

    def __post_init__(self) -> None:
        check_choice("activation", self.activation, kernels.ACTIVATIONS)
        check_choice("output activation", self.output, kernels.OUTPUTS)
        for name in ("left", "right", "bias"):
            object.__setattr__(self, name, _as_weights(name, getattr(self, name)))
        object.__setattr__(
            self, "deeper", tuple(Layer(*(_as_weights("deeper", part) for part in layer)) for layer in self.deeper)
        )
        _check_shapes(self.left, self.right, self.bias, self.deeper)

    @property
    def n_features(self) -> int:
        """How many features a document has."""
        return int(self.left.shape[0])

    @property
    def deep(self) -> bool:
        """Whether there is more than one hidden layer."""
        return len(self.deeper) > 1

    @cached_property
    def symmetric(self) -> bool:
        """Whether the sharing rules hold, weight for weight: then N>(x, y) = N<(y, x)."""
        if any(len(layer.b) % 2 for layer in (Layer(self.left, self.bias), *self.deeper)):
            return False
        weights = [(self.right, _swap(self.left, 1)), (self.bias, _swap(self.bias, 0))]
        for W, b in self.deeper:
            weights += [(W, _swap(_swap(W, 0), 1)), (b, _swap(b, 0))]
        return all(np.array_equal(one, other) for one, other in weights)

    @cached_property
    def packed(self) -> Packed:
        """The network on sums and differences of dual neurons, as the kernels want it."""
        duals = 2 if self.symmetric else 1
        hidden, top = self.deeper[:-1], self.deeper[-1]
        sizes = [len(b) // duals for b in (self.bias, *(layer.b for layer in hidden))]
        widths = [-(-size // LANES) * LANES for size in sizes]
        rows: list[NDArray[np.floating]] = [self.bias[None, : sizes[0]]]
        for (W, b), n_in, n_out in zip(hidden, sizes[:-1], sizes[1:], strict=True):
            own = W[:n_in, :n_out].astype(np.float64)
            dual = W[:n_in, n_out:] if self.symmetric else 0.0
            rows += [b[None, :n_out], (own + dual) / 2, (own - dual) / 2]
        wins, loses = top.W[: sizes[-1]].T.astype(np.float64) / (3 - duals)  # a mean, if both orders are summed
        rows += [(wins - loses)[None] / 2, (wins + loses)[None] / 2]
        weights = np.concatenate([_pad(part, max(widths)) for part in rows])
        first = np.stack([_pad(W[:, : sizes[0]], max(widths)) for W in (self.left, self.right)], axis=1)
        plan = np.array([(len(weights), 0), *zip(sizes, widths, strict=True)])
        return Packed(first, weights, plan, np.float32(top.b.mean()))

    def outputs(self, A: ArrayLike, B: ArrayLike) -> Floats:
        """N> and N< of the pairs (A[i], B[i]) in this order, shape ``(n_pairs, 2)``."""
        return self.activations(A, B)[-1]

    def activations(self, A: ArrayLike, B: ArrayLike) -> list[Floats]:
        """What every layer gives for the pairs (A[i], B[i]), each ``(n_pairs, n_neurons)``; the outputs come last."""
        left, right = self._check_pairs(A, B)
        reached, top = self.hidden_values(left @ self.left + right @ self.right + self.bias), self.deeper[-1]
        return [*reached, ACTIVATIONS[self.output](reached[-1] @ top.W + top.b)]

    def hidden_values(self, first: Floats) -> list[Floats]:
        """What every hidden layer gives, from the inputs of the first one, shape ``(n_pairs, n_hidden)``."""
        squash = ACTIVATIONS[self.activation]
        reached = [squash(first)]
        for layer in self.deeper[:-1]:
            reached.append(squash(reached[-1] @ layer.W + layer.b))
        return reached

    def compare(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        r"""P(A[i] comes before B[i]), shape ``(n_pairs,)``.

        Sigmoid outputs are probabilities of their own, and give :math:`(1 + N_\succ - N_\prec) / 2`; tanh outputs give
        the same after they are brought from [-1, 1] to [0, 1]. Outputs without bounds give
        :math:`1 / (1 + e^{N_\prec - N_\succ})`. ``compare(A, B) + compare(B, A)`` is 1 exactly,
        and 1/2 is a tie of the logits: the sort puts first whatever has more than 1/2.
        """
        left, right = self._check_pairs(A, B)
        result = np.empty(len(left))
        for start in range(0, len(left), BLOCK):
            part = result[start : start + BLOCK]
            both = np.stack([left[start : start + BLOCK], right[start : start + BLOCK]], axis=1)
            table, room = self.lay_out(both.reshape(2 * len(part), -1))
            self.kernels.pair_probabilities(self.packed.bias, self.packed.plan, table, room, part)
        return result

    @property
    def kernels(self) -> kernels.Kernels:
        """What is compiled for networks with these activations."""
        return kernels.make_kernels(self.activation, self.output, self.deep)

    def lay_out(self, X: Floats) -> tuple[Floats, Floats]:
        """The kernels' table of the weights and of the projections of these documents, and a buffer for comparisons."""
        self._check_width(X)
        weights = self.packed.weights
        table = np.zeros((len(weights) + 2 * len(X), weights.shape[1]), np.float32)
        table[: len(weights)] = weights
        project_rows(frozen(np.ascontiguousarray(X)), self.packed.first, table, len(weights))
        return table, np.empty((4, table.shape[1]), np.float32)

    def check_features(self, X: ArrayLike) -> Floats:
        """The features as the kernels want them: finite, float32, as many columns as the network takes."""
        features = as_features(X)
        self._check_width(features)
        if np.isnan(features).any():
            raise DataError("X has NaN, which cannot be compared; fill in what is missing first")
        return frozen(features)

    def _check_width(self, X: Floats) -> None:
        if X.shape[1] != self.n_features:
            raise DataError(f"the network compares {self.n_features} features but the data has {X.shape[1]}")

    def _check_pairs(self, A: ArrayLike, B: ArrayLike) -> tuple[Floats, Floats]:
        left, right = self.check_features(A), self.check_features(B)
        if len(left) != len(right):
            raise DataError(f"A has {len(left)} documents and B has {len(right)}; give one of each for every pair")
        return left, right


def _as_weights(name: str, values: ArrayLike) -> Floats:
    weights = np.array(values, np.float32, order="C")
    if not np.isfinite(weights).all():
        raise ParameterError(f"{name} has weights that are not finite; training diverged")
    weights.flags.writeable = False
    return weights


def _check_shapes(left: Floats, right: Floats, bias: Floats, deeper: Sequence[Layer]) -> None:
    if left.ndim != 2 or right.shape != left.shape or bias.shape != left.shape[1:]:
        raise ParameterError(
            f"left {left.shape}, right {right.shape} and bias {bias.shape} do not fit; "
            "they must be (n_features, n_hidden) twice and (n_hidden,)"
        )
    width = left.shape[1]
    for number, (W, b) in enumerate(deeper, start=1):
        if W.ndim != 2 or len(W) != width or b.shape != W.shape[1:]:
            raise ParameterError(f"deeper layer {number} maps {W.shape} with bias {b.shape}, but gets {width} inputs")
        width = W.shape[1]
    if width != 2 or not deeper:
        raise ParameterError(f"the last layer has {width} outputs; a comparator has two, N> and N<")


def _swap(values: Floats, axis: int) -> Floats:
    return np.roll(values, values.shape[axis] // 2, axis)


def _pad(M: NDArray[np.floating], width: int) -> Floats:
    return np.pad(M, ((0, 0), (0, width - M.shape[1]))).astype(np.float32)
