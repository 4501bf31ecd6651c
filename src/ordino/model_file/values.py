"""Python values as JSON and arrays, and back: numbers, texts, collections, arrays, records, estimators.

What JSON has is written as it is; everything else is an object with one telling key, such as ``{"tuple": [1, 2]}`` or
``{"array": "layers_.0.W"}``. Arrays are called by where they stand in the model.
"""

import math
import re
from collections import UserList
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.errors import ModelFileError
from ordino.model_file.classes import (
    ESTIMATORS,
    PLAIN_RECORDS,
    PRIVATE,
    RECORDS,
    find_class,
    present_learned,
    present_params,
)

LONG = 2000  # characters from which on a text is kept as an array of bytes: LightGBM's trees
_LEARNED = re.compile(r"[A-Za-z]\w*_")


@final
class Encoder:
    """Turns values into JSON and gathers their arrays.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode({"a": (1, None), "b": np.zeros(2)}, "x")
    {'dict': {'a': {'tuple': [1, None]}, 'b': {'array': 'x.b'}}}
    >>> encoder.arrays
    {'x.b': array([0., 0.])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value; ``where`` is its place, the name of its arrays."""
        if isinstance(value, str):
            if len(value) <= LONG:
                return str(value)
            return {"text": self._keep(where, np.frombuffer(value.encode(), np.uint8))}
        if isinstance(value, np.ndarray | np.generic):  # before float, since numpy's double is one
            return self._array(value, where)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).str}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if hasattr(value, "get_params"):
            return self.estimator(value, where)
        if is_dataclass(value) or hasattr(value, "_fields"):
            return self._record(value, where)
        if isinstance(value, UserList):  # as scikit-learn 1.6 has the remaining columns
            value = value.data
        if isinstance(value, list | tuple):
            items = [self.encode(item, f"{where}.{i}") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.encode(item, f"{where}.{key}") for key, item in value.items()}}
        raise ModelFileError(f"{where} is a {type(value).__name__}, which a model file cannot hold")

    def estimator(self, value: Any, where: str) -> dict[str, Any]:
        """A ranker, scaler or pipeline: its class, its parameters, and what it learned."""
        from ordino.ranker import Ranker

        name = type(value).__name__
        if name in ESTIMATORS and find_class(ESTIMATORS, name) is not type(value):
            raise ModelFileError(f"your class cannot be called {name}, the name of an Ordino class; rename it")
        if name not in ESTIMATORS and not isinstance(value, Ranker):
            others = ", ".join(sorted(name for name, home in ESTIMATORS.items() if home.startswith("sklearn.")))
            raise ModelFileError(
                f"{where or name} is a {name}, which a model file cannot hold; before a ranker it may have Ordino's "
                f"OneHot and scalers, and of scikit-learn {others}"
            )
        dot = f"{where}." if where else ""
        learned = {
            key: item for key, item in vars(value).items() if _LEARNED.fullmatch(key) or key in PRIVATE.get(name, ())
        }
        unsaved = getattr(value, "unsaved", ())
        params = {
            key: {"unsaved": key} if key in unsaved else self.encode(item, dot + key)
            for key, item in value.get_params(deep=False).items()
        }
        return {
            "estimator": name,
            "params": params,
            "learned": {key: self.encode(item, dot + key) for key, item in learned.items()},
        }

    def _record(self, value: Any, where: str) -> dict[str, Any]:
        name = type(value).__name__
        if name not in RECORDS or find_class(RECORDS, name) is not type(value):
            raise ModelFileError(f"{where} is a {name}, which a model file cannot hold")
        return {
            "record": name,
            "fields": {key: self.encode(getattr(value, key), f"{where}.{key}") for key in _field_names(type(value))},
        }

    def _array(self, value: NDArray[Any] | np.generic, where: str) -> dict[str, Any]:
        kind = value.dtype.kind
        if kind in "OU" and np.ndim(value) == 1 and all(isinstance(item, str) for item in np.asarray(value)):
            return {"strings": value.tolist(), "kind": kind}
        if kind not in "biuf" or value.dtype.itemsize > 8:
            raise ModelFileError(f"{where} is an array of {value.dtype}, which a model file cannot hold")
        if isinstance(value, np.generic):
            return {"number": self._keep(where, np.atleast_1d(value))}
        is_fortran = value.flags.f_contiguous and not value.flags.c_contiguous  # matrix products round by memory order
        return {"array": self._keep(where, value)} | ({"order": "F"} if is_fortran else {})

    def _keep(self, where: str, array: NDArray[Any]) -> str:
        native = array.dtype.newbyteorder("=")
        self.arrays[where] = np.ascontiguousarray(array, native).reshape(array.shape)
        return where


@final
class Decoder:
    """Turns what :class:`Encoder` wrote back into values.

    ``own`` are the user's ranker classes, and ``given`` what takes the place of parameters that a file does not hold.
    """

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], own: Sequence[type] = (), given: Mapping[str, Any] | None = None
    ) -> None:
        self._arrays = arrays
        self._own = own
        self._given = given or {}
        self.used: set[str] = set()
        self._kinds: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
            "float": lambda text, _: _number(text),
            "text": lambda name, _: self._array(name).tobytes().decode(),
            "dtype": lambda text, _: _dtype(text),
            "slice": lambda items, _: slice(*items),
            "tuple": lambda items, _: tuple(self.decode(item) for item in items),
            "dict": lambda items, _: {key: self.decode(item) for key, item in items.items()},
            "array": self._ordered,
            "number": lambda name, _: self._array(name)[0],
            "strings": lambda items, given: np.array(items, dtype=object if given["kind"] == "O" else str),
            "record": self._record,
            "estimator": self._estimator,
            "unsaved": lambda name, _: self._unsaved(name),
        }

    def decode(self, value: Any) -> Any:
        """The value of a piece of JSON; anything that no encoder writes is refused."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = next(iter(value), "")
        if kind not in self._kinds:
            raise ModelFileError(f"the model has a value of the unknown type {kind!r}; get the file again")
        return self._kinds[kind](value[kind], value)

    def _array(self, name: Any) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self._arrays:
            raise ModelFileError(f"the model names an array {name!r} that is not in the file; get it again")
        return self._arrays[name]

    def _ordered(self, name: Any, given: Mapping[str, Any]) -> NDArray[Any]:
        array = self._array(name)
        return np.asfortranarray(array) if given.get("order") == "F" else array

    def _unsaved(self, name: Any) -> Any:
        if name not in self._given:
            advice = f"load it in Python with ordino.load(path, {name}=...)"
            raise ModelFileError(f"it scores with code of yours, which no file holds; {advice}")
        self.used.add(name)
        return self._given[name]

    def _record(self, name: Any, given: Mapping[str, Any]) -> Any:
        values = {key: self.decode(item) for key, item in given["fields"].items()}
        if name in PLAIN_RECORDS:
            return values
        cls = find_class(RECORDS, name)
        if set(values) != set(_field_names(cls)):
            raise ModelFileError(f"the model has a {name} with unknown fields; upgrade ordino")
        return cls(**values)

    def _estimator(self, name: Any, given: Mapping[str, Any]) -> Any:
        cls = find_class(ESTIMATORS, name, self._own)
        params = present_params(cls, {key: self.decode(item) for key, item in given["params"].items()})
        strange = set(params) - set(signature(cls).parameters)
        if strange:
            raise ModelFileError(f"{name} has no parameter {min(strange)!r} in this version; upgrade ordino")
        for key in given["learned"]:
            if not _LEARNED.fullmatch(key) and key not in PRIVATE.get(name, ()):
                raise ModelFileError(f"{name} cannot have learned {key!r}; get the file again")
        made = cls(**params)
        learned = {key: self.decode(item) for key, item in given["learned"].items()}
        for key, value in present_learned(learned).items():
            setattr(made, key, value)
        return made


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else cls._fields


def _number(text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ModelFileError(f"the model has the invalid number {text!r}; get the file again")
    return float(text)


def _dtype(text: Any) -> np.dtype[Any]:
    if not isinstance(text, str) or not re.fullmatch(r"[<>=|]?[biufO][1248]?", text):
        raise ModelFileError(f"the model has the invalid number type {text!r}; get the file again")
    return np.dtype(text)
