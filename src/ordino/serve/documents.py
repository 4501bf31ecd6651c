"""Named features to rows of numbers; missing, unknown and wrong ones are refused by name.

A fast way takes what is right; whatever it stumbles over goes through a slow one, which has the sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.errors import unknown_name
from ordino.serve.model import Model
from ordino.serve.settings import Limits
from ordino.web.answers import RefusedError

NUMBERS = frozenset({float, int})
LARGEST = float(np.nextafter(2.0**128 - 2.0**103, 0))
"""The largest number that does not become infinite in single precision."""
Id = str | int | float
IDS = frozenset({str, int, float})


class Documents(NamedTuple):
    """The documents of one request, in the order of the request."""

    X: NDArray[Any]  # (n_docs, n_features), in the model's order
    ids: Sequence[Id]


@final
@dataclass(frozen=True)
class Asked:
    """What a request wants to know."""

    documents: Documents
    top: int | None = None
    explain: bool = False


def refuse(sentence: str) -> RefusedError:
    """The answer to a request that is wrong."""
    return RefusedError(400, sentence)


def check_rows(n: int, limits: Limits) -> None:
    """Refuse more documents than a request may have."""
    if n > limits.rows:
        raise refuse(f"the request has {n:,} documents but this server takes {limits.rows:,} at a time; send fewer")


def check_ids(ids: Any, n: int) -> Sequence[Id]:
    """One id for each document, numbers from 0 if there are none."""
    if ids is None:
        return range(n)
    if not isinstance(ids, list) or not all(type(one) in IDS for one in ids):
        raise refuse("ids must be a list of texts or numbers, one for each row")
    if len(ids) != n:
        raise refuse(f"there are {len(ids):,} ids but {n:,} rows; give one id for each row")
    return ids


def column_order(features: Any, model: Model) -> list[int] | None:
    """For each column of the model, the column of the request; None if they are the same."""
    if features is None:
        return None
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise refuse("features must be a list of names")
    if tuple(features) == model.names:
        return None
    given = {name: j for j, name in enumerate(features)}
    if len(given) < len(features):
        twice = next(name for j, name in enumerate(features) if given[name] != j)
        raise refuse(f"features has {twice[:100]!r} twice; give each feature once")
    for name in features:
        if name not in model.positions:
            raise refuse(unknown_feature(name, model))
    order = [given.get(name, -1) for name in model.names]
    if -1 in order and not model.takes_nan:
        raise refuse(f"feature {model.names[order.index(-1)]!r} is missing; {_needs(model)}")
    return order


def in_model_order(X: NDArray[Any], order: list[int] | None) -> NDArray[Any]:
    """The columns as the model has them; those that the request leaves out are NaN."""
    if order is None:
        return X
    wider = np.concatenate((X, np.full((len(X), 1), np.nan)), axis=1) if -1 in order else X
    return wider[:, order]


def from_rows(rows: Any, features: Any, model: Model, *, checked: bool = False) -> NDArray[Any]:
    """Rows of numbers, one for each document; ``checked`` rows hold no booleans."""
    if not isinstance(rows, list):
        raise refuse("rows must be a list with one list of numbers for each document")
    order = column_order(features, model)
    width = model.n_features if features is None else len(features)
    X = None if model.categories else matrix_of(rows, checked)
    if X is None or X.shape[1] != width:
        names = list(model.names) if features is None else features
        X = np.array([_slow_row(row, number, names, model) for number, row in enumerate(rows)], np.float64)
        X = X.reshape(len(rows), width)
    return in_model_order(X, order)


def matrix_of(rows: list[Any], checked: bool) -> NDArray[Any] | None:
    """Lists of numbers as a matrix, if they all are; without ``checked``, each value is looked at."""
    try:
        if not checked and not set(map(type, chain.from_iterable(rows))) <= NUMBERS:
            return None
        X = np.array(rows)
    except (ValueError, TypeError, OverflowError):
        return None
    return X if X.ndim == 2 and X.dtype.kind in "fiu" else None


def _slow_row(row: Any, number: int, names: list[str], model: Model) -> list[float]:
    if not isinstance(row, list):
        raise refuse(f"row {number} is no list; give a list of numbers for each document")
    if len(row) != len(names):
        raise refuse(f"row {number} has {len(row):,} values but there are {len(names):,} features; give one for each")
    return [value_of(value, name, f"row {number}", model) for name, value in zip(names, row, strict=True)]


def from_items(items: Any, model: Model, *, checked: bool = False) -> Documents:
    """Items such as ``{"id": "d7", "features": {"bm25": 7.5, "age": 3}}``."""
    if not isinstance(items, list):
        raise refuse("items must be a list with one object for each document")
    try:
        rows = [item["features"] for item in items]
        if (
            model.n_features > 1
            and not model.categories
            and set(map(len, rows)) == {model.n_features}
            and set(map(len, items)) <= {1, 2}
        ):
            X = matrix_of(list(map(itemgetter(*model.names), rows)), checked)
            ids = [item["id"] for item in items] if len(items[0]) == 2 else range(len(items))
            if X is not None and set(map(type, ids)) <= IDS and len({*map(len, items)}) == 1:
                return Documents(X, ids)
    except (KeyError, TypeError, IndexError, AttributeError):
        pass
    X = np.array([_slow_item(item, number, model) for number, item in enumerate(items)], np.float64)
    ids = [item.get("id", number) for number, item in enumerate(items)]
    return Documents(X.reshape(len(items), model.n_features), ids)


def _slow_item(item: Any, number: int, model: Model) -> list[float]:
    if not isinstance(item, dict):
        raise refuse(f'item {number} is no object; give {{"id": ..., "features": {{...}}}}')
    for key in item:
        if key not in ("id", "features"):
            raise refuse(f"item {number} has {str(key)[:100]!r}, which is neither id nor features; leave it out")
    if type(item.get("id", number)) not in IDS:
        raise refuse(f"item {number}: the id must be a text or a number")
    where = f"item {item.get('id', number)!r}"[:120]
    features = item.get("features")
    if not isinstance(features, dict):
        raise refuse(f"{where} has no features; give them by name, as an object")
    for name in features:
        if name not in model.positions:
            raise refuse(f"{where}: {unknown_feature(name, model)}")
    if not model.takes_nan:
        for name in model.names:
            if name not in features:
                raise refuse(f"{where} has no feature {name!r}; {_needs(model)}")
    return [value_of(features.get(name), name, where, model) for name in model.names]


def value_of(value: Any, name: str, where: str, model: Model) -> float:
    """A number, NaN for null where the model takes it, or the number of a category."""
    if name in model.categories:
        if value is None or isinstance(value, str):
            texts = model.categories[name]
            return texts.index(value) if value in texts else np.nan
        raise refuse(f"{where}: feature {name!r} is categorical; give its category as text, or null")
    if value is None and model.takes_nan:
        return np.nan
    if value is None:
        raise refuse(f"{where}: feature {name!r} is null; {_needs(model)}")
    if type(value) not in NUMBERS:
        raise refuse(f"{where}: feature {name!r} is {str(value)[:50]!r}, which is no number")
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if abs(number) > LARGEST:
        raise refuse(f"{where}: feature {name!r} is {str(value)[:50]}, which float32 cannot hold; rescale it")
    return number


def unknown_feature(name: Any, model: Model) -> str:
    """The sentence for a feature that the model does not have."""
    text = str(unknown_name("feature", str(name)[:100], model.names))
    return text if len(text) < 300 else f"unknown feature {str(name)[:100]!r}; see /v1/models/{model.name}"


def _needs(model: Model) -> str:
    return f"model {model.name!r} needs a number for every feature"
