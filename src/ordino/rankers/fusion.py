"""RankFusion: the lists of several retrievers made one by a fixed rule; nothing is learned.

What most hybrid searches do, and so what a learned combination has to beat.
"""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.order.run_fusion import RUN_METHODS, fuse_runs
from ordino.parameters import param
from ordino.ranker import Ranker

SCORE, MISSING = "_score", "_missing"


def check_features_given(given: object) -> None:
    """Refuse anything but names."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"features={given!r}; name at least one feature, or give None")


@final
class RankFusion(Ranker):
    """A fixed rule that combines features, each the scores of one retriever; larger is better.

    A document that a retriever did not find has NaN there, or, in data from :meth:`ordino.Dataset.from_runs`, 1 in its
    feature ``NAME_missing``.

    Attributes
    ----------
    runs_
        The names of the features that are combined.

    Examples
    --------
    >>> data = Dataset.from_runs({"bm25": {"q": {"a": 7.5, "b": 3.0}}, "dense": {"q": {"b": 0.9}}}, {"q": {"b": 1}})
    >>> ranker = RankFusion().fit(data)
    >>> ranker.runs_, data.doc_ids[ranker.rank(data)].tolist()
    (['bm25_score', 'dense_score'], ['b', 'a'])
    """

    allows_nan = True

    method: str = param(
        "rrf",
        f"The rule: {', '.join(RUN_METHODS)}.",
        choices=RUN_METHODS,
    )
    k: float = param(60.0, "The constant of rrf: how little a place at the top counts more than one below.", low=0)
    features: str | Sequence[str] | None = param(
        None,
        "The features to combine, by name (f1, f2, ... if they have none). None takes the scores of the runs in data "
        "from `Dataset.from_runs`, and all features of other data.",
        check=check_features_given,
    )

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:  # noqa: ARG002
        names = name_features(data.feature_names, data.n_features)
        if self.features is not None:
            chosen = [self.features] if isinstance(self.features, str) else self.features
            self.runs_ = [check_choice("features", name, names) for name in chosen]
        else:
            self.runs_ = scores_of_runs(names) or list(names)
        self.columns_ = [names.index(name) for name in self.runs_]
        self.marks_ = [names.index(_missing(name)) if _missing(name) in names else -1 for name in self.runs_]

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return fuse_runs(self.run_scores(data), data.offsets, self.method, k=self.k)

    def run_scores(self, data: Dataset) -> NDArray[np.float64]:
        """What each run scored, shape ``(n_runs, n_docs)``; NaN where it did not find a document."""
        scores = data.X[:, self.columns_].T.astype(np.float64)  # (n_runs, n_docs)
        for of_run, mark in zip(scores, self.marks_, strict=True):
            if mark >= 0:
                of_run[data.X[:, mark] > 0] = np.nan
        return scores

    def by_run(self, data: Dataset) -> Dataset:
        """What each run adds to the scores as a feature, where the rule is a sum over runs, as rrf is."""
        parts = [fuse_runs(one[None], data.offsets, self.method, k=self.k) for one in self.run_scores(data)]
        return data.replace(X=np.stack(parts, axis=1), feature_names=self.runs_)

    def _check_learned(self) -> None:
        places = [*self.columns_, *self.marks_]
        if len(self.columns_) != len(self.marks_) or not self.columns_:
            raise DataError("columns_ does not fit the other parts of the model; get the file again")
        if not all(isinstance(j, int) and -1 <= j < self.n_features_in_ for j in places) or min(self.columns_) < 0:
            raise DataError("columns_ does not fit the other parts of the model; get the file again")


def _missing(name: str) -> str:
    return name.removesuffix(SCORE) + MISSING


def scores_of_runs(names: Sequence[str]) -> list[str]:
    """The features that are scores of runs, as :meth:`ordino.Dataset.from_runs` names them.

    Examples
    --------
    >>> scores_of_runs(["bm25_score", "bm25_missing", "click_score"])
    ['bm25_score']
    """
    return [name for name in names if name.endswith(SCORE) and _missing(name) in names]


def fusion_of_runs(data: Dataset) -> RankFusion | None:
    """Reciprocal rank fusion of the runs that the data comes from; None if it does not come from at least two."""
    return RankFusion().fit(data) if len(scores_of_runs(data.feature_names or ())) > 1 else None
