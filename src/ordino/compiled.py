"""numba, started quickly: what its start loads for nothing is loaded when it is needed.

To know whether compiled code may multiply matrices, numba imports ``scipy.linalg`` as it starts, a third of a second
that measuring a ranking does not need. Here an empty module stands in for the one that numba looks for, while it looks;
compiled code that does multiply matrices imports the real one later. Where scipy is loaded already, nothing is done.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_ASKED_FOR = "scipy.linalg.cython_blas"

if "scipy.linalg" not in sys.modules and find_spec("scipy") is not None:
    sys.modules[_ASKED_FOR] = ModuleType(_ASKED_FOR)
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[_ASKED_FOR]

from numba import njit as njit  # noqa: E402  (only now)
