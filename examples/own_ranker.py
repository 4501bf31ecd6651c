"""A ranker of your own in two methods, held to the contract that all others follow, then used like them."""

from typing import final

import numpy as np
from numpy.typing import NDArray

import ordino
from ordino import Dataset
from ordino.ranker import Ranker
from ordino.testing import check_ranker


@final
class Covariance(Ranker):
    """Weighs each feature by its covariance with the label: least squares for those who do not trust matrices."""

    def __init__(self, *, scaling: str | None = "zscore") -> None:
        self.scaling = scaling  # the base class scales

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:  # noqa: ARG002 - nothing to choose
        X = data.X.astype(np.float64)
        self.coef_ = (data.y - data.y.mean()) @ (X - X.mean(axis=0)) / data.n_docs

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return np.asarray((data.X * self.coef_).sum(axis=1), dtype=np.float64)


def main() -> None:
    check_ranker(Covariance())
    print("Covariance keeps the contract.")
    train, test = ordino.synthetic("mq", queries=80, seed=1).split(0.75)
    print(ordino.evaluate(test, Covariance().fit(train).predict(test), metrics=["ndcg@10", "map"]))


if __name__ == "__main__":
    main()
