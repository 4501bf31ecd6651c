"""Ordino puts things in order: learning to rank, from judged lists to a ranker in use.

Everything public is importable from here; it is loaded when first used, so that ``import ordino`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset

__version__ = "0.1.0"

_HOME = MappingProxyType(
    {
        "Dataset": "ordino.data.dataset",
    }
)

__all__ = ["Dataset"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ordino' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
