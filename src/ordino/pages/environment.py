"""Jinja with our filters: everything is escaped, and a name that a template does not get is a mistake."""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ordino.errors import import_extra
from ordino.pages import numbers

HERE = Path(__file__).parent
STATIC = HERE / "static"
FILTERS = (
    numbers.fixed, numbers.signed, numbers.chance, numbers.short, numbers.percent, numbers.count, numbers.spelled,
    numbers.ordinal, numbers.measure_title, numbers.grade_class, numbers.grade_text, numbers.cut_middle,
    numbers.plain_number,
)  # fmt: skip


@cache
def environment() -> Any:
    """The environment of all templates."""
    jinja2 = import_extra("jinja2", extra="plots", purpose="an HTML page")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        {function.__name__: function for function in (*FILTERS, humps, sort_first, setting, short_test)}
    )
    return made


def render(template: str, **values: Any) -> str:
    """A page."""
    page: str = environment().get_template(template).render(**values)
    return page


def compile_templates() -> None:
    """Read every template now, so that no page waits for it."""
    for name in environment().list_templates():
        environment().get_template(name)


def humps(label: str) -> Any:
    """A label that may break at its humps and after its underscores, but nowhere else inside a word."""
    markup = import_extra("markupsafe", extra="plots", purpose="an HTML page").Markup
    return markup("<wbr>").join(re.split(r"(?<=[a-z])(?=[A-Z])|(?<=_)", label))


def sort_first(names: Sequence[str], first: str) -> list[str]:
    """Names with one of them in front."""
    return [first, *(name for name in names if name != first)]


def setting(value: Any) -> str:
    """The value of a parameter."""
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)


def short_test(title: str) -> str:
    """The name of a test in a field: ``Wilcoxon`` for ``Wilcoxon's signed rank test``."""
    return title.partition("'")[0].removesuffix("-test")


def static_text(name: str) -> str:
    """A style sheet or script, to stand in a page that needs no other file."""
    return (STATIC / name).read_text(encoding="utf-8")
