"""The one door to numba: started quickly, cached wherever that is possible, and a word to those who wait for it.

To know whether compiled code may multiply matrices, numba imports ``scipy.linalg`` as it starts, a third of a second
that measuring a ranking does not need. Here an empty module stands in for the one that numba looks for, while it looks;
compiled code that does multiply matrices imports the real one later. Where scipy is loaded already, nothing is done.

While numba compiles, the garbage collector is off: it would look through all that was imported again and again, which
takes a tenth of the time. What an operator gives for operands of some types is remembered, which saves another tenth:
numba would find it out anew at every place. What np.sort and np.argsort cost inside a kernel is over a second of
compiling: kernels leave them to numpy, or merge.
"""

import gc
import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_ASKED_FOR = "scipy.linalg.cython_blas"

if "scipy.linalg" not in sys.modules and find_spec("scipy") is not None:
    sys.modules[_ASKED_FOR] = ModuleType(_ASKED_FOR)
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[_ASKED_FOR]

import numba  # noqa: E402  (only now)
from numba.core import event, types  # noqa: E402

INNER: Mapping[str, Any] = {
    "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "fastmath": False,
    "_nrt": False,
}  # fmt: skip
"""Options of a function that only other kernels call.

How its sums are rounded is said here: numba would else take it from the kernel that happens to be compiled first.
Nobody counts references to its arrays (``_nrt``): whoever calls a kernel holds them. That takes less time to compile,
and half the time of a call.
"""

REORDERED: Mapping[str, Any] = {**INNER, "fastmath": {"reassoc", "nsz", "contract"}, "forceinline": True}
"""Options of such a function whose sums may be taken in lanes; NaN and infinity stay what they are.

It is always inlined: a copy of its own would be optimized otherwise, and a first run would round otherwise than later
ones, which load the caller from the cache.
"""

OUTER: Mapping[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "fastmath": False, "_nrt": False,
}  # fmt: skip
"""Options of a kernel that Python calls."""

ALLOCATING: Mapping[str, Any] = {"_nrt": True}
"""Options to put on top where a function makes arrays: without them it does not compile."""

OPEN: Any = None
"""What a template leaves open until :func:`specialize` binds it."""

WORTH_A_WORD = 1.0  # seconds of compiling, after which whoever waits at a terminal gets a message

_NO_PLACE = "no locator available"  # what numba says where it finds no folder for its cache


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function as numba's does; only the choice of the cache's folder is our own.

    Where neither the folder of the source nor a home can be written, compiled code is kept in a temporary folder that
    only this user can write; where that is not possible either, nothing is kept, and a warning says so.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        if not (options.get("cache") and _cache.usable):
            return numba.njit(**(options | {"cache": False}))(function)
        try:
            return _stamped(numba.njit(**options)(function))
        except RuntimeError as error:
            if _NO_PLACE not in str(error):
                raise
        if not _cache.fall_back():
            return numba.njit(**(options | {"cache": False}))(function)
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, _cache.folder
        try:
            return _stamped(numba.njit(**options)(function))
        finally:
            config.CACHE_DIR = before

    return compiled


def specialize(template: Callable[..., Any], name: str, options: Mapping[str, Any], **names: Any) -> Any:
    """A kernel with the code of ``template``, in which ``names`` are bound: functions it calls, constants it reads.

    numba does not find a closure over compiled functions in its cache again. It does find this one, by its ``name``.

    Examples
    --------
    >>> def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += change(value)
    ...     return result
    >>> double = njit()(lambda value: 2 * value)
    >>> specialize(total, "total_of_doubles", {}, change=double)((1.0, 2.0))
    6.0
    """
    assert isinstance(template, FunctionType)
    copy = FunctionType(template.__code__, template.__globals__ | names, name, template.__defaults__)
    copy.__qualname__, copy.__module__, copy.__doc__ = name, template.__module__, template.__doc__
    return njit(**options)(copy)


def kept_in() -> str | None:
    """The folder in which compiled code is kept from now on; None if it is kept nowhere."""
    kept = njit(cache=True)(_probe).stats.cache_path
    return None if kept is None else str(kept)


def _probe() -> None:
    """Never called: where numba would keep its code is where it keeps all."""


def _stamped(kernel: Any) -> Any:
    """Let a change of any kernel file outdate what is cached; numba looks at the function's own file alone."""
    entry: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(entry, "_source_stamp"):
        entry._source_stamp = _STAMP
    return kernel


_STAMP = tuple(
    (path.name, path.stat().st_mtime_ns, path.stat().st_size)
    for path in sorted(Path(__file__).parent.rglob("*kernels.py"))
)


class _Cache:
    """Where compiled code is kept if not where numba would keep it."""

    def __init__(self) -> None:
        self.usable = True
        self.folder = ""

    def fall_back(self) -> bool:
        """Make the temporary folder, once; whether there is one that nobody else can write."""
        if not self.folder:
            try:
                folder = Path(tempfile.gettempdir()) / f"ordino-compiled-{getattr(os, 'getuid', str)()}"
                folder.mkdir(mode=0o700, exist_ok=True)
                found = folder.lstat()
                owned = not hasattr(os, "getuid") or found.st_uid == os.getuid()
                self.usable = stat.S_ISDIR(found.st_mode) and owned and not stat.S_IMODE(found.st_mode) & 0o022
                self.folder = str(folder)
            except OSError:
                self.usable = False
            if not self.usable:
                warnings.warn(
                    "no cache folder is writable, so every run compiles anew; set NUMBA_CACHE_DIR to one that is",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return self.usable


class _Remembered:
    """What numba's own functions give for arguments of some types, while one of our kernels is compiled."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.numbas: Any = types.Function
        self.ask = self.numbas.get_call_type

    def install(self) -> None:
        """Ask numba once for each function and types of arguments."""

        def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
            if kws or not isinstance(args, tuple):  # as some of numba's own steps ask
                return self.ask(function, context, args, kws)
            if (function, args) not in self.known:
                self.known[function, args] = self.ask(function, context, args, kws)
            return self.known[function, args]

        self.numbas.get_call_type = get_call_type

    def remove(self) -> None:
        """Leave numba as it was, and forget."""
        self.numbas.get_call_type = self.ask
        self.known.clear()


class _Compiling(event.Listener):
    """Turns the garbage collector off, and tells whoever waits at a terminal, once, why it takes so long."""

    def __init__(self, *, at_terminal: bool) -> None:
        self.depth, self.since, self.collected, self.remembered = 0, 0.0, True, _Remembered()
        self.waited = 0.0 if at_terminal else float("-inf")

    def on_start(self, begun: Any) -> None:
        if self.depth == 0:
            self.since, self.collected = time.perf_counter(), gc.isenabled()
            gc.disable()
            if begun.data["dispatcher"].py_func.__module__.partition(".")[0] == __package__:
                self.remembered.install()
        self.depth += 1
        self._tell(time.perf_counter() - self.since)

    def on_end(self, _: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.remembered.remove()
            if self.collected:
                gc.enable()
            self.waited += time.perf_counter() - self.since
            self._tell(0.0)

    def _tell(self, more: float) -> None:
        if self.waited + more < WORTH_A_WORD:
            return
        self.waited = float("-inf")
        often = "once; later runs load them from the cache" if _cache.usable else "as in every run without a cache"
        print(f"ordino: compiling its kernels, {often}", file=sys.stderr, flush=True)


_cache = _Cache()
_compiling = _Compiling(at_terminal=sys.stderr is not None and sys.stderr.isatty())
event.register("numba:compile", _compiling)  # type: ignore[no-untyped-call]
