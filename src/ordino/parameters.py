"""Parameters of rankers: what each means, what it may be and where a search looks stand together, once.

A parameter is a field of a ranker: ``rounds: int = param(200, "Weak rankers at most.", low=1, brief=2)``. The
signature, ``help()``, the error of a wrong value, the conversion of ``--param rounds=50`` and the default search space
come from it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import wraps
from types import MappingProxyType
from typing import Any, final

import numpy as np

from ordino.checks import check_choice, check_int, check_real
from ordino.errors import ParameterError, unknown_name
from ordino.foreign_words import ELSEWHERE, NOT_HERE, PASSED_ON


@final
@dataclass(frozen=True)
class Range:
    """Numbers from low to high; whole ones if both ends are, and drawn by their logarithm if ``log``."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if isinstance(end, bool) or not isinstance(end, int | float):
                raise ParameterError(f"a range goes from {self.low!r} to {self.high!r}; both must be numbers")
        if not self.low < self.high or (self.log and self.low <= 0):
            rule = "low must be less than high" + (", and more than 0 with log" if self.log else "")
            raise ParameterError(f"a range goes from {self.low!r} to {self.high!r}; {rule}")


@final
@dataclass(frozen=True)
class Choices:
    """One of several values."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or len(self.values) == 0:
            raise ParameterError(f"there is nothing to choose from in {self.values!r}; give a list of values")


Space = Range | Choices
"""Where a search looks for a parameter."""


@final
@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What is known of a parameter beside its name."""

    text: str
    """What it means, in sentences."""
    kinds: frozenset[str] = frozenset()
    """The parts of its annotation: int, float, str, bool, None, Sequence[int] ..."""
    default: Any = None
    low: float | None = None
    high: float | None = None
    above: float | None = None
    """A limit that is itself not allowed."""
    choices: tuple[str, ...] = ()
    may_be_empty: bool = False
    """Whether a sequence of no numbers is allowed."""
    check: Callable[[Any], object] | None = None
    """Raises ParameterError for a value that is not allowed, where a range or a list of names cannot say it."""
    space: Space | None = None
    """Where a search looks by default; None leaves the parameter as it is."""
    brief: Any = None
    """A value that makes learning short, for a rehearsal."""

    def verify(self, name: str, value: Any) -> None:
        """Refuse a value that is not allowed, in one sentence."""
        if value is None and "None" in self.kinds:
            return
        if self.check is not None:
            self.check(value)
        elif self.choices:
            check_choice(name, value, self.choices)
        elif "bool" in self.kinds:
            if not isinstance(value, bool | np.bool_):
                raise ParameterError(f"{name}={value!r}; it must be True or False")
        elif self._takes_several and not isinstance(value, str) and isinstance(value, Sequence | np.ndarray):
            if not len(value) and not self.may_be_empty:
                raise ParameterError(f"{name} is empty; give at least one number")
            for one in value:
                self._verify_number(name, one)
        elif self._is_number:
            self._verify_number(name, value)

    @property
    def _takes_several(self) -> bool:
        return any(kind.startswith("Sequence[") for kind in self.kinds)

    @property
    def _is_number(self) -> bool:
        return bool({"int", "float"} & self.kinds) and not {"str", "RankerLike"} & self.kinds

    def _verify_number(self, name: str, value: Any) -> None:
        if {"float", "Sequence[float]"} & self.kinds:
            low, is_open = (self.above, True) if self.above is not None else (self.low, False)
            check_real(name, value, low=-np.inf if low is None else low, high=self.high, open_low=is_open)
        elif self.low is not None:
            check_int(name, value, low=int(self.low), high=None if self.high is None else int(self.high))

    def parse(self, text: str) -> Any:
        """The value of a word on the command line.

        Examples
        --------
        >>> Parameter(text="", kinds=frozenset({"int", "Sequence[int]"})).parse("64,32")
        (64, 32)
        >>> Parameter(text="", kinds=frozenset({"str", "None"})).parse("none") is None
        True
        """
        if self.kinds <= {"str", "None"} and self.kinds:
            return None if "None" in self.kinds and text.lower() in ("none", "null") else text
        return parse_value(text)


def param(
    default: Any,
    text: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: Iterable[str] = (),
    check: Callable[[Any], object] | None = None,
    space: Space | None = None,
    brief: Any = None,
    may_be_empty: bool = False,
    positional: bool = False,
) -> Any:
    """A parameter as a field of a ranker; a ``Sequence`` default must be a tuple."""
    known = Parameter(
        text=text, default=default, low=low, high=high, above=above, choices=tuple(choices), check=check, space=space,
        brief=brief, may_be_empty=may_be_empty,
    )  # fmt: skip
    return field(default=default, kw_only=not positional, metadata={"parameter": known})


def settings(base: Mapping[str, Any] = MappingProxyType({}), /, **values: Any) -> Mapping[str, Any]:
    """Values by parameter, in place of those in ``base``; read-only. What a ranker's paper fixes is ``published``."""
    return MappingProxyType({**base, **values})


def learned() -> Any:
    """A learned attribute as a field: typed, not a parameter, there only after ``fit``."""
    return field(init=False)


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Every parameter of a ranker by name, in the order of its signature.

    A class that writes its own ``__init__`` says nothing of its parameters here.
    """
    if not is_dataclass(cls):
        return {}
    return {one.name: _completed(one) for one in fields(cls) if one.init and "parameter" in one.metadata}


def _completed(one: Field[Any]) -> Parameter:
    known: Parameter = one.metadata["parameter"]
    words = one.type.__name__ if isinstance(one.type, type) else re.sub(r"[\w.]+\.(?=\w)", "", str(one.type))
    kinds = frozenset(part.strip() for part in re.split(r"\|(?![^\[]*\])", words))
    return Parameter(**{**vars(known), "kinds": kinds})


def describe(cls: type) -> str:
    """The section ``Parameters`` of a class's docstring."""
    lines = ["Parameters", "----------"]
    for name, known in parameters_of(cls).items():
        lines += [name, *(f"    {line}" for line in _wrapped(known.text))]
    return "\n".join(lines)


def _wrapped(text: str, width: int = 112) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def make_dataclass(cls: Any, base: type) -> None:
    """Give a subclass of ``base`` its fields, an ``__init__`` that checks their names, and a docstring with them.

    An ``__init__`` that a user wrote stays, also in what inherits from it.
    """
    writer = next(one for one in cls.__mro__ if "__init__" in one.__dict__)
    is_written = issubclass(writer, base) and not hasattr(writer.__init__, "__wrapped__")
    dataclass(init=not is_written, kw_only=True, eq=False, repr=False)(cls)
    if not is_written:
        cls.__init__ = _with_checked_names(cls.__init__, cls)
    cls.__doc__ = _with_parameters(cls.__doc__, cls)


def _with_parameters(doc: str | None, cls: type) -> str:
    """A docstring with the parameters of the class, before its attributes and examples."""
    text = (doc or "").rstrip()
    if not parameters_of(cls) or re.search(r"^\s*Parameters\n\s*-+", text, re.MULTILINE):
        return text
    lines = [line for line in text.split("\n")[1:] if line]
    indent = " " * min((len(line) - len(line.lstrip()) for line in lines), default=0)  # none since Python 3.13
    section = "\n".join(f"{indent}{line}" if line else "" for line in describe(cls).split("\n"))
    later = re.search(rf"^{indent}(Attributes|Notes|Examples|References)\n{indent}-+", text, re.MULTILINE)
    if later is None:
        return f"{text}\n\n{section}\n{indent}"
    return f"{text[: later.start()]}{section}\n\n{text[later.start() :]}\n{indent}"


def _with_checked_names(init: Callable[..., None], cls: type) -> Callable[..., None]:
    """An ``__init__`` that answers an unknown name with the nearest one, or with the new name of a renamed one."""

    @wraps(init)
    def checked(self: Any, *args: Any, **params: Any) -> None:
        check_names(cls, params)
        if len(args) > sum(not one.kw_only for one in fields(cls) if one.init):
            name = next(iter(parameters_of(cls)), "seed")
            raise ParameterError(f"{cls.__name__} takes its parameters by name, such as {cls.__name__}({name}=...)")
        init(self, *args, **params)

    return checked


def check_names(cls: Any, names: Iterable[str]) -> None:
    """Refuse a name that is no parameter of the class.

    Examples
    --------
    >>> from ordino import RankNet
    >>> RankNet(epoch=3)
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown parameter of RankNet: 'epoch'; did you mean 'epochs'?
    """
    known = [one.name for one in fields(cls) if one.init]
    renamed: Mapping[str, str] = getattr(cls, "renamed", {})
    for name in names:
        if name not in known:
            if name in renamed:
                raise ParameterError(f"{name} of {cls.__name__} is now called {renamed[name]!r}; use that name")
            for ours, others in ELSEWHERE.items():
                if ours in known and name in others.split():
                    raise ParameterError(f"{cls.__name__} has no parameter {name}; it is called {ours!r} here")
            for others, answer in NOT_HERE.items():
                if name in others.split():
                    raise ParameterError(f"{cls.__name__} has no parameter {name}; {answer}")
            if name in PASSED_ON.split() and "options" in known:
                raise ParameterError(
                    f"{cls.__name__} has no parameter {name}; LightGBM gets it by options={{{name!r}: ...}}"
                )
            raise unknown_name(f"parameter of {cls.__name__}:", name, known)


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
