"""LightGBM's library, called function by function, without its Python package.

The package loads what a training does not need and holds to its end: scikit-learn's metrics and model selection,
scipy.stats, and pandas and others where they are installed. That is 50 MB and more, and a second of each start. So
trees are grown through LightGBM's C interface; its package is only loaded to score with them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import CDLL, byref, c_char_p, c_int, c_int64, c_void_p, create_string_buffer
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.threads import was_forked

FLOAT32, FLOAT64, INT32 = 0, 1, 2  # kinds of numbers, in LightGBM's interface
SMALL = 1 << 20  # bytes of a text that is had at once


class Refused(Exception):  # noqa: N818  (it is no error of ours, and becomes one)
    """What LightGBM said when it refused a call."""


@lru_cache(maxsize=1)
def library() -> CDLL:
    """The library that the installed package would load."""
    package = find_spec("lightgbm")
    assert package is not None, "Ordino is not installed without it"
    finder = run_path(str(Path(str(package.origin)).with_name("libpath.py")))  # it knows the places on each system
    found = CDLL(finder["_find_lib_path"]()[0])
    found.LGBM_GetLastError.restype = c_char_p
    return found


def call(name: str, *given: Any) -> None:
    """Call a function of the C interface; arrays are given by their address, numbers as ``int``."""
    loaded = library()
    if was_forked():  # OpenMP would wait forever for the threads of the parent
        loaded.LGBM_SetMaxThreads(c_int(1))
    if getattr(loaded, f"LGBM_{name}")(*(address(one) if isinstance(one, np.ndarray) else one for one in given)):
        raise Refused(loaded.LGBM_GetLastError().decode())


def text(name: str, *given: Any) -> str:
    """What a function of the C interface writes; one that needs more room than it was given is asked again."""
    size, length = SMALL, c_int64()
    while True:
        found = create_string_buffer(size)
        call(name, *given, c_int64(size), byref(length), found)
        if length.value <= size:
            return found.value.decode()
        size = length.value


def address(array: Any) -> c_void_p:
    """Where the values of an array lie."""
    return c_void_p(array.ctypes.data)


def in_words(params: Mapping[str, object]) -> bytes:
    """Parameters as LightGBM reads them.

    Examples
    --------
    >>> in_words({"eval_at": [5, 10], "verbosity": -1, "interaction_constraints": [[0, 1], [2]], "machines": None})
    b'eval_at=5,10 verbosity=-1 interaction_constraints=[0,1],[2]'
    """
    return " ".join(f"{name}={_in_words(value)}" for name, value in params.items() if value is not None).encode()


def _in_words(value: object) -> str:
    if not isinstance(value, list | tuple | set | np.ndarray):
        return str(value)
    return ",".join(f"[{','.join(map(str, one))}]" if isinstance(one, list) else str(one) for one in value)


@contextmanager
def sentences_of_lightgbm() -> Iterator[None]:
    """Say in one sentence what LightGBM refuses, such as data in which no feature can be split."""
    try:
        yield
    except Refused as error:
        reason = " ".join(str(error).partition(" at /")[0].split())
        raise DataError(
            f"LightGBM cannot learn from this data ({reason}); check that it has enough documents and "
            "features that differ"
        ) from None
