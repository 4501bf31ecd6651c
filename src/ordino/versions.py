"""The version of Ordino, and those of what it runs on, read from the metadata of packages: none is imported for it."""

from collections.abc import Iterable
from functools import cache

__version__ = "0.2.0"

NEEDED = (
    "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "lightgbm", "cmaes", "safetensors",
    "threadpoolctl", "typer", "rich",
)  # fmt: skip
"""Packages that are always there."""
OPTIONAL = (
    "pandas", "polars", "torch", "optuna", "onnx", "onnxruntime", "ray", "altair", "vl-convert-python", "jinja2",
    "starlette", "uvicorn", "httptools", "uvloop", "orjson", "pysimdjson", "msgpack",
    "xgboost", "xgboost-cpu", "catboost",
)  # fmt: skip
"""Packages that extras bring."""
INSTEAD = {"xgboost": "xgboost-cpu", "xgboost-cpu": "xgboost"}
"""Packages that are the same library, of which one is enough."""


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """The version of each of these packages that is installed."""
    return {package: found for package in packages if (found := _version(package))}


@cache
def _version(package: str) -> str | None:
    if package == "ordino":  # whether it is installed or not
        return __version__
    from importlib.metadata import PackageNotFoundError, version  # which take longer than `import ordino`

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def describe_versions() -> str:
    """What a report of a problem needs: Ordino, Python, machine, packages."""
    import platform

    lines = [f"ordino {__version__}", f"python {platform.python_version()}, {platform.system()} {platform.machine()}"]
    lines += [f"{name} {found}" for name, found in installed_versions((*NEEDED, *OPTIONAL)).items()]
    missing = [name for name in OPTIONAL if not _version(name) and not _version(INSTEAD.get(name, name))]
    if missing:
        lines.append(f"not installed: {', '.join(missing)}")
    return "\n".join(lines)
