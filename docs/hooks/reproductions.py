"""The overview of all reproductions, from what each left beside its page: ``python docs/hooks/reproductions.py``.

``ordino reproduce --out`` writes a page, its numbers and a small JSON file with its verdicts. From these files come the
table "At a glance" of ``docs/reproduction.md`` and the pages ``docs/results/claims.md``,
``claims_deepnet.md``, ``claims_synthetic.md`` and ``beyond.md``; no number in them is typed.

The words of the pages themselves (what was done and chosen, what intervals, brackets and power mean) are renewed as
their targets have them today; numbers, claims, notes, date, versions and seeds stay as the run left them. Where the
settings of a target have changed since a run, write into its JSON file under "other_settings" which ones: its page then
keeps the words of its day until it is run anew.

With ``--data FOLDER``, the folder of the collections, the sentences about training pairs that follow from data and seed
alone are made anew too, as far as the data of a page is there.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from ordino.experiment.papers.catalogue import TARGETS
from ordino.experiment.papers.claim import CANNOT_TELL, COMES_BACK, DOES_NOT, WEAKER
from ordino.experiment.papers.page import Page
from ordino.experiment.papers.target import MADE, Request
from ordino.experiment.report.text import markdown_table

DOCS = Path(__file__).parents[1]
PAGES = Path("results", "reproduce")
HEADER = ("target", "run on", "values", "claims of the paper", "numbers of the paper")
CLAIMS_HEADER = ("target", "claim", "on", "ours", "values", "power", "verdict")
SYNTHETIC = "data made by the paper's recipe"
BEYOND = "beyond."
AFTER_PAIRS = ("Run with `--repeats", "The power of ")
"""How notes begin that stand below those about pairs."""
CLAIM_PAGES = {
    "claims.md": "Every claim of the papers on real data, but DeepNet's",
    "claims_deepnet.md": "Every claim of DeepNet on real data",
    "claims_synthetic.md": "Every claim of the papers on synthetic data",
}
QUESTIONS = """\
# Beyond the papers

Each paper ends with what its authors would try next. We tried it: the targets `beyond.*` have the same pages and the
same [rule](../reproduction.md#the-rule). This page is made from the results (`python docs/hooks/reproductions.py`).

"Yes" is the verdict that the gain is shown, "no" that there is none of a size that matters. Where the number
of values is small, so is the power of the test; the answer then says so.

"""
CLAIMS = """\
# {title}

What the papers say of their numbers, and what came of it here; {others} have pages of their own. The verdicts follow
[one rule](../reproduction.md#the-rule) and are computed. This page is made from the results
(`python docs/hooks/reproductions.py`).

"""


def pages(docs: Path = DOCS) -> dict[Path, str]:
    """The text of each generated page by its path under docs/."""
    guide = Path("reproduction.md")
    text = (docs / guide).read_text(encoding="utf-8")
    everything = {name: list(facts_of(name, docs)) for name in TARGETS}
    found = {name: every for name, every in everything.items() if not name.startswith(BEYOND)}
    rows = [overview_row(name, facts) for name, every in found.items() for facts in every or [{}]]
    table = markdown_table(HEADER, rows, n_text=len(HEADER))
    claimed = [facts for every in found.values() for facts in every if "claims" in facts]
    words = {facts["page"]: with_words(facts, docs) for every in everything.values() for facts in every}
    return {
        **words,
        guide: with_section(text, "At a glance", table),
        Path("results", "beyond.md"): beyond(everything) + "\n",
        **{Path("results", page): claims_page(page, claimed) for page in CLAIM_PAGES},
    }


def with_words(facts: dict[str, Any], docs: Path) -> str:
    """A page with the words that its target has today."""
    text = (docs / facts["page"]).read_text(encoding="utf-8")
    if not facts.get("filled") or "other_settings" in facts:
        return text
    return TARGETS[facts["target"]].words(facts["filled"]).in_words(Page.read(text), facts).text


def with_pairs(facts: dict[str, Any], docs: Path, data: Path) -> str:
    """A page with what its target says today of the training pairs, in which nothing is trained."""
    text = (docs / facts["page"]).read_text(encoding="utf-8")
    where = folder_of(facts["data"], data)
    if where is not None and not where.is_dir() and where.name not in MADE:
        return text
    repeats = re.search(r"Run with `--repeats (\d+)`", text)
    request = Request(where, seed=facts["seed"], repeats=int(repeats[1]) if repeats else None)
    told, page = list(TARGETS[facts["target"]].pairs(request)), Page.read(text)
    begins = {sentence.partition(":")[0] for sentence in told}
    others = [note for note in page.notes if note.partition(":")[0] not in begins]
    place = next((i for i, note in enumerate(others) if note.startswith(AFTER_PAIRS)), len(others))
    return page._replace(notes=[*others[:place], *told, *others[place:]]).text


def folder_of(collections: list[str], data: Path) -> Path | None:
    """What ``--data`` was: one collection, the folder that holds several, or the name of one that is made."""
    names = {shown: name for name, shown in MADE.items()}
    if not collections:
        return None
    if len(collections) > 1:
        return data
    name = collections[0].partition(",")[0]  # Table 5 of RankNet adds which queries
    return Path(names[name]) if name in names else data / name


def claims_page(page: str, claimed: list[dict[str, Any]]) -> str:
    """The claims that belong to a page."""
    rows = [row for facts in claimed if claims_page_of(facts) == page for row in claim_rows(facts)]
    others = " and ".join(
        f"[{title[0].lower()}{title[1:]}]({name})" for name, title in CLAIM_PAGES.items() if name != page
    )
    text = CLAIMS.format(title=CLAIM_PAGES[page], others=others)
    return text + markdown_table(CLAIMS_HEADER, rows, n_text=len(CLAIMS_HEADER)) + "\n"


def claims_page_of(facts: dict[str, Any]) -> str:
    """The page on which the claims of a reproduction stand."""
    if is_synthetic(facts):
        return "claims_synthetic.md"
    return "claims_deepnet.md" if facts["target"].startswith("deepnet.") else "claims.md"


def is_synthetic(facts: dict[str, Any]) -> bool:
    """Whether the data of a page was made here, or by the paper's recipe."""
    return not facts["data"] or all("(synthetic)" in name for name in facts["data"])


def beyond(everything: dict[str, list[dict[str, Any]]]) -> str:
    """The questions that the papers left open, and what came out, as a page."""
    rows = []
    for name, every in everything.items():
        if not name.startswith(BEYOND):
            continue
        if not every:
            rows.append((f"{name}: {TARGETS[name].shows}", "not run yet", "", "", ""))
        for facts in every:
            link = f"[{name}]({facts['page'].relative_to('results').as_posix()})"
            values = f"{facts['values']} {facts['of']}" if facts["values"] > 1 else "1"
            if not facts["claims"]:
                rows.append(
                    (f"{link}: {TARGETS[name].shows}", run_on(facts), values, "", "a figure and a front, no claim")
                )
            for claim in facts["claims"]:
                ours = "" if claim["difference"] is None else f"{claim['difference']:+.4f}"
                where = claim["on"] or run_on(facts)
                rows.append((f"{link}: {claim['claim']}?", where, values, ours, answer(claim["verdict"])))
    return QUESTIONS + markdown_table(("question", "on", "values", "difference", "answer"), rows, n_text=5)


def answer(verdict: str) -> str:
    """A verdict on a question of ours.

    Examples
    --------
    >>> answer("comes back"), answer("cannot be told: power 35 %")
    ('yes', 'cannot be told: power 35 %')
    """
    return {COMES_BACK: "yes", WEAKER: "yes, a little", DOES_NOT: "no"}.get(verdict, verdict)


def facts_of(target: str, docs: Path) -> list[dict[str, Any]]:
    """What is known of each page of a target; of a page without a JSON file, where it is and when it was made."""
    found = []
    for page in sorted((docs / PAGES).rglob(f"{target}.md")):
        beside = page.with_name(f"{target}.json")
        facts: dict[str, Any] = {"target": target, "page": page.relative_to(docs)}
        if beside.exists():
            facts |= json.loads(beside.read_text(encoding="utf-8"))
        else:
            made = re.search(r"Made on (\S+) with .*?ordino ([\w.]+),", page.read_text(encoding="utf-8"))
            facts |= {"made": made[1], "ordino": made[2]} if made else {}
        found.append(facts)
    return found


def overview_row(name: str, facts: dict[str, Any]) -> tuple[str, ...]:
    """One page in a row, or a target that has none."""
    shows = TARGETS[name].shows
    if not facts:
        return f"{name}: {shows}", "not run yet", "", "", ""
    target = f"[{name}]({facts['page'].as_posix()}): {shows}"
    if "claims" not in facts:
        return target, "", "", f"page of {facts.get('made', 'an earlier day')}, before verdicts were computed", ""
    values = f"{facts['values']} {facts['of']}" if facts["values"] > 1 else "1"
    return target, run_on(facts), values, told([claim["verdict"] for claim in facts["claims"]]), facts["summary"]


def run_on(facts: dict[str, Any]) -> str:
    """The collections of a page."""
    return ", ".join(facts["data"]) or SYNTHETIC


def told(verdicts: list[str]) -> str:
    """How many claims have each verdict.

    Examples
    --------
    >>> told(["comes back", "cannot be told: power 35 %", "does not", "comes back", "cannot be told: power 80 %"])
    '2 come back, 1 does not, 2 cannot be told (power 35 to 80 %)'
    """
    counts = Counter(verdict.partition(":")[0] for verdict in verdicts)
    words = {COMES_BACK: "come back", WEAKER: "come back, weaker", DOES_NOT: "do not", CANNOT_TELL: CANNOT_TELL}
    parts = [
        f"{counts[verdict]} {verdict if counts[verdict] == 1 else plural}"
        for verdict, plural in words.items()
        if counts[verdict]
    ]
    powers = sorted({int(found[1]) for verdict in verdicts if (found := re.search(r"power (\d+)", verdict))})
    if powers:
        parts[-1] += f" (power {' to '.join(map(str, sorted({powers[0], powers[-1]})))} %)"
    return ", ".join(parts)


def claim_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    """The claims of a page, a row each."""
    link = f"[{facts['target']}]({facts['page'].relative_to('results').as_posix()})"
    rows = []
    for claim in facts.get("claims", ()):
        ours = "" if claim["difference"] is None else f"{claim['difference']:+.4g}"
        n = " and ".join(dict.fromkeys(map(str, claim["n"])))
        where = ", ".join(dict.fromkeys(filter(None, (run_on(facts) if len(facts["data"]) < 2 else "", claim["on"]))))
        power = f"{100 * claim['power']:.0f} %"
        rows.append((link, claim["claim"], where, ours, n, power, claim["verdict"].partition(":")[0]))
    return rows


def with_section(page: str, title: str, text: str) -> str:
    """A page in which this text stands in the section of that title."""
    head, heading, rest = page.partition(f"\n## {title}\n")
    assert heading, f"the page has no section {title!r}"
    below = re.search(r"^## ", rest, re.MULTILINE)
    return f"{head}{heading}\n{text}\n\n{rest[below.start() :] if below else ''}"


def main() -> None:
    """Write everything anew."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the collections, to count training pairs anew")
    folder = parser.parse_args().data
    if folder is not None:
        for facts in (facts for name in TARGETS for facts in facts_of(name, DOCS)):
            (DOCS / facts["page"]).write_text(with_pairs(facts, DOCS, folder), encoding="utf-8")
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
