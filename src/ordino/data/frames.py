"""Features from frames: columns of numbers as one matrix, columns of categories as the numbers of their categories.

A category is its text. The categories of a column are those that occur, sorted, so that neither their order in the
frame nor categories that no row has change what is learned. A missing value, or a category that was not in training, is
NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.columns import Features, as_feature_names, as_features, column_names
from ordino.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

    from ordino.data.dataset import Dataset

Categories = Mapping[str, tuple[str, ...]]
"""By the name of a categorical feature, its categories; the feature's values are positions among them."""

LEAVE_OUT = "leave it out"


class Table(NamedTuple):
    """Features with what is known of their columns."""

    X: Features
    names: tuple[str, ...] | None
    categories: Categories


def read_features(
    X: ArrayLike, names: Sequence[str] | None = None, categories: Mapping[str, Sequence[str]] | None = None,
    *, has_text: bool = False,
) -> Table:  # fmt: skip
    """Features of an array, a sparse matrix or a frame.

    ``categories`` are those of columns of a frame that are text or categories, or of columns of an array that hold the
    numbers of categories; with ``has_text``, every column of text is taken as one of categories.
    """
    given = column_names(X)
    names = given if names is None else names
    if not (_has_other_columns(X) or (hasattr(X, "columns") and categories)):
        features = as_features(X, names)
        unique = as_feature_names(names, features.shape[1])
        return Table(features, unique, check_codes(features, unique, categories or {}))
    table = as_table(X)
    found = encode(table, table.columns, categories, has_text=has_text)
    known = as_feature_names(found.names if names is None and found.categories else names, found.X.shape[1])
    called = dict(zip(found.names or (), known or (), strict=False))  # a categorical column by its name as a feature
    return found._replace(names=known, categories={called[name]: texts for name, texts in found.categories.items()})


QUERY_NAMES = ("query", "query_id", "queryid", "q_id", "group_id", "session_id", "search_id", "srch_id")
"""What columns of query ids are called elsewhere."""


def find_queries(columns: Iterable[str]) -> str | None:
    """The column of query ids among those that have no other role: the one called qid, or None if there is none.

    Examples
    --------
    >>> find_queries(["bm25", "qid"]), find_queries(["bm25", "age"])
    ('qid', None)
    >>> find_queries(["bm25", "srch_id"])
    Traceback (most recent call last):
    ordino.errors.DataError: column 'srch_id' would be a feature; name it with qid=, or choose others with features=
    """
    known = list(columns)
    if "qid" in known:
        return "qid"
    if taken := next((column for column in known if column.lower() in QUERY_NAMES), None):
        raise DataError(f"column {taken!r} would be a feature; name it with qid=, or choose others with features=")
    return None


def _has_other_columns(X: Any) -> bool:
    """Whether X is a frame with columns that are no plain numbers; those of plain numbers are read at once."""
    if not hasattr(X, "columns") or hasattr(X, "toarray"):
        return False
    kinds = getattr(X, "dtypes", None)
    return kinds is None or not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds)


def as_table(frame: Any) -> nw.DataFrame[Any]:
    """A frame of any library, with columns that can be told apart."""
    import narwhals as nw

    is_lazy = hasattr(frame, "collect")  # and would resolve its columns first
    names = [] if is_lazy else list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise DataError(f"the frame has two columns called {twice[0]!r}; rename one of them")
    try:
        table: Any = nw.from_native(frame)
    except TypeError:
        kind = type(frame).__name__
        raise DataError(f"a {kind} is not a frame; give a pandas or polars frame or an Arrow table") from None
    if isinstance(table, nw.LazyFrame):
        raise DataError("the frame is lazy; call its collect() (or compute()) first")
    found: nw.DataFrame[Any] = table
    return found


def encode(
    table: nw.DataFrame[Any], columns: Sequence[str], known: Mapping[str, Sequence[str]] | None = None,
    *, has_text: bool = False, otherwise: str = LEAVE_OUT,
) -> Table:  # fmt: skip
    """These columns as a C-ordered matrix; ``otherwise`` is what else can be done about a column that is refused."""
    series = {name: table.get_column(name) for name in columns}
    kinds = {name: _kind(column) for name, column in series.items()}
    known = known or {}
    for kind in dict.fromkeys(kinds.values()):
        refused = [name for name in columns if kinds[name] == kind and str(name) not in known]
        if refused and not (kind in ("numbers", "categories") or (has_text and kind == "text")):
            raise DataError(_refusal(refused, kind, otherwise))
    matrix = np.empty((len(table), len(columns)), np.float32)
    categories: dict[str, tuple[str, ...]] = {}
    for j, (name, column) in enumerate(series.items()):
        if kinds[name] == "numbers" and str(name) in known:
            raise DataError(
                f"column {name!r} holds numbers but has categories; give it as a column of text or categories"
            )
        if kinds[name] != "numbers":
            matrix[:, j], categories[str(name)] = _codes(column, known.get(str(name)))
            continue
        with np.errstate(over="ignore"):
            matrix[:, j] = as_floats(column)
        if (infinite := np.isinf(matrix[:, j])).any():
            row = int(infinite.argmax())
            fix = "rescale it, or use null for missing"
            raise DataError(f"column {name!r} has {column[row]} in row {row}, which float32 cannot hold; {fix}")
    return Table(matrix, tuple(map(str, columns)), categories)


def _refusal(names: Sequence[str], kind: str, otherwise: str) -> str:
    listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    what = f"column {listed} is {kind}" if len(names) == 1 else f"columns {listed} are {kind}"
    if kind != "text":
        return f"{what}; make numbers of it, or {otherwise}"
    each = "it" if len(names) == 1 else "them"
    way = f"make {each} categorical" if otherwise == LEAVE_OUT else f"name {each} in categories="
    return f"{what}; {way}, which LambdaMART can use and ordino.OneHot() turns into numbers for others, or {otherwise}"


def _kind(column: nw.Series[Any]) -> str:
    """What a column holds: numbers, categories, text, or the name of its type."""
    if is_number(column):
        return "numbers"
    name = str(column.dtype)
    if name.startswith(("Categorical", "Enum")):
        return "categories"
    return "text" if name in ("String", "Object") else name


def is_number(column: nw.Series[Any]) -> bool:
    """Whether a column holds numbers or booleans."""
    return column.dtype.is_numeric() or str(column.dtype) == "Boolean"


def as_floats(column: nw.Series[Any]) -> NDArray[Any]:
    """The numbers of a column, nulls as NaN."""
    import narwhals as nw

    is_other = column.dtype.is_decimal() or str(column.dtype).endswith("128")  # what numpy does not have
    try:
        numbers = (column.cast(nw.Float64) if is_other or column.null_count() else column).to_numpy()
    except Exception:  # of the frame's library: integers that doubles do not hold exactly, or of 128 bits
        numbers = np.array([None])
    if numbers.dtype.kind in "biuf":
        return numbers
    return np.array([np.nan if value is None else float(value) for value in column.to_list()])


def _codes(column: nw.Series[Any], known: Sequence[str] | None) -> tuple[Features, tuple[str, ...]]:
    """The number of each row's category, and the categories: those that are known, or else those that occur."""
    is_null = column.is_null().to_list()
    texts = [None if null else str(value) for value, null in zip(column.to_list(), is_null, strict=True)]
    categories = tuple(sorted({text for text in texts if text is not None}) if known is None else known)
    number = numbers_in(categories)
    return np.array([np.nan if text is None else number(text) for text in texts], np.float32), categories


def numbers_in(categories: Sequence[str]) -> Callable[[str], float]:
    """What gives a category its number, or NaN if it is not among these.

    Codes and booleans are the same category however a library writes them: a column of 1 and 2 that has a missing
    value is one of 1.0 and 2.0 to pandas, and True is true to others.

    Examples
    --------
    >>> numbers_in(["1", "2"])("2.0"), numbers_in(["false", "true"])("True"), numbers_in(["2", "2.0"])("2.0")
    (1, 1, 1)
    """
    exact = {text: number for number, text in enumerate(categories)}
    spelled = {_spelled(text): number for text, number in reversed(exact.items())}
    return lambda text: exact.get(text, spelled.get(_spelled(text), np.nan))


def _spelled(text: str) -> str:
    """A category that is a whole number or a boolean, spelled in one way."""
    if text in ("True", "False"):
        return text.lower()
    return text[:-2] if text.endswith(".0") and text[:-2].removeprefix("-").isdigit() else text


def check_no_categories(categories: Categories, who: str) -> None:
    """Refuse categorical columns, for those who would take the numbers of categories for amounts."""
    for name in categories:
        fix = "put ordino.OneHot() before it in a pipeline, or use LambdaMART, which takes categories as they are"
        raise DataError(f"column {name!r} is categorical, which {who} cannot use; {fix}")


def check_codes(X: Features, names: Sequence[str] | None, categories: Mapping[str, Sequence[str]]) -> Categories:
    """The categories, if every value of their columns is the number of one."""
    for name, texts in categories.items():
        if names is None or name not in names:
            raise DataError(f"categories has {name!r}, which is not the name of a feature; give feature_names")
        column = X[:, list(names).index(name)]
        values = column[~np.isnan(column)]
        outside = values[(values < 0) | (values >= len(texts)) | (values != np.floor(values))]
        if len(outside):
            raise DataError(f"column {name!r} has {outside[0]:g}, but its {len(texts)} categories are numbered from 0")
    return {name: tuple(texts) for name, texts in categories.items()}


def joint_categories(several: Sequence[Categories]) -> Categories:
    """The categories of several parts of the same data: those of a part that has all, or all in alphabetical order.

    Examples
    --------
    >>> joint_categories([{"color": ("red", "blue")}, {"color": ("red", "green")}])
    {'color': ('blue', 'green', 'red')}
    """
    joint: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(name for one in several for name in one):
        given = [one[name] for one in several if name in one]
        texts = {text for own in given for text in own}
        joint[name] = next((own for own in given if texts == set(own)), tuple(sorted(texts)))
    return joint


def recode(data: Dataset, known: Categories) -> Dataset:
    """The data with the numbers that categories had in training; others become NaN."""
    for name in data.categories.keys() - known.keys():
        raise DataError(f"column {name!r} is categorical but held numbers in fit; give it as in fit")
    for name in known.keys() - data.categories.keys():
        raise DataError(
            f"column {name!r} was categorical in fit but holds numbers; give a frame in which it is text or categorical"
        )
    if data.categories == known:
        return data
    X, names = data.X.copy(), data.feature_names or ()
    for name, texts in known.items():
        column = X[:, names.index(name)]
        moved = np.array([*map(numbers_in(texts), data.categories[name]), np.nan], np.float32)
        column[:] = moved[np.where(np.isnan(column), len(moved) - 1, column).astype(np.intp)]
    return data.replace_features(X, data.feature_names, categories=known)
