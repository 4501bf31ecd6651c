"""The versions of what Ordino runs on, read from the metadata of packages: nothing is imported for it."""

import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

NEEDED = (
    "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "lightgbm", "cmaes", "safetensors",
    "threadpoolctl", "typer", "rich",
)  # fmt: skip
"""Packages that are always there."""
OPTIONAL = ("pandas", "polars", "torch", "optuna", "altair", "vl-convert-python", "xgboost", "xgboost-cpu", "catboost")
"""Packages that extras bring."""


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """The version of each of these packages that is installed."""
    return {package: found for package in packages if (found := _version(package))}


@cache
def _version(package: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(package)
    return None


def describe_versions(own: str) -> str:
    """What a report of a problem needs: Ordino of this version, Python, machine, packages."""
    lines = [f"ordino {own}", f"python {platform.python_version()}, {platform.system()} {platform.machine()}"]
    lines += [f"{name} {found}" for name, found in installed_versions((*NEEDED, *OPTIONAL)).items()]
    missing = [name for name in OPTIONAL if _version(name) is None]
    if missing:
        lines.append(f"not installed: {', '.join(missing)}")
    return "\n".join(lines)
