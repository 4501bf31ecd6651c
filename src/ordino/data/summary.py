"""A data set in a few counts, among them the percentage of relevant documents of each query (DeepNet, Fig. 2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.columns import BLOCK_ROWS, offsets_of
from ordino.data.dataset import Dataset
from ordino.html import html_table

_SHOWN = 10  # labels that the table lists


class Spread(NamedTuple):
    """The distribution of a quantity in four numbers."""

    min: float
    median: float
    mean: float
    max: float


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts that describe a data set; ``print`` shows them as a table.

    ``n_empty`` queries have no label above 0, ``n_equal`` have only one distinct label, ``n_single`` have one document:
    no ranker can do well or badly on these.
    """

    n_docs: int
    n_queries: int
    n_features: int
    docs_per_query: Spread
    labels: Mapping[float, int]
    n_empty: int
    n_equal: int
    n_single: int
    n_missing: int
    relevant_percent: NDArray[np.float64]  # (n_queries,): documents with a label above 0, in percent

    @property
    def label_shares(self) -> dict[float, float]:
        """The share of the documents that has each label."""
        return {label: count / self.n_docs for label, count in self.labels.items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; labels are written as they print."""
        return vars(self) | {
            "docs_per_query": self.docs_per_query._asdict(),
            "labels": {f"{label:g}": count for label, count in self.labels.items()},
            "relevant_percent": self.relevant_percent.tolist(),
        }

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def _repr_html_(self) -> str:
        return html_table(["data set", ""], self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """What there is and how much, as people read it."""

        def part(n: int, total: int) -> str:
            return f"{n:,} ({100 * n / max(total, 1):.1f} %)"

        size, relevant = self.docs_per_query, spread(self.relevant_percent)
        sizes = f"{size.min:,.0f} to {size.max:,.0f}, median {size.median:,g}, mean {size.mean:,.1f}"
        labels = [(f"label {label:g}", part(count, self.n_docs)) for label, count in self.labels.items()]
        if len(labels) > _SHOWN:
            labels[_SHOWN:] = [("other labels", f"{len(labels) - _SHOWN:,} distinct")]
        return [
            ("documents", f"{self.n_docs:,}"),
            ("queries", f"{self.n_queries:,}"),
            ("features", f"{self.n_features:,}"),
            ("documents per query", sizes),
            ("relevant per query", f"{relevant.min:.1f} % to {relevant.max:.1f} %, mean {relevant.mean:.1f} %"),
            *labels,
            ("queries with nothing relevant", part(self.n_empty, self.n_queries)),
            ("queries with equal labels", part(self.n_equal, self.n_queries)),
            ("queries with one document", part(self.n_single, self.n_queries)),
            ("missing feature values", f"{self.n_missing:,}"),
        ]


def summarize(dataset: Dataset) -> Summary:
    """Counts of what a data set holds.

    Examples
    --------
    >>> found = summarize(Dataset([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 0], qid=[1, 1, 1, 2]))
    >>> found.docs_per_query, found.n_empty
    (Spread(min=1.0, median=2.0, mean=2.0, max=3.0), 1)
    """
    counts = dataset.counts
    n_relevant = count_by_query(dataset, dataset.y > 0)
    labels, occurrences = np.unique(dataset.y, return_counts=True)
    return Summary(
        n_docs=dataset.n_docs,
        n_queries=dataset.n_queries,
        n_features=dataset.n_features,
        docs_per_query=spread(counts),
        labels=MappingProxyType(dict(zip(labels.tolist(), occurrences.tolist(), strict=True))),
        n_empty=int((n_relevant == 0).sum()),
        n_equal=int(has_equal_labels(dataset).sum()),
        n_single=int((counts == 1).sum()),
        n_missing=sum(int(np.isnan(dataset.X[rows]).sum()) for rows in row_blocks(dataset.n_docs, BLOCK_ROWS)),
        relevant_percent=100 * n_relevant / np.maximum(counts, 1),
    )


def count_by_query(dataset: Dataset, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of documents of each query for which ``which`` is True."""
    return np.diff(offsets_of(which)[dataset.offsets])


def has_equal_labels(dataset: Dataset) -> NDArray[np.bool_]:
    """Whether all labels of a query are the same, for each query."""
    first = np.repeat(dataset.y[dataset.offsets[:-1]], dataset.counts)
    return np.equal(count_by_query(dataset, dataset.y != first), 0)


def spread(values: NDArray[Any]) -> Spread:
    """Least, median, mean and largest value; zeros if there are none."""
    parts = (np.min, np.median, np.mean, np.max)
    return Spread(*(float(part(values)) if len(values) else 0.0 for part in parts))
