"""``--param name=value`` as Python values, and what the docstring of a ranker says of each parameter."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ordino.errors import ParameterError, unknown_name

if TYPE_CHECKING:
    from ordino.ranker import Ranker


def parse_params(words: Sequence[str], ranker: type[Ranker]) -> dict[str, Any]:
    """Parameters of a ranker from words such as ``hidden=64,32``.

    Examples
    --------
    >>> from ordino.rankers import ranker_class
    >>> parse_params(["hidden=64,32", "epochs=5", "scaling=none"], ranker_class("ranknet"))
    {'hidden': (64, 32), 'epochs': 5, 'scaling': None}
    >>> parse_params(["epoch=5"], ranker_class("ranknet"))
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown parameter of RankNet: 'epoch'; did you mean 'epochs'?
    """
    known = ranker._get_param_names()
    params = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise ParameterError(f"--param {word!r} has no value; write name=value, for example epochs=20")
        if name not in known:
            raise unknown_name(f"parameter of {ranker.__name__}:", name, known)
        params[name] = parse_value(text)
    return params


def parse_value(text: str) -> Any:
    """A value as one types it: a number, true, false, none, JSON, values between commas, or else a text.

    Examples
    --------
    >>> [parse_value(text) for text in ("64,32", "8,", "()", "0.5", "none", "true", "tanh")]
    [(64, 32), (8,), (), 0.5, None, True, 'tanh']
    >>> parse_value('{"max_bin": 63}')
    {'max_bin': 63}
    """
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = json.loads(text)
    except ValueError:
        inner = text[1:-1] if text[:1] + text[-1:] == "()" else text
        if inner != text or "," in text:
            return tuple(parse_value(part.strip()) for part in inner.split(",") if part.strip())
        return text
    return tuple(value) if isinstance(value, list) else value


def meanings(ranker: type[Ranker]) -> dict[str, str]:
    """What each parameter means, from the docstrings of the class and of the family that it belongs to."""
    found: dict[str, str] = {}
    for cls in ranker.__mro__:
        text = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
        if section is None:
            continue
        for names, meaning in re.findall(r"^(\w[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)+)", section[1] + "\n", re.MULTILINE):
            for name in re.split(r",\s*", names):
                found.setdefault(name, " ".join(meaning.replace("``", "`").split()))
    return found
