"""One number of a paper beside ours."""

from typing import NamedTuple

import numpy as np


class Number(NamedTuple):
    """One number of a table or one point of a figure.

    Examples
    --------
    >>> number = Number(("Net", "linear"), 90.0, (91.0, 93.0))
    >>> number.mean, number.difference
    (92.0, 2.0)
    """

    labels: tuple[str, ...]
    paper: float | None
    """What the paper says; None where it says nothing."""
    ours: tuple[float, ...]
    """One value of each repeat (or fold, or query: the result says which)."""
    same_data: bool = True
    """Whether the paper says it of the same data; if not, its number stands in brackets and is not compared."""
    paper_deviation: float | None = None
    """What the paper prints behind its own ±."""
    is_by_query: bool = False
    """Whether its values are those of queries, on a page whose other numbers have one for each repeat."""

    @property
    def mean(self) -> float:
        """Our number."""
        return float(np.mean(self.ours))

    @property
    def compared(self) -> float | None:
        """The paper's number, if it is of the same data."""
        return self.paper if self.same_data else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.compared is None else self.mean - self.compared
