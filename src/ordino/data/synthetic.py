"""Synthetic data sets: those of the papers, and sets with the shapes of public ones. Same options, same data.

:data:`SYNTHETIC` names them. The papers' own are here; :mod:`ordino.data.synthetic_shapes` has the shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.columns import Groups, offsets_of
from ordino.data.dataset import Dataset
from ordino.data.synthetic_shapes import mq2007, mq2008, mslr, td2003
from ordino.errors import ParameterError


def synthetic(name: str, **options: Any) -> Dataset:
    """Make the synthetic data set with this name.

    Parameters
    ----------
    name
        One of :data:`SYNTHETIC`.
    options
        ``queries`` (their number), ``seed``, and the other options of the function of that name.

    Examples
    --------
    >>> synthetic("mq", queries=60, seed=1).n_features
    46
    >>> synthetic("ranknet-net", queries=20)
    Dataset(1,000 documents, 20 queries, 50 features)
    >>> synthetic("mq", quries=60)
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown option of synthetic set 'mq': 'quries'; did you mean 'queries'?
    """
    allowed = signature(SYNTHETIC[check_choice("synthetic set", name, SYNTHETIC)]).parameters
    for option, value in options.items():
        usual = allowed[check_choice(f"option of synthetic set {name!r}:", option, allowed)].default
        if isinstance(usual, int) or (usual is None and value is not None):
            check_int(option, value, low=0 if option == "seed" else 1)
    return SYNTHETIC[name](**options)


def ranknet_net(
    *, queries: int = 1000, docs: int = 50, features: int = 50, hidden: int = 10, levels: int = 6, seed: int = 0
) -> Dataset:
    """RankNet's random network: features and weights uniform in [-1, 1], the output cut into 6 levels (section 5).

    The network has two layers and tanh units, with biases. The output is cut so that all levels are equally frequent in
    the whole set: two documents then differ in 5 of 6 cases, which is what the paper counts (20,382 of 24,500 pairs of
    20 queries; equal levels inside each query would make exactly 20,820, equal steps of the output far fewer). A linear
    model orders about 91 % of the pairs (the paper: 90 %).
    """
    rng = np.random.default_rng(seed)
    V = rng.uniform(-1, 1, (features, hidden))
    bias = rng.uniform(-1, 1, hidden)
    w = rng.uniform(-1, 1, hidden)
    X = rng.uniform(-1, 1, (queries * docs, features))
    return _of_equal_queries(X, equal_levels(np.tanh(X @ V + bias) @ w, levels), queries)


def ranknet_poly(*, queries: int = 1000, docs: int = 50, features: int = 50, levels: int = 6, seed: int = 0) -> Dataset:
    r"""RankNet's random polynomial: a linear, a quadratic and a cubic term of equal weight, in 6 levels (section 5).

    .. math:: w \cdot x, \quad \sum_i x_i x_{Q(i)}, \quad \sum_i x_i x_{R(i)} x_{S(i)}

    with random permutations Q, R, S, each term scaled to mean 0 and variance 1 over the set. Cut as in
    :func:`ranknet_net`. A linear model orders about 73 % of the pairs; the paper, whose text leaves nothing else to
    choose, says 69 %.
    """
    rng = np.random.default_rng(seed)
    w = rng.uniform(-1, 1, features)
    Q, R, S = (rng.permutation(features) for _ in range(3))
    X = rng.uniform(-1, 1, (queries * docs, features))
    terms = [X @ w, np.einsum("ij,ij->i", X, X[:, Q]), np.einsum("ij,ij,ij->i", X, X[:, R], X[:, S])]
    values = np.mean([(term - term.mean()) / (term.std() or 1.0) for term in terms], axis=0)
    return _of_equal_queries(X, equal_levels(values, levels), queries)


def directranker(
    *,
    queries: int = 1000,
    docs: int | tuple[int, int] = (50, 150),
    features: int = 70,
    classes: int = 5,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """DirectRanker's Gaussian classes: each class has its own mean and spread of every feature (section 4.3).

    Means are uniform in [0, 100], standard deviations in [50, 100], classes equally likely. With ``noise``, a label
    becomes a normal number around the class with that standard deviation, rounded, and held inside 0 ... classes - 1:
    0.25 moves 5 % of the labels of an inner class, 0.75 half of them.

    The paper trains on 100,000 documents and measures NDCG@20 on 50 random subsets of 50 to 150 documents of a test
    set. Documents are drawn independently, so a query of 50 to 150 documents *is* such a subset, and the 1,000 queries
    of the default hold about 100,000 documents. Make 1,050 queries and ``split`` off 50: training and test then share
    the classes. ``docs`` may be one number; ``queries=1, docs=100_000`` is one pool.
    """
    fewest, most = (docs, docs) if isinstance(docs, int) else docs
    try:
        check_int("docs", most, low=check_int("docs", fewest, low=1))
    except ParameterError:
        sentence = f"docs={docs!r}; give one number, or the fewest and the most documents of a query"
        raise ParameterError(sentence) from None
    check_real("noise", noise, low=0)
    rng = np.random.default_rng(seed)
    mean = rng.uniform(0, 100, (classes, features)).astype(np.float32)
    std = rng.uniform(50, 100, (classes, features)).astype(np.float32)
    offsets = offsets_of(rng.integers(fewest, most + 1, queries))
    labels = rng.integers(0, classes, offsets[-1])
    X = rng.standard_normal((len(labels), features), dtype=np.float32)
    for label in range(classes):
        X[labels == label] = X[labels == label] * std[label] + mean[label]
    noisy = np.rint(labels + noise * rng.standard_normal(len(labels)))
    return Dataset.of_groups(X, np.clip(noisy, 0, classes - 1), Groups(None, offsets, np.arange(1, queries + 1)))


SYNTHETIC: Mapping[str, Callable[..., Dataset]] = MappingProxyType(
    {
        "ranknet-net": ranknet_net,
        "ranknet-poly": ranknet_poly,
        "directranker": directranker,
        "td2003": td2003,
        "mq": mq2007,
        "mq2007": mq2007,
        "mq2008": mq2008,
        "mslr": mslr,
    }
)
"""Every synthetic set by its name; the first line of a function says what it makes."""


def equal_levels(values: NDArray[np.float64], levels: int) -> NDArray[np.float64]:
    """Levels 0, 1, ... by rank, each for the same number of values (or one more or less).

    Examples
    --------
    >>> equal_levels(np.array([0.3, -1.0, 9.0, 0.2]), 2).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    cut = np.empty(len(values))
    cut[np.argsort(values, kind="stable")] = np.arange(len(values)) * levels // len(values)
    return cut


def _of_equal_queries(X: NDArray[np.float64], y: NDArray[np.float64], queries: int) -> Dataset:
    offsets = np.arange(queries + 1) * (len(y) // queries)
    return Dataset.of_groups(X.astype(np.float32), y, Groups(None, offsets, np.arange(1, queries + 1)))
