"""Query: the rankings of any rankers beside the ideal order, and the costliest pair of each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ordino.pages.numbers import grade_text, listed, ordinal, spelled
from ordino.studio.ask import Ask, State, StateError, missing
from ordino.studio.shelf import ModelShelf, Opened, Place, Shelf, StoreShelf
from ordino.studio.slope import IDEAL, SLIM, WIDE, draw_slope, ideal_order
from ordino.studio.values import costliest, value_of
from ordino.studio.views.board import chosen_board, chosen_group

SHOWN = 5
"""Rankers of the graph, unless others are picked."""
SLIM_SHOWN = 5
DEPTHS = (5, 10, 20)
LISTED = 200
"""Queries up to which they are offered in a list."""


@contextmanager
def open_shelf(studio: Any, ask: Ask) -> Iterator[tuple[Shelf, list[str], str]]:
    """The rankings, the measures that a page offers, and the profile."""
    if studio.sources.store is None:
        if not (studio.sources.models and studio.sources.data):
            then = "Open a store, or models with their data:"
            raise StateError(State("There are no rankings here.", then, "ordino studio MODEL DATA"))
        yield ModelShelf(studio.sources, studio.memory), ["ndcg@10", "map", "mrr", "p@10", "err@10"], "standard"
        return
    with studio.store() as opened:
        group, _ = chosen_group(opened, ask)
        board = chosen_board(opened, ask, group, only_lines=True)
        yield StoreShelf(opened, board, studio.sources, studio.memory), list(board.measures), group.profile


def find_place(ask: Ask, places: Mapping[str, Place]) -> Place:
    """The query that a page is about; the first one by default."""
    if not places:
        raise StateError(State("There is no query here."))
    query = ask.text("query", next(iter(places)))
    if query not in places:
        first, last = next(iter(places)), list(places)[-1]
        links = [(f"Query {first}", ask.here(query=first)), ("All queries", ask.link("compare"))]
        raise missing(f"There is no query {query}; the last is {last}.", "", links)
    return places[query]


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with open_shelf(studio, ask) as (shelf, measures, profile):
        places, labels = shelf.places(), shelf.labels()
        place = find_place(ask, places)
        wanted = [one for one in ask.several("rankers") if one in labels] or labels[:SHOWN]
        opened = shelf.open(place, wanted)
        named = shelf.named_documents(place) if isinstance(shelf, StoreShelf) else None
        changed = None if named is None else shelf.changed(place, named)
    rankers = [one for one in wanted if one in opened.scores]
    if not rankers:
        then = "The limit of what is kept beside the store was reached. Raise it and train again: --rankings"
        raise StateError(State(f"No ranking of query {place.query} was kept.", then, kind="late"))
    measure = ask.choice("measure", measures, measures[0])
    k = min(ask.whole("places", 10, 20), len(opened.labels))
    values = {one: value_of(measure, profile, opened, opened.scores[one]) for one in rankers}
    drawn = {IDEAL: value_of(measure, profile, opened, opened.labels), **values}
    picked = ask.text("doc")
    if picked and opened.row(picked) is None:
        raise missing(f"There is no document {picked} in query {place.query}.", "", [("Drop it", ask.here(doc=None))])
    queries = list(places)
    at = queries.index(place.query)
    tables = {IDEAL: ideal_order(opened, rankers), **{one: opened.order(one) for one in rankers}}
    return {
        "place": place, "queries": queries if len(queries) <= LISTED else [], "n_queries": len(queries),
        "before": queries[at - 1] if at else None, "after": queries[at + 1] if at + 1 < len(queries) else None,
        "labels": labels, "rankers": rankers, "measure": measure, "measures": measures, "k": k, "depths": DEPTHS,
        "depth": ask.whole("places", 10, 20), "profile": profile, "opened": opened,
        "finding": finding(opened, rankers, k), "grades": _grades(opened),
        "wide": draw_slope(opened, rankers, drawn, k, WIDE, [picked]),
        "slim": draw_slope(opened, rankers[:SLIM_SHOWN], drawn, k, SLIM, [picked]),
        "costs": sorted(filter(None, (costliest(opened, one, measure, profile, values[one]) for one in rankers)),
                        key=lambda cost: -cost.adds),
        "detail": _detail(opened, picked, tables) if picked else None, "values": values,
        "second": ask.text("second"), "changed": changed, "unkept": [one for one in wanted if one not in rankers],
        "table": [[_cell(opened, order, i) for order in tables.values()] for i in range(k)], "columns": list(tables),
    }  # fmt: skip


def finding(opened: Opened, rankers: Sequence[str], k: int) -> str:
    """Where the documents of the highest grade went."""
    highest = opened.highest
    if highest <= 0:
        return "No document of this query is relevant: every order of it is as good."
    best = np.flatnonzero(opened.labels == highest)
    grade = f"grade {grade_text(highest)}"
    if len(best) == len(opened.labels):
        return f"All {len(best):,} documents of this query have {grade}: every order of it is as good."
    if len(best) == 1:
        places = {one: int(np.flatnonzero(opened.order(one) == best[0])[0]) + 1 for one in rankers}
        return f"The only document of {grade} is {_went(places)}."
    among = {one: int(np.isin(opened.order(one)[:k], best).sum()) for one in rankers}
    most, least = max(among, key=lambda one: among[one]), min(among, key=lambda one: among[one])
    of = f"{among[most]:,} of the {len(best):,} documents of {grade}"
    if among[most] == among[least]:
        who = most if len(rankers) == 1 else f"Each of the {spelled(len(rankers))} rankers"
        return f"{who} has {of} among its first {spelled(k)}."
    return f"{most} has {of} among its first {spelled(k)}, {least} {among[least] or 'none'}."


def _went(places: Mapping[str, int]) -> str:
    """Where one document stands, for those who agree and for the others."""
    common, n = Counter(places.values()).most_common(1)[0]
    if n == len(places):
        who = next(iter(places)) if n == 1 else "both rankers" if n == 2 else f"all {spelled(n)} rankers"
        return f"{ordinal(common)} for {who}"
    common = common if n > 1 else min(places.values())
    agree = [one for one, place in places.items() if place == common]
    others = sorted((place, one) for one, place in places.items() if place != common)
    who = agree[0] if len(agree) == 1 else listed(agree) if len(agree) == 2 else f"{spelled(len(agree))} rankers"
    if len(others) > 3:
        (low, _), (high, _) = others[0], others[-1]
        return f"{ordinal(common)} for {who}; the others place it {ordinal(low)} to {ordinal(high)}"
    named, at = listed([one for _, one in others]), listed([ordinal(place) for place, _ in others])
    return f"{ordinal(common)} for {who}; {named} {'places' if len(others) == 1 else 'place'} it {at}"


def _grades(opened: Opened) -> list[tuple[float, int]]:
    labels, counts = np.unique(opened.labels, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))[-8:]


def _cell(opened: Opened, order: Any, i: int) -> tuple[str, float]:
    return opened.doc_ids[order[i]], float(opened.labels[order[i]])


def _detail(opened: Opened, doc: str, orders: Mapping[str, Any]) -> dict[str, Any]:
    """The document that is picked: its places, and what can be asked of them."""
    row = opened.row(doc)
    places = {name: int(np.flatnonzero(order == row)[0]) + 1 for name, order in orders.items()}
    rankers = [one for one in places if one != IDEAL]
    whose = "" if len(rankers) == 1 else " for {}"
    highest, lowest = (choose(rankers, key=lambda one: places[one]) for choose in (min, max))
    questions = []
    if places[highest] == 1 and len(opened.doc_ids) > 1:
        second = opened.doc_ids[orders[highest][1]]
        questions.append((f"Why is it first{whose.format(highest)}?", highest, doc, second))
    if places[lowest] > 1:
        first = opened.doc_ids[orders[lowest][0]]
        questions.append((f"Why is it not higher{whose.format(lowest)}?", lowest, first, doc))
    label = float(opened.labels[row]) if row is not None else 0.0
    return {"doc": doc, "label": label, "places": places, "questions": questions}
