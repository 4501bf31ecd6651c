"""What the command line chose: the models by name, and the limits of a request."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ordino.errors import ParameterError

MOST = 1_000_000
"""The largest ``top`` that a request may have."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@final
@dataclass(frozen=True)
class Limits:
    """How much a request may ask for."""

    bytes: int = 32 << 20
    """Size of a body."""
    rows: int = 10_000
    """Documents of a request."""
    seconds: float = 10.0
    """Time for the body to arrive, and again to be answered."""
    queue: int = 256
    """Requests that a process takes at a time, the one it works on included."""
    explained: int = 50
    """Documents of a reply that are explained."""

    @property
    def waiting_bytes(self) -> int:
        """Bytes of all bodies that a process holds at a time."""
        return 8 * self.bytes


def named_models(given: Sequence[str]) -> dict[str, Path]:
    """Model files by name: ``NAME=FILE``, or the name of the file without its ending.

    Examples
    --------
    >>> named_models(["models/web.ordino", "books=b.ordino"])
    {'web': PosixPath('models/web.ordino'), 'books': PosixPath('b.ordino')}
    >>> named_models(["a/web.ordino", "b/web.ordino"])
    Traceback (most recent call last):
    ordino.errors.ParameterError: two models are called 'web'; name one of them otherwise, as in other=b/web.ordino
    """
    models: dict[str, Path] = {}
    for text in given:
        before, sign, after = text.partition("=")
        is_named = bool(sign) and _NAME.fullmatch(before) is not None
        path = Path(after if is_named else text)
        name = before if is_named else path.stem
        if not _NAME.fullmatch(name):
            raise ParameterError(f"{name!r} cannot be part of an address; give the model a name, as in web={text}")
        if name in models:
            raise ParameterError(f"two models are called {name!r}; name one of them otherwise, as in other={path}")
        models[name] = path
    return models
