r"""Formulas of docstrings as MathML, which browsers draw by themselves: no script, no font, no network.

Docstrings write ``.. math:: a^2`` and ``:math:`a``` as numpy's do, and name things by ``:class:`` and its like. This
extension of Markdown turns the first two into MathML while the site is built, and the others into code.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

DISPLAYED = re.compile(r"^( *)\.\. math::((?:.*)(?:\n(?:\1 +\S.*))*(?:\n\n\1 {2,}\S.*(?:\n\1 +\S.*)*)?)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")
ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?(?:[\w.]+\.)?(\w+)`")


def on_config(config: Any) -> Any:
    """Called by mkdocs when it has read mkdocs.yml."""
    config.markdown_extensions.append(Formulas())
    return config


class Formulas(Extension):
    """What mkdocs adds to Markdown; mkdocstrings uses it for docstrings too."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Called by Markdown; 24 is just after code blocks were taken out of harm's way."""
        md.preprocessors.register(_Drawing(md), "formulas", 24)


class _Drawing(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = DISPLAYED.sub(lambda found: f"\n{found[1]}{self._draw(found[2], 'block')}\n", "\n".join(lines))
        text = INLINE.sub(lambda found: self._draw(found[1], "inline"), text)
        return ROLE.sub(r"`\1`", text).split("\n")

    def _draw(self, formula: str, display: str) -> str:
        return str(self.md.htmlStash.store(convert(" ".join(formula.split()), display=display)))
