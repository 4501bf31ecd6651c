"""Small tables of HTML, as notebooks show what ``print`` shows elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", note: str = "") -> str:
    """A table whose first column is a name and whose others are numbers; everything is escaped.

    Examples
    --------
    >>> html_table(["metric", "mean"], [["map", "0.5"]], note="5 queries")[:49]
    '<table><thead><tr><th style="text-align:left">met'
    >>> "<script>" in html_table(["name"], [["<script>"]], title="<script>")
    False
    """

    def cells(tag: str, values: Sequence[object]) -> str:
        aligned = ("left" if place == 0 else "right" for place in range(len(values)))
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(str(value))}</{tag}>'
            for side, value in zip(aligned, values, strict=True)
        )

    caption = f'<caption style="text-align:left">{escape(title)}</caption>' if title else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table>{caption}<thead><tr>{cells('th', columns)}</tr></thead><tbody>{body}</tbody></table>{below}"
