"""Every exception that Ordino raises on purpose.

::

    OrdinoError
    ├── DataError (ValueError)         the data cannot be what it claims to be
    │   ├── WrongKindError (TypeError)  values that are no numbers at all
    │   ├── LetorFormatError           a line of a LETOR file, named by file:line
    │   └── NoQueriesError             rows of a file whose queries nobody named
    ├── ParameterError (ValueError)    a name or value that is not allowed
    ├── ModelFileError (ValueError)    a model that cannot be saved, or a file that is no model
    ├── ExportError (ValueError)       a ranker that a search engine cannot hold
    ├── MissingExtraError (ImportError)  an optional package is not installed
    └── FailedTrialsError              of an experiment; it has the trials that did not fail

Each message is one sentence: where, what is wrong; what is allowed or what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType

from ordino.interrupts import held_back


class OrdinoError(Exception):
    """Anything that Ordino refuses to do, with the reason in one sentence."""


class DataError(OrdinoError, ValueError):
    """Data that cannot be what it claims to be."""


class WrongKindError(DataError, TypeError):
    """Values of a kind that cannot be numbers; scikit-learn's tools expect a TypeError of them."""


class LetorFormatError(DataError):
    """A line of a LETOR / SVMlight file that cannot be read; the message starts with ``file:line``."""


class NoQueriesError(DataError):
    """Rows of a file whose queries nobody named: they would be ranked against each other as one list."""


class ParameterError(OrdinoError, ValueError):
    """A parameter whose name or value is not allowed."""


class ModelFileError(OrdinoError, ValueError):
    """A model that cannot be saved, or a file that cannot be loaded as one."""


class ExportError(OrdinoError, ValueError):
    """A ranker that the format of a search engine cannot hold exactly."""


class MissingExtraError(OrdinoError, ImportError):
    """A feature was asked for whose optional package is not installed."""


class NothingToLearnWarning(UserWarning):
    """Data from which no ranker can learn: every row is a query of its own, or no query has two different labels."""


def unknown_name(kind: str, name: object, allowed: Iterable[str]) -> ParameterError:
    """Make the error for a name that is not in a table, offering the nearest one.

    Examples
    --------
    >>> print(unknown_name("metric", "ndgc@10", ["ndcg@10", "map"]))
    unknown metric 'ndgc@10'; did you mean 'ndcg@10'?
    >>> print(unknown_name("scaling", 7, ["zscore", "minmax"]))
    unknown scaling 7; choose from: minmax, zscore
    """
    choices = sorted(allowed)
    near = get_close_matches(name, choices, n=1) if isinstance(name, str) else []
    hint = f"did you mean {near[0]!r}?" if near else f"choose from: {', '.join(choices)}"
    return ParameterError(f"unknown {kind} {name!r}; {hint}")


def import_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, whole even if Ctrl-C is pressed meanwhile, or say which extra brings it.

    Examples
    --------
    >>> import_extra("no_such_package", extra="frames", purpose="to_frame()")
    Traceback (most recent call last):
    ordino.errors.MissingExtraError: to_frame() needs no_such_package; install it with: pip install 'ordino[frames]'
    """
    try:
        with held_back():
            return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{purpose} needs {module}; install it with: pip install 'ordino[{extra}]'") from error
