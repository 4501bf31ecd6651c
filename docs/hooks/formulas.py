r"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network.

Pages write formulas as GitHub draws them too: a block that begins with three backticks and ``math``, and a dollar
outside of backticks for those in a line. Docstrings write ``.. math:: a^2`` and ``:math:`a``` as numpy's do, and name
things by ``:class:`` and its like. This extension of Markdown turns all formulas into MathML while the site is built,
and names into code.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

DISPLAYED = re.compile(r"^( *)\.\. math::((?:.*)(?:\n(?:\1 +\S.*))*(?:\n\n\1 {2,}\S.*(?:\n\1 +\S.*)*)?)", re.MULTILINE)
FENCED = re.compile(r"^```math\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r":math:`([^`]+)`|\$`([^`]+)`\$")
ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?(?:[\w.]+\.)?(\w+)`")


def on_config(config: Any) -> Any:
    """Called by mkdocs when it has read mkdocs.yml."""
    config.markdown_extensions.append(Formulas())
    return config


class Formulas(Extension):
    """What mkdocs adds to Markdown; mkdocstrings uses it for docstrings too."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Called by Markdown; code blocks are taken out of harm's way at 25, and blocks of formulas just before."""
        md.preprocessors.register(_Blocks(md), "blocks of formulas", 26)
        md.preprocessors.register(_Drawing(md), "formulas", 24)


class _Blocks(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return FENCED.sub(lambda found: f"\n{_draw(self.md, found[1], 'block')}\n", "\n".join(lines)).split("\n")


class _Drawing(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = DISPLAYED.sub(lambda found: f"\n{found[1]}{_draw(self.md, found[2], 'block')}\n", "\n".join(lines))
        text = INLINE.sub(lambda found: _draw(self.md, found[1] or found[2], "inline"), text)
        return ROLE.sub(r"`\1`", text).split("\n")


def _draw(md: Markdown, formula: str, display: str) -> str:
    return str(md.htmlStash.store(convert(" ".join(formula.split()), display=display)))
