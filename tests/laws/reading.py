"""The code as text that can be asked: its files, what its functions take, and the calls in it with what is at hand."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

import ordino

HOME = Path(ordino.__file__).parent
OTHERS = {name for kind in (np, np.ndarray, str, dict, list, re.Pattern) for name in dir(kind)} | {"open", "minimize"}
"""What functions of others are called too: a call by such a name says nothing about ours."""


class Takes(NamedTuple):
    """What a function takes."""

    positional: tuple[str, ...]
    optional: frozenset[str]
    all: frozenset[str]

    def fits(self, call: Called) -> bool:
        """Whether a call has all that is needed, and nothing else."""
        passed = set(call.passed(self))
        needed = self.all - self.optional if call.is_whole else set()
        return len(call.node.args) <= len(self.positional) and needed <= passed <= self.all


class Called(NamedTuple):
    """A call, what it calls, the names of the functions around it, and those of the object it belongs to."""

    place: str
    callee: str
    node: ast.Call
    given: frozenset[str]
    fields: frozenset[str]

    @property
    def values(self) -> list[ast.expr]:
        """All arguments."""
        return [*self.node.args, *(one.value for one in self.node.keywords)]

    @property
    def is_whole(self) -> bool:
        """Whether all arguments are written out."""
        stars = any(isinstance(one, ast.Starred) for one in self.node.args)
        return not stars and all(one.arg is not None for one in self.node.keywords)

    def passed(self, takes: Takes) -> dict[str, ast.expr]:
        """The arguments by the names of the parameters."""
        plain = takewhile(lambda one: not isinstance(one, ast.Starred), self.node.args)
        return dict(zip(takes.positional, plain, strict=False)) | self.named

    @property
    def named(self) -> dict[str, ast.expr]:
        """The arguments that come with a name."""
        return {one.arg: one.value for one in self.node.keywords if one.arg is not None}


def last_name(node: ast.AST) -> str:
    """The name of a variable, or of an attribute or an element of something: ``data.y[rows]`` is y."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def arguments(node: ast.FunctionDef) -> list[str]:
    """The names of what a function takes."""
    return [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]


def _takes(node: ast.FunctionDef) -> Takes:
    plain = [one.arg for one in [*node.args.posonlyargs, *node.args.args]]
    named = [one.arg for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
    optional = frozenset([*plain[len(plain) - len(node.args.defaults) :], *named])
    own = tuple(plain[1:] if plain[:1] in (["self"], ["cls"]) else plain)
    return Takes(own, optional, frozenset(own) | {one.arg for one in node.args.kwonlyargs})


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    found = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
    return [one for one in found if "ClassVar" not in ast.unparse(one.annotation)]


def _made_by(node: ast.ClassDef) -> Takes | None:
    """What a class is made with; None where its bases have fields too."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return _takes(one)
    if any(last_name(base) != "NamedTuple" for base in node.bases):
        return None
    names = tuple(last_name(one.target) for one in _fields(node))
    optional = frozenset(last_name(one.target) for one in _fields(node) if one.value is not None)
    return Takes(names, optional, frozenset(names))


@final
class Code:
    """Files of code, read once."""

    def __init__(self, files: dict[str, ast.Module]) -> None:
        self.files = files

    @cached_property
    def nodes(self) -> list[tuple[str, ast.AST]]:
        """Everything in every file."""
        return [(place, node) for place, tree in self.files.items() for node in ast.walk(tree)]

    def taken_by(self, call: Called) -> Takes | None:
        """What the function takes that is called, if the arguments fit one of its name alone."""
        fitting = [one for one in self.signatures.get(call.callee, ()) if one.fits(call)]
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def signatures(self) -> dict[str, set[Takes]]:
        """What every function and class takes, by name; several of a name may take different things."""
        found: dict[str, set[Takes | None]] = defaultdict(set)
        for _, node in self.nodes:
            if isinstance(node, ast.FunctionDef):
                found[node.name].add(_takes(node))
            elif isinstance(node, ast.ClassDef):
                found[node.name].add(_made_by(node))
        known = {name: some for name, some in found.items() if None not in some and name not in OTHERS}
        return {name: {one for one in some if one is not None and "_" not in one.all} for name, some in known.items()}

    @cached_property
    def owned(self) -> dict[str, frozenset[str]]:
        """What an object of each class has: its fields, what is set in it, and what its bases have.

        A name that several classes have says nothing of what they have.
        """
        own: dict[str, set[str]] = {}
        bases: dict[str, list[str]] = {}
        named = Counter(node.name for _, node in self.nodes if isinstance(node, ast.ClassDef))
        for node in (node for _, node in self.nodes if isinstance(node, ast.ClassDef)):
            bases[node.name] = [last_name(one) for one in node.bases]
            stored = (
                one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
            )
            own[node.name] = {one.attr.strip("_") for one in stored if last_name(one.value) == "self"}
            own[node.name] |= {last_name(one.target) for one in _fields(node)}
            if named[node.name] > 1:
                own[node.name], bases[node.name] = set(), []

        def whole(name: str, below: tuple[str, ...] = ()) -> frozenset[str]:
            above = [whole(base, (*below, name)) for base in bases.get(name, []) if base not in below]
            return frozenset(own.get(name, set())).union(*above)

        return {name: whole(name) for name in own}

    @cached_property
    def calls(self) -> list[Called]:
        """Every call."""

        def inside(node: ast.AST, place: str, given: frozenset[str], fields: frozenset[str]) -> Iterator[Called]:
            for child in ast.iter_child_nodes(node):
                known, has = given, fields
                if isinstance(child, ast.ClassDef):
                    has = self.owned[child.name]
                elif isinstance(child, ast.FunctionDef):
                    known = given | frozenset(arguments(child))
                elif isinstance(child, ast.Call):
                    yield Called(place, last_name(child.func), child, given, fields)
                yield from inside(child, place, known, has)

        none: frozenset[str] = frozenset()
        return [one for place, tree in self.files.items() for one in inside(tree, place, none, none)]


@cache
def package() -> Code:
    """The code of the package, by the places of its files."""
    paths = sorted(HOME.rglob("*.py"))
    return Code({path.relative_to(HOME).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths})
