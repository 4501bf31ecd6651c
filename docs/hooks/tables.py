"""What the pages take from the tables in the source: ``python docs/hooks/tables.py`` writes it anew.

The list of rankers and the pages of their reference are generated whole. On the page of each ranker the table of
parameters is, on those of metrics and losses the table of all of them; and README has the number of rankers.
"""

from __future__ import annotations

import re
from pathlib import Path

from ordino.losses import LOSSES
from ordino.metrics import METRICS
from ordino.networks.torch_ranker import TorchRanker
from ordino.parameters import parameters_of
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class

DOCS = Path(__file__).parents[1]

TABLE = """\
# Rankers

Every ranker has a name on the command line and a class in Python. `ordino rankers` prints the same table, and the names
under which [other libraries](../command-line.md#against-other-libraries) compete; `ordino params NAME` lists the
parameters of one. For results on real data, see [results](../results/index.md). Where a paper fixes settings, the
ranker's page prints them as "published": `RankNet.as_published()` in Python and `preset = "published"` in [a
plan](../experiments.md) start from them. [Below](#without-published-settings) is who has none, and why.

| name | class | what it is |
|---|---|---|
"""

UNFIXED = {
    "RankNet's paper gives the formula and no experiment": ("kernel-ranknet",),
    "DeepNet's thesis describes the loss without settings, and FRank's numbers are LETOR's": ("frank", "lambdarank"),
    "RankDE's paper only names them": ("listmle", "rankcosine"),
    "RankDE's paper takes BM25's numbers from LETOR": ("single-feature",),
    "RankDE's paper copies their numbers from papers that were not at hand": ("swarm-rank", "gp-rank"),
    "DirectRanker's paper copies their numbers from one that was not at hand": ("es-rank", "iesr-rank", "iesvm-rank"),
    "DirectRanker's paper runs RankLib's, boosted on the measure that is reported, and says no more": ("lambda-mart",),
}
"""Rankers of the five papers that none of them fixes any setting of, by the reason."""
WITHOUT = """
## Without published settings

`as_published()` of these refuses, because none of the five papers that Ordino [reproduces](../reproduction.md) fixes a
setting of theirs:

"""

REFERENCE = """\
# API: rankers

All rankers follow [the contract](../contract.md). Each has a page with its idea, its parameters and its learned
attributes; rankers that share a module share a page.

| class | module |
|---|---|
"""


def pages() -> dict[Path, str]:
    """The text of each page by its path under docs/."""
    lines = [f"| [`{name}`]({name}.md) | `{entry.cls}` | {entry.description} |\n" for name, entry in RANKERS.items()]
    members: dict[str, list[str]] = {}
    for entry in RANKERS.values():
        members.setdefault(entry.module, []).append(entry.cls)
    made = {
        Path("rankers/index.md"): TABLE + "".join(lines) + WITHOUT + unfixed(),
        Path("api/rankers/index.md"): reference(members),
    }
    for module, classes in members.items():
        block = f"::: {module}\n    options:\n      members: [{', '.join(classes)}]\n"
        made[Path("api/rankers", f"{module_name(module)}.md")] = f"# API: {', '.join(classes)}\n\n{block}"
    for name in RANKERS:
        page = Path("rankers", f"{name}.md")
        made[page] = with_table((DOCS / page).read_text(encoding="utf-8"), parameter_table(ranker_class(name)))
    page = Path("torch.md")
    made[page] = with_table((DOCS / page).read_text(encoding="utf-8"), parameter_table(TorchRanker))
    for listed, rows in (("losses.md", loss_rows()), ("metrics.md", metric_rows())):
        made[Path(listed)] = with_rows((DOCS / listed).read_text(encoding="utf-8"), rows)
    page = Path("..", "README.md")
    readme = (DOCS / page).read_text(encoding="utf-8")
    made[page] = re.sub(r"(?<=It has )\d+(?= rankers)", str(len(RANKERS)), readme)
    return made


def unfixed() -> str:
    """Who has no published settings, and why, as a list."""
    without = [name for name in RANKERS if not ranker_class(name).published]
    of_papers = [name for names in UNFIXED.values() for name in names]
    assert set(of_papers) <= set(without), "a ranker in UNFIXED has published settings"
    others = tuple(name for name in without if name not in of_papers)
    reasons = {**UNFIXED, "the five papers do not use them": others}
    links = {reason: ", ".join(f"[`{name}`]({name}.md)" for name in names) for reason, names in reasons.items()}
    return "".join(f"- {names}: {reason}.\n" for reason, names in links.items())


def reference(members: dict[str, list[str]]) -> str:
    """The index of the rankers' reference, from the classes of each module."""
    rows = [
        f"| [`{name}`]({module_name(module)}.md) | `{module}` |\n"
        for module, names in members.items()
        for name in names
    ]
    return REFERENCE + "".join(rows)


def module_name(module: str) -> str:
    """The last part of a module's name, which is the name of its page."""
    return module.rpartition(".")[2]


def loss_rows() -> list[str]:
    """The table of losses."""
    return ["| loss | formula | what it is | parameters |", "|---|---|---|---|"] + [
        f"| `{name}` | $`{entry.formula}`$ | {entry.description} | "
        f"{', '.join(f'`{key}={value!r}`' for key, value in entry.parameters.items()) or 'none'} |"
        for name, entry in LOSSES.items()
    ]


def metric_rows() -> list[str]:
    """The table of metrics."""
    rows = ["| name | what it is | cutoff `@k` | parameters | also called |", "|---|---|---|---|---|"]
    for entry in METRICS.values():
        brackets = "; ".join(
            f"`{one.name}`: {one.description}" + ("" if one.default is None else f" ({one.default:g})")
            for one in entry.parameters
        )
        names = ", ".join(f"`{alias}`" for alias in entry.aliases)
        rows.append(
            f"| `{entry.example}` | {entry.description} | {entry.cutoff} | {brackets or '-'} | {names or '-'} |"
        )
    return rows


def with_rows(page: str, rows: list[str]) -> str:
    """A page in which these rows stand in place of the table that has the same header."""
    lines = page.split("\n")
    start = lines.index(rows[0])
    stop = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return "\n".join([*lines[:start], *rows, *lines[stop:]])


def parameter_table(ranker: type[Ranker]) -> str:
    """The parameters of a ranker as a table: name, default, the paper's setting where it has any, meaning."""
    rows = [["name", "default", "published", "meaning"], ["---"] * 4]
    for parameter, known in parameters_of(ranker).items():
        setting = f"`{ranker.published[parameter]!r}`" if parameter in ranker.published else ""
        rows.append([f"`{parameter}`", f"`{known.default!r}`", setting, known.text.replace("|", "\\|")])
    if not ranker.published:
        rows = [row[:2] + row[3:] for row in rows]
    return "".join("|" + "|".join(row) + "|\n" if row[0] == "---" else f"| {' | '.join(row)} |\n" for row in rows)


def with_table(page: str, table: str) -> str:
    """A page whose section Parameters begins with this table; what stands below the old table stays."""
    head, heading, rest = page.partition("\n## Parameters\n")
    body = re.sub(r"\A\s*(\|[^\n]*\n)*\n*", "", rest)
    return f"{head}{heading}\n{table}\n{body}"


if __name__ == "__main__":
    for path, text in pages().items():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(text, encoding="utf-8")
