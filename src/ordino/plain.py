"""Values for people and for other programs: as JSON has them, and numbers with their nouns."""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any


def as_json(value: Any, *, strict: bool = False) -> Any:
    """A value as JSON has it: arrays and tuples as lists, NaN as None, infinity and (if not strict) all else as text.

    Examples
    --------
    >>> as_json({"a": (1, float("nan")), 2: float("inf"), "b": 1j})
    {'a': [1, None], '2': 'inf', 'b': '1j'}
    """
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, float) and not isfinite(value):
        return None if value != value else repr(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(item, strict=strict) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, strict=strict) for item in value]
    if strict:
        raise TypeError(f"{value!r} is nothing that JSON has")
    return re.sub(r" at 0x\w+", "", " ".join(repr(value).split()))  # the same text in every process


def plain(text: str) -> str:
    r"""Text without characters that steer a terminal or break a line.

    Examples
    --------
    >>> plain("Rank\x1b[31mNet\n")
    'Rank [31mNet '
    """
    return "".join(character if character.isprintable() else " " for character in text)


def count_of(n: int, one: str, many: str = "") -> str:
    """A number with its noun in the singular or plural, such as ``1 query`` and ``2,000 queries``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
