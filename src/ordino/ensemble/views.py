"""The features of documents as members see them: blocks made inside the query, each of them made once.

A missing value becomes 0 in every block but ``raw``: the middle of its query, as far as anybody knows.
"""

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import Features, Groups, offsets_of
from ordino.data.dataset import Dataset
from ordino.data.query_features import hinges
from ordino.data.scaling import make_scaler

Queries = NDArray[np.intp]


@final
class Views:
    """A data set and what scalers make of it.

    Examples
    --------
    >>> data = Dataset([[1.0], [4.0], [9.0]], [0, 1, 0], qid=list("aab"))
    >>> Views(data).take("raw+rank", np.array([0])).X.tolist()
    [[1.0, -1.0], [4.0, 1.0]]
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._blocks: dict[str, Features] = {"raw": data.X}

    def width(self, names: str) -> int:
        """How many features there are under these names."""
        return sum(3 if name == "hinge" else 1 for name in names.split("+")) * self.data.n_features

    def take(self, names: str, queries: Queries | None = None) -> Dataset:
        """The features of these names, of these queries or of all."""
        data = self.data
        chosen = np.arange(data.n_queries) if queries is None else queries
        counts = data.counts[chosen]
        offsets = offsets_of(counts)
        rows = np.repeat(data.offsets[:-1][chosen] - offsets[:-1], counts) + np.arange(offsets[-1])
        wide = np.empty((len(rows), self.width(names)), np.float32)
        start = 0
        for name in names.split("+"):
            block = self._block("rank" if name == "hinge" else name)[rows]
            block = hinges(block) if name == "hinge" else block
            wide[:, start : start + block.shape[1]] = block
            start += block.shape[1]
        weights = None if data.weights is None else data.weights[rows]
        ids = None if data.doc_ids is None else data.doc_ids[rows]
        groups = Groups(None, offsets, data.query_ids[chosen])
        return Dataset.of_groups(wide, data.y[rows], groups, doc_ids=ids, weights=weights)

    def _block(self, name: str) -> Features:
        if name not in self._blocks:
            made = make_scaler(name).fit(self.data).transform(self.data).X
            self._blocks[name] = np.where(np.isnan(made), np.float32(0), made) if np.isnan(made).any() else made
        return self._blocks[name]


def pooled(data: Dataset, valid: Dataset | None) -> Dataset:
    """Both parts as one data set, whose queries are numbered anew: the same id may mean two queries."""
    if valid is None:
        return data
    weights = None
    if data.weights is not None or valid.weights is not None:
        weights = np.concatenate((data.doc_weights, valid.doc_weights))
    ids = None
    if data.doc_ids is not None and valid.doc_ids is not None:
        ids = np.concatenate((data.doc_ids, valid.doc_ids))
    offsets = np.concatenate((data.offsets, valid.offsets[1:] + data.n_docs))
    X, y = np.concatenate((data.X, valid.X)), np.concatenate((data.y, valid.y))
    groups = Groups(None, offsets, np.arange(len(offsets) - 1))
    return Dataset.of_groups(X, y, groups, doc_ids=ids, weights=weights, feature_names=data.feature_names)


def source_of(names: str, n_features: int) -> NDArray[np.intp]:
    """For each feature under these names, the number of the one that it was made of."""
    return np.tile(np.arange(n_features), sum(3 if name == "hinge" else 1 for name in names.split("+")))
