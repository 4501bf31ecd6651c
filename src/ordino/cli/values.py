"""``--param name=value`` as Python values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ordino.errors import ParameterError

if TYPE_CHECKING:
    from ordino.ranker import Ranker


def parse_params(words: Sequence[str], ranker: type[Ranker]) -> dict[str, Any]:
    """Parameters of a ranker from words such as ``hidden=64,32``, converted by what the ranker says of each.

    Examples
    --------
    >>> from ordino.rankers import ranker_class
    >>> parse_params(["hidden=64,32", "epochs=5", "scaling=none"], ranker_class("ranknet"))
    {'hidden': (64, 32), 'epochs': 5, 'scaling': None}
    >>> parse_params(["epoch=5"], ranker_class("ranknet"))
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown parameter of RankNet: 'epoch'; did you mean 'epochs'?
    """
    from ordino.parameters import check_names, parameters_of

    known = parameters_of(ranker)
    params = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise ParameterError(f"--param {word!r} has no value; write name=value, for example epochs=20")
        if "__" in name:  # of a ranker inside
            params[name] = parse_value(text)
            continue
        check_names(ranker, [name])
        params[name] = known[name].parse(text)
    return params


def parse_value(text: str) -> Any:
    """A value as one types it; see :func:`ordino.parameters.parse_value`, which is loaded on use, as numpy is."""
    from ordino.parameters import parse_value as parse

    return parse(text)
