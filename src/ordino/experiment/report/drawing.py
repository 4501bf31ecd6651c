"""What all figures share: Altair, which is loaded when a figure is drawn, colors, sizes and names."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from ordino.errors import import_extra
from ordino.experiment.report.board import Line
from ordino.plain import plain

Chart = Any  # one of Altair's several chart classes
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#8A8A8A")
GAIN, LOSS, SAME = "#0072B2", "#D55E00", "#B0B0B0"
WIDTH, PANE = 820, 360  # of a figure, and of one of two side by side; the page draws them as wide as it is
ROW = 20  # the height of a row that has a name


def altair() -> Any:
    """The module."""
    return import_extra("altair", extra="plots", purpose="a figure")


def labels_of(lines: Sequence[Line]) -> list[str]:
    """The labels as charts show them."""
    return [plain(line.label) for line in lines]


def number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if isnan(value) else value
