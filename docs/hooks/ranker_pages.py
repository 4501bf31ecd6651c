"""What the pages take from the table of rankers: ``python docs/hooks/ranker_pages.py`` writes it anew.

Two pages are made whole; on the page of each ranker the table under the heading Parameters is.
"""

from __future__ import annotations

import re
from pathlib import Path

from ordino.parameters import parameters_of
from ordino.rankers import RANKERS, ranker_class

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
    made = {
        Path("rankers/index.md"): TABLE + "".join(lines),
        Path("api/rankers.md"): REFERENCE + "".join(blocks),
    }
    for name in RANKERS:
        page = Path("rankers", f"{name}.md")
        made[page] = with_table((DOCS / page).read_text(encoding="utf-8"), parameter_table(name))
    return made


def parameter_table(name: str) -> str:
    """The parameters of a ranker as a table: name, default, meaning."""
    rows = [
        f"| `{parameter}` | `{known.default!r}` | {known.text.replace('|', chr(92) + '|')} |"
        for parameter, known in parameters_of(ranker_class(name)).items()
    ]
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *rows]) + "\n"


def with_table(page: str, table: str) -> str:
    """A page whose section Parameters begins with this table; what stands below the old table stays."""
    head, heading, rest = page.partition("\n## Parameters\n")
    body = re.sub(r"\A\s*(\|[^\n]*\n)*\n*", "", rest)
    return f"{head}{heading}\n{table}\n{body}"


if __name__ == "__main__":
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")
