"""The two tables of figures in README, from the pages of results: ``python docs/hooks/readme.py``.

Each row names the page it comes from and the row of that page; no figure of these tables is typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
COLLECTIONS = ("MQ2007", "MQ2008")
BY_FOLDS = {
    "AutoRanker, at most one minute on one core ([protocol](docs/results/auto.md))": ("auto", "AutoRanker"),
    "six rankers combined": ("combination", "combination"),
    "RankNet": ("scorers", "RankNet"),
    "DirectRanker": ("scorers", "DirectRanker"),
    "SortNet": ("comparators", "SortNet"),
    "DeepNet": ("comparators", "DeepNet"),
    "LambdaMART, leaves and bags chosen on validation": ("trees", "LambdaMART, leaves and bags chosen"),
    "LightGBM, tuned": ("combination", "LightGBM, lambdarank"),
    "CatBoost, tuned": ("combination", "CatBoost, YetiRank"),
}
"""The rows of the first table, and where each comes from: the page, and the name of the row there."""
BY_LETOR = {
    "RankSVM": ("baselines", "test"),
    "RankBoost": ("baselines", "test"),
    "AdaRank": ("baselines", "test"),
    "RankDE": ("evolved", "test MAP"),
    "CoordinateAscent": ("baselines", "test"),
    "LambdaMART": ("trees", "MAP `letor4`"),
}
"""The rows of the second: the page, and the column there that holds MAP in the profile letor4."""

Row = dict[str, str]


def with_figures(readme: str) -> str:
    """README with both tables as the pages of results have them now."""
    folds = [_line(name, *(_pair(*place, of) for of in COLLECTIONS)) for name, place in BY_FOLDS.items()]
    letor = [_line(name, *_published(name, *place)) for name, place in BY_LETOR.items()]
    readme = _with_table(readme, "| ranker | MQ2007 | MQ2008 |", folds)
    return _with_table(readme, "| ranker | MQ2007 MAP (`letor4`) | MQ2008 MAP (`letor4`) | published |", letor)


def _pair(page: str, ranker: str, collection: str) -> str:
    """NDCG@10 and MAP of the first row of that name in the part of a page about a collection."""
    row = _row(page, ranker, collection)
    return f"{_figure(row['NDCG@10'])} / {_figure(row['MAP'])}"


def _published(ranker: str, page: str, column: str) -> tuple[str, ...]:
    rows = [_row(page, ranker, collection, measure="map") for collection in COLLECTIONS]
    published = ", ".join(filter(None, (row.get("published", "") for row in rows)))
    return *(_figure(row[column]) for row in rows), published


def _row(page: str, ranker: str, collection: str, **wanted: str) -> Row:
    wanted["data"] = collection
    for part, row in _rows((RESULTS / f"{page}.md").read_text(encoding="utf-8")):
        is_here = "data" in row or part.startswith(collection)
        is_wanted = all(row.get(key, value) == value for key, value in wanted.items())
        if next(iter(row.values())) == ranker and is_here and is_wanted:
            return row
    raise SystemExit(f"docs/results/{page}.md has no row of {ranker} for {collection}")


def _rows(text: str) -> Iterator[tuple[str, Row]]:
    """Every row of every table of a page as cells by heading, with the title of the part that it stands in."""
    part, heads = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            part = line.lstrip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heads = []
        elif not heads:
            heads = cells
        elif not set(line) <= set("|-: "):
            yield part, dict(zip(heads, cells, strict=True))


def _figure(cell: str) -> str:
    return cell.partition(" ")[0]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _with_table(text: str, head: str, lines: list[str]) -> str:
    """The text with other lines below the head of a table and its rule."""
    table = re.compile(re.escape(head) + r"\n(\|[-|:]+\|)\n(?:\|.*\n)+")
    changed, n = table.subn(lambda found: "\n".join([head, found[1], *lines]) + "\n", text)
    if n != 1:
        raise SystemExit(f"README.md has no table with the head {head}")
    return changed


if __name__ == "__main__":
    page = ROOT / "README.md"
    page.write_text(with_figures(page.read_text(encoding="utf-8")), encoding="utf-8")
