"""What others depend on, a line each: names, signatures, parameters, commands, options, metrics, profiles and the like.

``python tools/surface.py`` (or ``make surface``) writes ``tests/surface.txt`` anew; a test compares the two, and holds
that a change of the file comes with a line in CHANGELOG.md. Lines are sorted, so that two branches can add theirs.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
FILE = HOME / "tests" / "surface.txt"
TABLES: Mapping[str, str] = {
    "ending": "ordino.data.files:ENDINGS",
    "loss": "ordino.losses:LOSSES",
    "metric": "ordino.metrics:METRICS",
    "peer": "ordino.rankers:PEERS",
    "profile": "ordino.metrics:PROFILES",
    "ranker": "ordino.rankers:RANKERS",
    "scaling": "ordino.data.scaling:SCALERS",
    "test": "ordino.experiment.compare.significance:TESTS",
}
"""What is chosen by name."""


def surface() -> list[str]:
    """All lines."""
    return sorted({*_names(), *_documented(), *_parameters(), *_commands(), *_choices()})


def _names() -> Iterator[str]:
    import ordino

    for name in ordino.__all__:
        yield f"name ordino.{name}{_signature(getattr(ordino, name))}"


def _documented() -> Iterator[str]:
    """The objects on the pages of the API reference, with the methods of classes."""
    for page in sorted((HOME / "docs" / "api").rglob("*.md")):
        for path in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            found = _resolve(path)
            if inspect.ismodule(found):
                continue
            yield f"documented {path}{_signature(found)}"
            if inspect.isclass(found):
                own = {name: one for cls in reversed(_ours(found)) for name, one in vars(cls).items()}
                for name, member in own.items():
                    if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, classmethod)):
                        yield f"documented {path}.{name}{_signature(getattr(found, name))}"


def _ours(cls: type) -> list[type]:
    return [one for one in cls.__mro__ if one.__module__.startswith("ordino")]


def _resolve(path: str) -> Any:
    """The module, class or function of a dotted path."""
    module, _, name = path.rpartition(".")
    try:
        return import_module(path)
    except ModuleNotFoundError:
        return getattr(_resolve(module), name)


def _signature(thing: Any) -> str:
    """Its parameters without annotations; defaults that are neither numbers nor texts as dots."""
    if not callable(thing):
        return ""
    try:
        known = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    plain = [one.replace(annotation=one.empty, default=one.default if _is_plain(one.default) else ...) for one in known]
    return re.sub(r"Ellipsis", "...", str(inspect.Signature(plain)))


def _is_plain(value: Any) -> bool:
    return value is inspect.Parameter.empty or value is None or isinstance(value, bool | int | float | str | tuple)


def _parameters() -> Iterator[str]:
    from ordino.rankers import RANKERS, ranker_class

    for name in RANKERS:
        for parameter, value in ranker_class(name)().get_params(deep=False).items():
            yield f"parameter {name}.{parameter} = {value!r}"


def _commands() -> Iterator[str]:
    import typer

    from ordino.cli.app import app

    group: Any = typer.main.get_command(app)
    for name, command in [("", group), *group.commands.items()]:
        if name:
            yield f"command {name}"
        for parameter in command.params:
            words = sorted([*parameter.opts, *parameter.secondary_opts], key=len)
            if parameter.param_type_name == "argument":
                yield f"argument {name} {parameter.name}"
            elif not parameter.hidden:
                yield f"option {name or 'ordino'} {'/'.join(words)}"


def _choices() -> Iterator[str]:
    for kind, place in TABLES.items():
        module, _, table = place.partition(":")
        yield from (f"{kind} {name}" for name in getattr(import_module(module), table))
    errors = vars(import_module("ordino.errors")).values()
    yield from (f"error {one.__name__}" for one in errors if inspect.isclass(one) and one.__module__ == "ordino.errors")


if __name__ == "__main__":
    lines = surface()
    old = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    gone, new = set(old) - set(lines), set(lines) - set(old)
    for mark, some in (("-", gone), ("+", new)):
        sys.stdout.writelines(f"{mark} {line}\n" for line in sorted(some))
    sys.stdout.write(
        f"{len(lines)} lines; write what changed into CHANGELOG.md\n" if gone | new else "nothing changed\n"
    )
