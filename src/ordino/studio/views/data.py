"""Data: what the doctor finds and what to do, labels, sizes of queries, and the parts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.doctor import SEVERITIES, Finding, examine
from ordino.data.summary import Summary, count_by_query, summarize
from ordino.errors import OrdinoError
from ordino.experiment.run.driver import documents_path
from ordino.pages.numbers import grade_class, grade_text, listed, spelled
from ordino.pages.scales import Scale
from ordino.plain import count_of
from ordino.studio.ask import Ask, State, StateError
from ordino.studio.shelf import parts_of
from ordino.studio.sources import stamp
from ordino.studio.views.board import chosen_group

MOST_DOTS = 400
"""Dots of a part; with more queries a dot stands for several."""
BINS = 60  # of the axis of sizes
FROM = {"note": "notes up", "warning": "warnings up", "error": "errors only"}


class Stack(NamedTuple):
    """The dots of one part over the axis of sizes."""

    name: str
    dots: Sequence[tuple[str, str]]
    base: int
    median_x: str
    median: str


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    parts = open_parts(studio, ask)
    chosen = ask.text("part")
    shown = {name: data for name, data in parts.items() if not chosen or name == chosen} or parts
    least = ask.choice("from", FROM, "note")
    key = ("doctor", tuple((name, id(data)) for name, data in shown.items()))
    found = studio.memory.get(key, lambda: (shown, examine(shown), {n: summarize(d) for n, d in shown.items()}))
    _, findings, summaries = found  # the data is remembered too, so that no other gets its id meanwhile
    severe = SEVERITIES[: SEVERITIES.index(least) + 1]
    counts = {kind: sum(one.severity == kind for one in findings) for kind in SEVERITIES}
    return {
        "sets": parts, "chosen": chosen, "least": least, "levels": FROM, "counts": counts,
        "findings": [one for one in findings if one.severity in severe], "finding": _finding(findings),
        "n_docs": sum(one.n_docs for one in summaries.values()), "summaries": summaries,
        "n_queries": sum(one.n_queries for one in summaries.values()), "grades": _grades(summaries),
        "sizes": _sizes(shown), "relevance": _relevance(shown), "paths": studio.sources.data,
    }  # fmt: skip


def open_parts(studio: Any, ask: Ask) -> dict[str, Dataset]:
    """The data that was named; else the test documents beside the store, of the data set that the page is about."""
    parts: dict[str, Dataset] = {}
    try:
        for called, path in studio.sources.data_by_name.items():
            found = parts_of(path, studio.memory)
            several = len(studio.sources.data) > 1
            parts |= {
                name if not several else called if len(found) == 1 else f"{called}, {name}": data
                for name, data in found.items()
            }
    except OrdinoError as error:
        raise StateError(State(str(error), kind="wrong", role="alert"), 400) from None
    if not parts and studio.sources.store is not None:
        with studio.store() as opened:
            group, _ = chosen_group(opened, ask)
            tested = opened.store.rows("SELECT DISTINCT fold, data FROM trials WHERE dataset = ?", group.dataset)
            files = [(f"test part of {fold}", documents_path(opened.models, data)) for fold, data in tested]
        for name, file in [(name, file) for name, file in sorted(files) if file.is_file()][:20]:
            parts[name] = studio.memory.get(("documents", str(file), stamp(file)), lambda file=file: Dataset.open(file))
    if not parts:
        then = "A store keeps test documents where bench ran with --models. Or name the data:"
        raise StateError(State("There is no data here.", then, f"{studio.sources.command} DATA"))
    return parts


def _finding(findings: Sequence[Finding]) -> str:
    errors = [one for one in findings if one.severity == "error"]
    warnings = sum(one.severity == "warning" for one in findings)
    if errors:
        what = listed([f"{one.what} ({one.where})" for one in errors], most=2)
        n = len(errors)
        return f"{spelled(n).capitalize()} {'thing' if n == 1 else 'things'} would spoil the experiment: {what}."
    if warnings:
        verb = "deserves" if warnings == 1 else "deserve"
        return f"Nothing would spoil the experiment; {count_of(warnings, 'warning')} {verb} a look."
    if findings:
        return f"Nothing would spoil the experiment; {count_of(len(findings), 'thing is', 'things are')} worth knowing."
    return "Nothing found that would hurt."


def _grades(summaries: Mapping[str, Summary]) -> dict[str, Any]:
    """The share of each label in each part, as a bar cut in pieces."""
    labels = sorted({label for one in summaries.values() for label in one.labels})[:12]
    highest = max([*labels, 1])
    rows = []
    for name, one in summaries.items():
        start, pieces = 0.0, []
        for label in labels:
            width = 100 * one.labels.get(label, 0) / max(1, one.n_docs)
            kind = grade_class(label, highest).removeprefix("g")
            pieces.append(
                (kind, f"{start:.2f}%", f"{width:.2f}%", f"{start + 0.8:.2f}%", grade_text(label) if width > 4 else "")
            )
            start += width
        told = ", ".join(f"grade {grade_text(label)}: {one.labels.get(label, 0):,}" for label in labels)
        rows.append(
            {"name": name, "pieces": pieces, "told": told, "counts": [one.labels.get(label, 0) for label in labels]}
        )
    return {"labels": labels, "rows": rows, "highest": highest}


def _stacked(parts: Mapping[str, Any], scale: Scale) -> list[Stack]:
    stacks = []
    for i, (name, values) in enumerate(parts.items()):
        base = 58 + 62 * i
        each = max(1, -(-len(values) // MOST_DOTS))
        places = np.array([scale.at(float(value)) for value in values])
        width = (scale.stop - scale.start) / BINS
        bins = np.clip(((places - scale.start) / width).astype(int), 0, BINS - 1)
        dots = []
        for where, n in zip(*np.unique(bins, return_counts=True), strict=True):
            x = f"{scale.start + (where + 0.5) * width:.2f}%"
            most = min(int(-(-n // each)), 9)
            dots += [(x, f"{base - 6.2 * level:.1f}") for level in range(most)]
        median = float(np.median(values)) if len(values) else scale.low
        stacks.append(Stack(name, dots, base, scale.percent(median), f"{median:,.0f}"))
    return stacks


def _sizes(parts: Mapping[str, Dataset]) -> dict[str, Any]:
    counts = {name: data.counts for name, data in parts.items()}
    low, high = min(int(own.min()) for own in counts.values()), max(int(own.max()) for own in counts.values())
    scale = Scale(max(1, 0.9 * low), max(2.0, 1.1 * high, low + 1), 2, 98, log=True)
    return {"stacks": _stacked(counts, scale), "ticks": scale.ticks(6), "height": 62 * len(counts) + 34}


def _relevance(parts: Mapping[str, Dataset]) -> dict[str, Any]:
    shares = {name: 100 * count_by_query(data, data.y > 0) / np.maximum(data.counts, 1) for name, data in parts.items()}
    scale = Scale(0, 100, 5, 94)
    ticks = [(scale.percent(share), f"{share} %") for share in (0, 25, 50, 75, 100)]
    return {"stacks": _stacked(shares, scale), "ticks": ticks, "height": 62 * len(shares) + 34}
