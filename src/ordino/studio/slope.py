"""The slope graph: what each ranker put first beside the ideal order, with lines that join the same document.

A column shows its first k places and, below them, those of the ideal k that it placed lower. Lines run between columns
only, so that no chip is crossed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.pages.numbers import cut_middle, grade_class, grade_text
from ordino.studio.shelf import Opened

IDEAL = "Ideal"


@final
@dataclass(frozen=True)
class Shape:
    """The measures of a drawing, in the units of its view box."""

    width: float
    chip: float
    height: float
    row: float
    low_row: float
    top: float
    left: float
    right: float
    names: bool = True
    """Whether chips carry the names of documents, or grades alone."""
    step: float = 0.0
    """The least distance of two columns; the drawing becomes wider where they need it."""


WIDE = Shape(1200, 92, 24, 33, 27.5, 64.5, 60, 20, step=176)
SLIM = Shape(358, 32, 24, 29, 28, 40.5, 23, 10, names=False)
PAIR = Shape(400, 92, 23, 29, 29, 43, 26, 2)


class Line(NamedTuple):
    """A stretch between two columns; ``out`` if its other end is not shown."""

    x1: float
    y1: float
    x2: float
    y2: float
    out: bool = False


class Chip(NamedTuple):
    """A document in a column."""

    x: float
    y: float
    text_y: float
    place: str
    """Its place, below the dashed line."""


class Document(NamedTuple):
    """A document with everything that is drawn of it."""

    name: str
    short: str
    kind: str
    grade: str
    title: str
    picked: bool
    lines: Sequence[Line]
    chips: Sequence[Chip]


class Column(NamedTuple):
    """A ranker's column."""

    x: float
    name: str
    value: str
    share: float
    """Of the measure, from 0 to 1, for the bar under the name."""


class Slope(NamedTuple):
    """A drawing."""

    shape: Shape
    width: float
    height: float
    columns: Sequence[Column]
    rows: Sequence[tuple[int, float, float]]
    """Each place, where it is written, and how wide its bar is: what NDCG pays for it."""
    cut: float
    """Where the dashed line is."""
    documents: Sequence[Document]
    has_lower: bool


def ideal_order(opened: Opened, rankers: Sequence[str]) -> NDArray[np.intp]:
    """Documents by grade, then by the mean of log2(1 + place) of the rankers shown: no needless crossings."""
    places = np.zeros(len(opened.labels))
    for ranker in rankers:
        places[opened.order(ranker)] += np.log2(np.arange(len(places)) + 2)
    return np.lexsort((places, -opened.labels))


def draw_slope(
    opened: Opened,
    rankers: Sequence[str],
    values: Mapping[str, float],
    k: int,
    shape: Shape,
    picked: Sequence[str] = (),
) -> Slope:
    """The columns of ideal order and rankers, k places each; ``values`` has that of the ideal order too."""
    orders = {IDEAL: ideal_order(opened, rankers), **{ranker: opened.order(ranker) for ranker in rankers}}
    return draw_orders(opened, orders, values, k, shape, picked)


def draw_orders(
    opened: Opened, orders: Mapping[str, NDArray[np.intp]], values: Mapping[str, float], k: int, shape: Shape,
    picked: Sequence[str] = (),
) -> Slope:  # fmt: skip
    """The same for any orders, the first of which is what the others are held against."""
    n_docs, names = len(opened.labels), list(orders)
    k = min(k, n_docs)
    places = {name: _places(order) for name, order in orders.items()}
    step = max(shape.step, (shape.width - shape.left - shape.right - shape.chip) / max(1, len(names) - 1))
    width = shape.left + step * (len(names) - 1) + shape.chip + shape.right
    xs = {name: shape.left + i * step for i, name in enumerate(names)}
    cut = shape.top + k * shape.row + (4 if shape.names else 3)
    wanted = orders[names[0]][:k]
    spots: dict[str, dict[int, tuple[float, str]]] = {}
    lowest = 0
    for name, order in orders.items():
        own = {int(doc): (shape.top + i * shape.row, "") for i, doc in enumerate(order[:k])}
        lower = sorted((int(doc) for doc in wanted if int(doc) not in own), key=places[name].tolist().__getitem__)
        for i, doc in enumerate(lower):
            own[doc] = (cut + 20 + i * shape.low_row, str(places[name][doc] + 1))
        lowest = max(lowest, len(lower))
        spots[name] = own
    shown = sorted({doc for own in spots.values() for doc in own}, key=lambda doc: int(places[names[0]][doc]))
    documents = [_document(opened, doc, names, places, spots, xs, shape, step, picked) for doc in shown]
    rows = [(i + 1, shape.top + i * shape.row + shape.height / 2 + 4, 26 / log2(i + 2)) for i in range(k)]
    columns = [Column(xs[name], name, f"{values[name]:.4f}", min(1.0, max(0.0, values[name]))) for name in names]
    height = cut + (28 + lowest * shape.low_row if lowest else 4)
    return Slope(shape, width, height, columns, rows, cut, documents, bool(lowest))


def _places(order: NDArray[np.intp]) -> NDArray[np.intp]:
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _document(
    opened: Opened, doc: int, names: Sequence[str], places: Mapping[str, NDArray[np.intp]],
    spots: Mapping[str, Mapping[int, tuple[float, str]]], xs: Mapping[str, float], shape: Shape, step: float,
    picked: Sequence[str],
) -> Document:  # fmt: skip
    name, label = opened.doc_ids[doc], float(opened.labels[doc])
    lines, chips = list[Line](), list[Chip]()
    gap, half, room = 2.0, shape.height / 2, 22.0 if shape.names else 0.0
    for i, column in enumerate(names):
        spot = spots[column].get(doc)
        before = spots[names[i - 1]].get(doc) if i else None
        if spot is None:
            continue
        y, place = spot
        chips.append(Chip(xs[column], y, y + half + 4.3, place))
        if before is not None:
            start = xs[names[i - 1]] + shape.chip + gap + (room if before[1] else 0)
            lines.append(Line(start, before[0] + half, xs[column] - gap, y + half))
        elif i:  # it comes from below
            lines.append(_stub(xs[column] - gap, y + half, -1, doc, places[names[i - 1]], places[column], step))
        if i + 1 < len(names) and doc not in spots[names[i + 1]]:
            x = xs[column] + shape.chip + gap + (room if place else 0)
            lines.append(_stub(x, y + half, 1, doc, places[names[i + 1]], places[column], step))
    told = ", ".join(f"{column} {places[column][doc] + 1}" for column in names)
    title = f"{name}, grade {grade_text(label)}: {told}"
    kind = grade_class(label, opened.highest)
    return Document(name, cut_middle(name), kind, grade_text(label), title, name in picked, lines, chips)


def _stub(
    x: float, y: float, side: int, doc: int, there: NDArray[np.intp], here: NDArray[np.intp], step: float
) -> Line:
    """The dotted end of a line whose other end is not shown; it points to where that would be."""
    length = 0.2 * step
    tilt = 0.35 if there[doc] > here[doc] else -0.35
    ends = (x, y, x + side * length, y + tilt * length)
    return Line(*ends, True) if side > 0 else Line(ends[2], ends[3], x, y, True)
