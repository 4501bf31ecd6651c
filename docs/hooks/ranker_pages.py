"""The two pages that are made from the table of rankers: ``python docs/hooks/ranker_pages.py`` writes them anew."""

from __future__ import annotations

from pathlib import Path

from ordino.rankers import RANKERS

DOCS = Path(__file__).parents[1]

TABLE = """\
# Rankers

Every ranker by its name on the command line; in Python it is the class. `ordino rankers` prints the same table, and
`ordino params NAME` the parameters of one. What they reach on real data: [results](../results/baselines.md).

| name | class | what it is |
|---|---|---|
"""

REFERENCE = """\
# API: rankers

All follow [the contract](contract.md); here is the file of each: its idea, its parameters, what it learns.
"""


def pages() -> dict[Path, str]:
    """The text of each page by its path under docs/."""
    lines = [f"| [`{name}`]({name}.md) | `{entry.cls}` | {entry.description} |\n" for name, entry in RANKERS.items()]
    members: dict[str, list[str]] = {}
    for entry in RANKERS.values():
        members.setdefault(entry.module, []).append(entry.cls)
    blocks = [
        f"\n::: {module}\n    options:\n      members: [{', '.join(classes)}]\n" for module, classes in members.items()
    ]
    return {
        Path("rankers/index.md"): TABLE + "".join(lines),
        Path("api/rankers.md"): REFERENCE + "".join(blocks),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")
