"""Formulas over features: trees in prefix notation that can be run, cut, joined and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.errors import unknown_name
from ordino.evolve import kernels
from ordino.evolve.kernels import CONSTANT


class Function(NamedTuple):
    """What stands at an inner node of a formula."""

    code: int
    arity: int
    binds: int
    """How tightly it binds; 3 for a call such as ``min(a, b)``."""
    meaning: str


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "+": Function(kernels.ADD, 2, 1, "sum"),
        "-": Function(kernels.SUBTRACT, 2, 1, "difference"),
        "*": Function(kernels.MULTIPLY, 2, 2, "product"),
        "/": Function(kernels.DIVIDE, 2, 2, "quotient; 1 if the divisor is 0 (below 1e-9)"),
        "min": Function(kernels.LEAST, 2, 3, "the smaller one"),
        "max": Function(kernels.GREATEST, 2, 3, "the larger one"),
        "sqrt": Function(kernels.ROOT, 1, 3, "square root of the absolute value"),
    }
)
"""What a formula may be made of, by name; every one is exact arithmetic, the same on every machine."""

_BY_CODE: Mapping[int, tuple[str, Function]] = MappingProxyType({f.code: (name, f) for name, f in FUNCTIONS.items()})


@final
class Formula:
    """An expression tree in prefix notation.

    Parameters
    ----------
    codes
        Nodes from the root on: a feature's column from 0, the code of a function, or ``CONSTANT``.
    constants
        The value of each node that is a constant; what stands at the others does not matter.

    Examples
    --------
    >>> tree = Formula.parse("* + 0 0.5 - 1 2".split())
    >>> str(tree), len(tree), tree.depth
    ('(f1 + 0.5) * (f2 - f3)', 7, 2)
    >>> tree.text(["bm25", "pagerank", "length"])
    '(bm25 + 0.5) * (pagerank - length)'
    """

    def __init__(
        self, codes: Sequence[int] | NDArray[np.int64], constants: Sequence[float] | NDArray[np.float64]
    ) -> None:
        self.codes = np.array(codes, np.int64)
        self.constants = np.array(constants, np.float64)

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """A formula from words in prefix notation: functions by name, features as whole numbers, other numbers."""
        codes, constants = [], []
        for word in words:
            if word in FUNCTIONS:
                codes.append(FUNCTIONS[word].code)
            elif word.isdigit():
                codes.append(int(word))
            else:
                try:
                    float(word)
                except ValueError:
                    raise unknown_name("function", word, FUNCTIONS) from None
                codes.append(CONSTANT)
            constants.append(float(word) if codes[-1] == CONSTANT else 0.0)
        return cls(codes, constants)

    def words(self) -> list[str]:
        """The words that :meth:`parse` reads back to the same formula."""
        return [
            repr(float(value)) if code == CONSTANT else str(code) if code >= 0 else _BY_CODE[code][0]
            for code, value in zip(self.codes.tolist(), self.constants.tolist(), strict=True)
        ]

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.words() == other.words()

    def __hash__(self) -> int:
        return hash(tuple(self.words()))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Formula({self.text()})"

    @property
    def depth(self) -> int:
        """Steps from the root to the farthest leaf."""
        waiting, deepest = [0], 0  # the depths of the nodes that are still to come
        for code in self.codes.tolist():
            here = waiting.pop()
            deepest = max(deepest, here)
            waiting += [here + 1] * _arity(code)
        return deepest

    def part(self, start: int) -> slice:
        """Where the subtree lies whose root is node ``start``."""
        missing, stop = 1, start
        while missing:
            missing += _arity(int(self.codes[stop])) - 1
            stop += 1
        return slice(start, stop)

    def graft(self, start: int, twig: Formula) -> Formula:
        """The formula with the subtree at ``start`` replaced by another."""
        out = self.part(start)
        return Formula(
            np.concatenate((self.codes[: out.start], twig.codes, self.codes[out.stop :])),
            np.concatenate((self.constants[: out.start], twig.constants, self.constants[out.stop :])),
        )

    def cut(self, start: int) -> Formula:
        """The subtree at ``start`` as a formula of its own."""
        return Formula(self.codes[self.part(start)], self.constants[self.part(start)])

    def text(self, names: Sequence[str] | None = None) -> str:
        """The formula as one reads it, with as few brackets as it needs; features are f1, f2, ... without names."""
        done: list[tuple[str, int]] = []  # text and how tightly it binds
        for code, value in zip(self.codes[::-1].tolist(), self.constants[::-1].tolist(), strict=True):
            if code >= 0:
                done.append((f"f{code + 1}" if names is None else str(names[code]), 4))
            elif code == CONSTANT:
                done.append((f"{value:.4g}", 4 if value >= 0 else 1))
            else:
                name, function = _BY_CODE[code]
                inside = [done.pop() for _ in range(function.arity)]
                if function.binds == 3:
                    done.append((f"{name}({', '.join(text for text, _ in inside)})", 4))
                    continue
                (left, tight), (right, tight_right) = inside
                left = left if tight >= function.binds else f"({left})"
                loose = tight_right < function.binds or (tight_right == function.binds and name in "-/")
                done.append((f"{left} {name} {f'({right})' if loose else right}", function.binds))
        return done[0][0]


def _arity(code: int) -> int:
    return _BY_CODE[code][1].arity if code in _BY_CODE else 0
