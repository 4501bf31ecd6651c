"""Vespa's ranking expressions, as far as exported profiles use them: arithmetic, comparisons, if, a few functions.

Everything is a double, a comparison is 1 or 0, and one with NaN is 0. An expression is put into postfix order first, so
that trees of any depth need no recursion.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.export.emulators.scored import DOUBLE, Floats, Scored, exactly

_FUNCTION = re.compile(r"function (\w+)\(\) \{\s*expression: ([^\n]*)\n\s*\}")
_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e[+-]?\d+)?|[A-Za-z_]\w*|<=|>=|==|[-+*/<>!(),])")
_BINARY: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "==": (1, lambda a, b: (a == b) * 1.0),
    "<=": (1, lambda a, b: (a <= b) * 1.0),
    "<": (1, lambda a, b: (a < b) * 1.0),
    ">": (1, lambda a, b: (a > b) * 1.0),
    "+": (2, lambda a, b: a + b),
    "-": (2, lambda a, b: a - b),
    "*": (3, lambda a, b: a * b),
    "/": (3, lambda a, b: a / b),
}
_UNARY = {"negate": lambda a: -a, "!": lambda a: (a == 0) * 1.0}
_CALLS: dict[str, tuple[int, Callable[..., Any]]] = {
    "if": (3, lambda asked, yes, no: np.where(asked != 0, yes, no)),
    "max": (2, np.fmax),
    "min": (2, np.fmin),
    "tanh": (1, np.tanh),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "isNan": (1, lambda a: np.isnan(a) * 1.0),
}


def score_vespa(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Scores of rows by the function ``score`` of ``model.profile``.

    The attributes are the columns in their order: names that Vespa does not take are written otherwise there.
    """
    functions = dict(_FUNCTION.findall(files["model.profile"]))
    attributes = [m[1] for text in functions.values() if (m := re.fullmatch(r"attribute\((\w+)\)", text))]
    if len(attributes) != len(names):
        raise DataError(f"the profile has {len(attributes)} attributes for {len(names)} features")
    known: dict[str, Any] = {}
    for name, text in functions.items():
        if (found := re.fullmatch(r"attribute\((\w+)\)", text)) is not None:
            known[name] = X[:, attributes.index(found[1])].astype(np.float64)
    size = np.zeros(len(X))
    with np.errstate(all="ignore"):
        for name, text in functions.items():  # in the order of the file, which uses nothing before it is defined
            if name not in known:
                known[name] = np.broadcast_to(_evaluate(_postfix(text), known), (len(X),))
                if name.startswith(("tree_", "sum", "scaled", "score")):
                    size += np.abs(known[name])
    return exactly(known["score"], size, 64, DOUBLE)


def _postfix(text: str) -> list[str]:
    """The operands and operators of an expression, each operator after what it works on."""
    out: list[str] = []
    stack: list[str] = []
    at, expects_operand = 0, True
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise DataError(f"{text[at : at + 20]!r} is no ranking expression")
        at, token = match.end(), match[1]
        if token == "(":
            stack.append("(")
            expects_operand = True
        elif token in ",)":
            while stack[-1] != "(":
                out.append(stack.pop())
            expects_operand = token == ","
            if token == ")":
                stack.pop()
                if stack and stack[-1] in _CALLS:
                    out.append(stack.pop())
        elif expects_operand and token in "-!":
            stack.append("negate" if token == "-" else "!")
        elif token in _BINARY:
            while stack and (
                stack[-1] in _UNARY or (stack[-1] in _BINARY and _BINARY[stack[-1]][0] >= _BINARY[token][0])
            ):
                out.append(stack.pop())
            stack.append(token)
            expects_operand = True
        elif token in _CALLS:
            stack.append(token)
        else:
            out.append(token)
            expects_operand = False
    return out + stack[::-1]


def _evaluate(words: Sequence[str], known: Mapping[str, Any]) -> Any:
    values: list[Any] = []
    for word in words:
        if word in _BINARY:
            second, first = values.pop(), values.pop()
            values.append(_BINARY[word][1](first, second))
        elif word in _UNARY:
            values.append(_UNARY[word](values.pop()))
        elif word in _CALLS:
            n, function = _CALLS[word]
            values[-n:] = [function(*values[-n:])]
        elif word[0].isdigit():
            values.append(np.float64(word))
        else:
            values.append(known[word])
    [value] = values
    return value
