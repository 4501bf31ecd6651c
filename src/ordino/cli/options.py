"""Options that commands share, written once, and help texts that name the entries of tables."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ordino.cli import WORDS
from ordino.cli.foreign import COMMANDS, option_here
from ordino.rankers import CONTESTANTS

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset

TABLES = {
    "endings": "ordino.data.files:ENDINGS",
    "engines": "ordino.export.targets:TARGETS",
    "formats": "ordino.data.trec:FORMATS",
    "metrics": "ordino.metrics:METRICS",
    "profiles": "ordino.metrics:PROFILES",
    "reports": "ordino.experiment.report.page:FORMATS",
    "scalings": "ordino.data.scaling:SCALERS",
    "students": "ordino.distilling:STUDENTS",
    "unjudged": "ordino.data.runs:UNJUDGED",
    "tests": "ordino.experiment.compare.significance:TESTS",
    "tools": "ordino.imports:SOURCES",
}
"""The tables that a help text may name in braces; they are loaded when help is asked for."""


def ranker_names(incomplete: str) -> list[str]:
    """Names of rankers that start like this, for completion by the shell."""
    return [name for name in CONTESTANTS if name.startswith(incomplete)]


_RANKER: Any = {"help": "Ranker name; see `ordino rankers`.", "autocompletion": ranker_names}
RankerName = Annotated[str, typer.Option("--ranker", "-r", **_RANKER)]
RankerArgument = Annotated[str, typer.Argument(**_RANKER)]
ModelFile = Annotated[str, typer.Argument(help="Model file that `ordino train` or ordino.save wrote.")]
Param = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", help="A parameter of the ranker, as name=value; repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Random seed; the same seed gives the same result.")]
Metrics = Annotated[str, typer.Option("--metrics", "-m", help="Metrics, separated by commas: {metrics}.")]
Profile = Annotated[
    str | None,
    typer.Option(help="Metric profile: {profiles}; by default the model's, else `standard`, or `trec` for TREC runs."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="auto|HOST:PORT", help="Work on a Ray cluster: its address, or auto for the one that runs here."
    ),
]
Test = Annotated[str, typer.Option(help="Significance test: {tests}.")]
Scaling = Annotated[str | None, typer.Option(help="Feature scaling: {scalings}.")]
Binarize = Annotated[float | None, typer.Option(help="Turn labels of this value or more into 1, all others into 0.")]


def without_kinds(params: list[Any]) -> list[Any]:
    """Options whose help does not print ``<bool>`` after a flag, which takes no value."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.display_type_rich = lambda **_: None
    return params


class Group(TyperGroup):
    """All commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a name; one that other tools have is answered with ours."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:  # of click, which typer brings along in its own way
            if args and args[0] in COMMANDS and hasattr(error, "message"):
                error.message = f"No such command {args[0]!r}; use: ordino {COMMANDS[args[0]]}"
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of every command."""
        return without_kinds(super().get_params(ctx))


class Command(TyperCommand):
    """A command whose help text is filled in from :data:`TABLES`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options."""
        return without_kinds(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; an option that other tools have is answered with ours."""
        typed, known = list(args), [param.name for param in self.params]
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            name = getattr(error, "option_name", None)
            if name is not None and type(error).__name__ == "NoSuchOption":
                answer = option_here(name, known, _named_ranker(typed))
                error.message = f"No such option: {name}" + (f"; {answer}" if answer else "")  # type: ignore[attr-defined]
                error.possibilities = [] if answer else error.possibilities  # type: ignore[attr-defined]
            if "unexpected extra argument" in getattr(error, "message", "") and "valid" in known:
                error.message += "; validation data goes after --valid"  # type: ignore[attr-defined]
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill in the tables, then print as usual."""
        for param in self.params:
            text = getattr(param, "help", None)
            if text is not None:
                param.help = re.sub(r"\{(\w+)\}", lambda found: _entries(found[1]), text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _named_ranker(words: list[str]) -> list[str]:
    """The parameters of the ranker that a line names."""
    from ordino.errors import OrdinoError
    from ordino.parameters import parameters_of
    from ordino.rankers import ranker_class

    for option, name in pairwise(words):
        if option in ("--ranker", "-r"):
            try:
                return list(parameters_of(ranker_class(name)))
            except OrdinoError:
                return []
    return []


def _entries(table: str) -> str:
    module, _, name = TABLES[table].partition(":")
    return ", ".join(getattr(import_module(module), name))


def split_names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(frozen=True)
class Shared:
    """The options of every command."""

    quiet: bool = False
    threads: int | None = None
    seed: int | None = None


SHARED: ContextVar[Shared] = ContextVar("shared")


def shared_options() -> Shared:
    """The options given before the command's name, or the defaults where there is no command line."""
    return SHARED.get(Shared())


def command_line() -> str:
    """The line that was typed; empty where there is no command line."""
    words = WORDS.get([])
    return shlex.join(["ordino", *words]) if words else ""


def chosen_seed(seed: int | None) -> int | None:
    """The command's own ``--seed``, else the one before the command's name, else None."""
    return shared_options().seed if seed is None else seed


_PANEL: Any = {"rich_help_panel": "How data is read"}
_ROLE = "Column of a table with the {}; `{}` by default."
_COLUMNS: dict[str, tuple[Any, Any]] = {
    "qid": (str | None, typer.Option("--qid", help=_ROLE.format("query ids", "qid"), **_PANEL)),
    "label": (str | None, typer.Option("--label", help=_ROLE.format("labels", "label"), **_PANEL)),
    "doc_id": (str | None, typer.Option("--doc-id", help=_ROLE.format("document ids", "doc_id"), **_PANEL)),
    "weight": (str | None, typer.Option("--weight", help=_ROLE.format("documents' weights", "weight"), **_PANEL)),
    "features": (
        str | None,
        typer.Option("--features", help="Features to use, by name or number, as bm25,age; all by default.", **_PANEL),
    ),
    "drop": (
        str | None,
        typer.Option("--drop", help="Columns or features to leave out, by name or number, such as url,42.", **_PANEL),
    ),
    "categories": (
        str | None,
        typer.Option("--categories", help="Columns of a table that hold categories, such as city,brand.", **_PANEL),
    ),
    "one_list": (
        bool, typer.Option("--one-list", help="Take rows without query ids as one list.", **_PANEL)
    ),
    "zero_based": (
        bool, typer.Option("--zero-based", help="Features of LETOR text are numbered from 0, not 1.", **_PANEL)
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """How the files of a command are read."""

    qid: str | None = None
    label: str | None = None
    doc_id: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    one_list: bool = False
    zero_based: bool = False

    def given(self) -> dict[str, Any]:
        """What was given on the command line, as arguments of ``read_data``."""
        return {name: value for name, value in vars(self).items() if value}

    def read(self, path: str, *, width: int | None = None, labelled: bool = True) -> Dataset:
        """A data set, with ``width`` features in the end where LETOR text leaves the number open."""
        from ordino.data.files import read_data

        return read_data(path, n_features=self.text_width(width), labelled=labelled, **self.given())

    def noted(self, data: Dataset) -> dict[str, Any]:
        """What a model file must note, to read the same features of text, which has no names to find them by."""
        numbers, names = (*(self.features or ()), *self.drop), data.feature_names or ()
        by_number = all(map(str.isdigit, numbers)) and all(re.fullmatch(r"f\d+", name) for name in names)
        if not numbers or not by_number:
            return {}
        return {"columns": {"features": self.features and list(self.features), "drop": list(self.drop)}}

    def text_width(self, width: int | None) -> int | None:
        """The number of features in LETOR text of which ``width`` are left."""
        return None if width is None or self.features else width + len(set(self.drop))


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :class:`Columns`, which it gets together as ``columns``."""
    own = inspect.signature(command, eval_str=True)
    kept = [parameter for parameter in own.parameters.values() if parameter.name != "columns"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, option],
        )
        for name, (kind, option) in _COLUMNS.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in _COLUMNS}
        chosen["features"] = None if chosen["features"] is None else tuple(split_names(chosen["features"]))
        chosen |= {name: tuple(split_names(chosen[name] or "")) for name in ("drop", "categories")}
        command(columns=Columns(**chosen), **given)

    run.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*kept, *added)}
    return run


_OURS = re.compile(rf"(?<![\w.-])({'|'.join([*_COLUMNS, 'valid'])})=(?:True\b|\.\.\.)?(?=(\S?))")


_PHRASES = {
    "raise n_features or leave the feature out": (
        "choose features as in training with --features or --drop, or import the model with --n-features"
    ),
    "put ordino.OneHot() before it in a pipeline": "train it with --one-hot",
    "ordino.OneHot()": "--one-hot",
    "use LambdaMART": "use lambda-mart",
}


def in_our_words(sentence: str) -> str:
    """A sentence of the library as the command line would say it.

    Examples
    --------
    >>> in_our_words("there is no column 'qid'; name the column with qid=, or say one_list=True")
    "there is no column 'qid'; name the column with --qid, or say --one-list"
    >>> in_our_words("doc_id='url': unknown column")
    "--doc-id 'url': unknown column"
    >>> in_our_words("name it in categories=, which ordino.OneHot() turns into numbers")
    'name it in --categories, which --one-hot turns into numbers'
    """
    for ours, typed in _PHRASES.items():
        sentence = sentence.replace(ours, typed)
    return _OURS.sub(lambda m: f"--{m[1].replace('_', '-')}" + (" " if m[2] and m[2] not in ",;)" else ""), sentence)
