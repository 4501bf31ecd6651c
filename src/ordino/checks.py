"""Checks of hyper-parameters: each names the parameter, the value and what is allowed."""

import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from ordino.errors import ParameterError, unknown_name

Params = ParamSpec("Params")
Result = TypeVar("Result")


def check_int(name: str, value: object, *, low: int, high: int | None = None) -> int:
    """A whole number from low to high.

    Examples
    --------
    >>> check_int("rounds", 0, low=1)
    Traceback (most recent call last):
    ordino.errors.ParameterError: rounds=0; it must be a whole number, 1 or more
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        whole = int(value)
        if low <= whole and (high is None or whole <= high):
            return whole
    raise ParameterError(f"{name}={value!r}; it must be a whole number, {_range(low, high)}")


def check_n_jobs(value: object) -> int | None:
    """A number of threads or processes, or None.

    Examples
    --------
    >>> check_n_jobs(-1)
    Traceback (most recent call last):
    ordino.errors.ParameterError: n_jobs=-1; it must be a whole number, 1 or more, or None for as many as are worth it
    """
    try:
        return None if value is None else check_int("n_jobs", value, low=1)
    except ParameterError as error:
        raise ParameterError(f"{error}, or None for as many as are worth it") from None


def check_real(name: str, value: object, *, low: float, high: float | None = None, open_low: bool = False) -> float:
    """A number from low to high; open_low leaves out low itself.

    Examples
    --------
    >>> check_real("F", 3, low=0, high=2)
    Traceback (most recent call last):
    ordino.errors.ParameterError: F=3; it must be a number, from 0 to 2
    """
    if isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool):
        number = float(value)
        if (low < number if open_low else low <= number) and (high is None or number <= high) and number < float("inf"):
            return number
    limits = (
        f"more than {low:g}" + ("" if high is None else f" and at most {high:g}") if open_low else _range(low, high)
    )
    raise ParameterError(f"{name}={value!r}; it must be a number, {limits}")


def check_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """One of the allowed names, or the error that offers the nearest."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    raise unknown_name(name, value, choices)


WARNING: dict[str, str] = {}
"""By the functions whose arguments have old names that still work, the version that ends it."""


def renamed(*, since: str = "", **names: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Meet the old name of a keyword argument with the new one in the sentence; the signature keeps the new one.

    ``since`` is the version that has the new name, such as "0.3": the old one works, and warns, until the next minor
    version. Without it, the old name is refused.

    Examples
    --------
    >>> @renamed(threads="n_jobs")
    ... def read(*, n_jobs=1): ...
    >>> read(threads=2)
    Traceback (most recent call last):
    ordino.errors.ParameterError: read: threads is now called n_jobs
    """
    until = next_minor(since) if since else ""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        if until:
            WARNING[f"{function.__module__}.{function.__qualname__}"] = until

        @wraps(function)
        def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            for old, new in names.items():
                if old not in kwargs:
                    continue
                sentence = f"{function.__name__}: {old} is now called {new}"
                if not until or new in kwargs:
                    raise ParameterError(sentence)
                warnings.warn(f"{sentence}; the old name works until {until}", FutureWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def next_minor(version: str) -> str:
    """The minor version after this one.

    Examples
    --------
    >>> next_minor("0.3.1")
    '0.4'
    """
    major, minor, *_ = version.split(".")
    return f"{major}.{int(minor) + 1}"


def _range(low: float, high: float | None) -> str:
    return f"{low:g} or more" if high is None else f"from {low:g} to {high:g}"
