"""A page of a reproduction in its pieces: words that its target has today, and what one run left.

A run writes the pieces down, and :meth:`Page.read` finds them again, so that the words of an older page can be renewed
around numbers, claims, notes and date that stay as they are: ``python docs/hooks/reproductions.py``.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, final

SILENT = "## Where the paper is silent"
NUMBERS = "## Numbers"
CLAIMS = ("## Claims of the paper", "## What the paper left open")
"""Beyond the papers, the claims are questions of ours."""


@final
class Page(NamedTuple):
    """What stands on a page, from top to bottom; what a page does not have is empty."""

    heading: str = ""
    protocol: str = ""
    """What was done."""
    choices: Sequence[str] = ()
    """What we chose where the paper is silent."""
    table: str = ""
    picture: str = ""
    claims: str = ""
    """A heading and a table."""
    about_claims: str = ""
    notes: Sequence[str] = ()
    about_numbers: str = ""
    made: str = ""
    """When, with what, and from which seeds."""

    @property
    def text(self) -> str:
        """The page as Markdown."""
        return "\n\n".join(filter(None, self._parts())) + "\n"

    def _parts(self) -> Iterator[str]:
        yield self.heading
        yield self.protocol
        if self.choices:
            yield SILENT
        yield _bullets(self.choices)
        if self.choices or self.claims:
            yield NUMBERS
        yield from (self.table, self.picture, self.claims, self.about_claims, _bullets(self.notes))
        yield " ".join(filter(None, (self.about_numbers, self.made)))

    @classmethod
    def read(cls, text: str) -> "Page":
        """The pieces of a page.

        Examples
        --------
        >>> page = Page("# t: title", "What was done.", ["A choice."], "| a |", made="Made on 1 May.")
        >>> Page.read(page.text).choices
        ['A choice.']
        """
        heading, *parts = text.rstrip("\n").split("\n\n")
        about_numbers, made, rest = parts.pop().partition("Made on ")
        found: dict[str, Any] = {"about_numbers": about_numbers.rstrip(), "made": made + rest}
        section = ""
        for part in parts:
            if part.startswith("## "):
                section = part
            elif part.startswith("- "):
                found["choices" if section == SILENT else "notes"] = re.split(r"\n?^- ", part, flags=re.MULTILINE)[1:]
            elif part.startswith("|"):
                is_claim = section in CLAIMS
                found["claims" if is_claim else "table"] = f"{section}\n\n{part}" if is_claim else part
            elif part.startswith("!["):
                found["picture"] = part
            else:
                found["about_claims" if "table" in found else "protocol"] = part
        return cls(heading, **found)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
