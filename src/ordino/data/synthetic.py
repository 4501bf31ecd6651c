"""Synthetic data: the papers' data sets, and others with the shape of public ones. Equal options give equal data.

``td`` is made by a small web of its own (:mod:`ordino.data.web`). The other sets with the shape of a public one
(documents per query, label shares, kinds of features; no real row) are made like this: a page has *fields*. Of each
field it either lacks the evidence or has a normal amount of it, which several features show through noise: as a count,
a ratio, a heavy-tailed number. Relevance is half a weighted sum of the evidence and half a bent function of it, plus
noise and plus the luck of the query, which no feature shows; the labels cut it at the shares of the real set. A linear
model finds a part of what can be found, trees or a network more.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.checks import check_choice, check_int, check_real
from ordino.data.columns import Groups, offsets_of
from ordino.data.dataset import Dataset
from ordino.data.folds import Folds, make_folds
from ordino.data.scaling import MinMax
from ordino.errors import ParameterError

Block = NDArray[np.floating]

FIELDS = ("body", "title", "anchor", "url", "links")
_BLOCK_ROWS = 16384  # about how many rows are made at a time


def synthetic(name: str, **options: Any) -> Dataset:
    """Make a synthetic data set by its name in :data:`SYNTHETIC`; the function with that name has its options.

    Examples
    --------
    >>> synthetic("ranknet-net", queries=20)
    Dataset(1,000 documents, 20 queries, 50 features)
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

    The network has two layers and tanh units, with biases. All levels are equally frequent in the whole set: two
    documents then differ in 5 of 6 cases, which is what the paper counts (20,382 of 24,500 pairs of 20 queries; equal
    levels inside each query would make exactly 20,820). A linear model orders about 91 % of the pairs (paper: 90 %).
    """
    rng = np.random.default_rng(seed)
    V, bias, w = (rng.uniform(-1, 1, size) for size in ((features, hidden), hidden, hidden))
    X = rng.uniform(-1, 1, (queries * docs, features))
    return _numbered(X, equal_levels(np.tanh(X @ V + bias) @ w, levels), np.arange(queries + 1) * docs)


def ranknet_poly(*, queries: int = 1000, docs: int = 50, features: int = 50, levels: int = 6, seed: int = 0) -> Dataset:
    r"""RankNet's random polynomial: a linear, a quadratic and a cubic term of equal weight, in 6 levels (section 5).

    .. math:: w \cdot x, \quad \sum_i x_i x_{Q(i)}, \quad \sum_i x_i x_{R(i)} x_{S(i)}

    with random permutations Q, R, S, each term scaled to mean 0 and variance 1 over the set. Cut as in
    :func:`ranknet_net`. A linear model orders about 73 % of the pairs (paper: 69 %).
    """
    rng = np.random.default_rng(seed)
    w = rng.uniform(-1, 1, features)
    Q, R, S = (rng.permutation(features) for _ in range(3))
    X = rng.uniform(-1, 1, (queries * docs, features))
    terms = [X @ w, np.einsum("ij,ij->i", X, X[:, Q]), np.einsum("ij,ij,ij->i", X, X[:, R], X[:, S])]
    values = np.mean([(term - term.mean()) / (term.std() or 1.0) for term in terms], axis=0)
    return _numbered(X, equal_levels(values, levels), np.arange(queries + 1) * docs)


def directranker(
    *, queries: int = 1000, docs: int | tuple[int, int] = (50, 150), features: int = 70, classes: int = 5,
    noise: float = 0.0, seed: int = 0,
) -> Dataset:  # fmt: skip
    """DirectRanker's Gaussian classes: each class has its own mean and spread of every feature (section 4.3).

    Means are uniform in [0, 100], standard deviations in [50, 100], classes equally likely. With ``noise``, a label
    becomes a normal number around the class with that standard deviation, rounded, and held inside 0 ... classes - 1:
    0.25 moves 5 % of the labels of an inner class, 0.75 half of them.

    The paper trains on 100,000 documents and measures NDCG@20 on 50 random subsets of 50 to 150 documents of a test
    set. Documents are drawn independently, so a query *is* such a subset. Make 1,050 queries and ``split`` off 50:
    training and test then share the classes. ``docs`` may be one number; ``queries=1, docs=100_000`` is one pool.
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
    return _numbered(X, np.clip(noisy, 0, classes - 1), offsets)


def equal_levels(values: NDArray[np.float64], levels: int) -> NDArray[np.float64]:
    """Levels 0, 1, ... by rank, each for the same number of values (or one more or less)."""
    cut = np.empty(len(values))
    cut[np.argsort(values, kind="stable")] = np.arange(len(values)) * levels // len(values)
    return cut


def _numbered(X: Block, y: NDArray[np.float64], offsets: NDArray[np.int64]) -> Dataset:
    """A data set whose queries are called 1, 2, 3 ..."""
    groups = Groups(None, offsets, np.arange(1, len(offsets)))
    return Dataset.of_groups(X.astype(np.float32, copy=False), y, groups)


KINDS: Mapping[str, Callable[[Block], Block]] = MappingProxyType(
    {
        "count": lambda g: np.floor(np.exp(0.8 * g + 1)),  # 0, 1, 2, 5, 20: whole numbers with a tail
        "large": lambda g: np.floor(np.exp(1.5 * g + 6)),  # lengths, links, clicks: from 1 to 100,000
        "heavy": lambda g: np.exp(g),  # tf*idf, BM25
        "ratio": lambda g: 1 / (1 + np.exp(-g)),  # between 0 and 1
        "flag": lambda g: (g > 0).astype(np.float32),
        "level": lambda g: 2 * g - 8,  # logs of probabilities: negative, no tail
        "sentinel": lambda g: np.floor(np.exp(1.5 * g + 3)),  # where the field is missing: -1, not 0
        "zero": lambda g: np.zeros_like(g),
    }
)
"""What a feature makes of its normal evidence."""


class Shape(NamedTuple):
    """What is known of a public set."""

    columns: tuple[tuple[str, str, int], ...]  # field, kind and number of some features
    missing: tuple[float, ...]  # share of the documents that lack each field
    label_shares: tuple[float, ...]  # of the labels 0, 1, ...
    luck: float  # share of the variance of relevance that is the query's: the more, the more empty queries
    minmax: bool = False  # features come scaled to [0, 1] inside each query


_MQ2007 = Shape(
    columns=(
        ("body", "heavy", 6), ("body", "level", 10), ("body", "ratio", 2), ("title", "count", 1), ("title", "heavy", 7),
        ("anchor", "count", 1), ("anchor", "heavy", 6), ("url", "count", 1), ("url", "heavy", 5),
        ("links", "heavy", 1), ("links", "count", 1), ("body", "zero", 5),
    ),
    missing=(0.02, 0.56, 0.63, 0.79, 0.1), label_shares=(0.742, 0.203, 0.055), luck=0.64, minmax=True,
)  # fmt: skip

_MQ2008 = _MQ2007._replace(missing=(0.02, 0.63, 0.7, 0.81, 0.1), label_shares=(0.807, 0.132, 0.061), luck=0.43)

_MSLR = Shape(
    columns=(
        *((field, "count", 8) for field in FIELDS), *((field, "ratio", 3) for field in FIELDS),
        *((field, "large", 1) for field in FIELDS), *((field, "heavy", 8) for field in FIELDS),
        *((field, "flag", 1) for field in FIELDS), *((field, "level", 4) for field in FIELDS),
        ("links", "large", 6), ("links", "sentinel", 3), ("url", "count", 2),
    ),
    missing=(0.02, 0.3, 0.6, 0.8, 0.2), label_shares=(0.520, 0.322, 0.133, 0.018, 0.007), luck=0.7,
)  # fmt: skip


def td(seed: int = 0, *, queries: int = 50, docs: int = 1000) -> Dataset:
    """Topic distillation on a synthetic web: 50 queries of 1,000 documents, LETOR 2.0's 44 features, 1 % relevant.

    Stands where TD2003 cannot be had, and has no row of it. Features are raw and have their names; document ids start
    with "synthetic". See :mod:`ordino.data.web` for how it is made, and docs/synthetic.md for how hard it is.
    """
    from ordino.data.web.distillation import distillation

    return distillation(queries, docs, seed)


def td_folds(seed: int = 0, *, k: int = 5) -> Folds:
    """The collection :func:`td` in LETOR's folds, without files: for k = 5, three parts train and one validates.

    ``ordino synth td --folds 5`` writes the same folds.
    """
    return make_folds(td(seed), k, seed=seed)


def mq2007(*, queries: int = 1692, docs: int | None = None, seed: int = 0) -> Dataset:
    """The shape of MQ2007: 46 features in [0, 1], labels 0 to 2, about 41 documents per query, 1 query in 7 empty."""
    rng = np.random.default_rng(seed)
    share = np.array([0, 0.004, 0.005, 0.92, 0.93, 0.97, 0.99, 1])
    counts = np.interp(rng.random(queries), share, [6, 35, 40, 40, 43, 50, 70, 147])
    return _make(_MQ2007, counts, docs, rng)


def mq2008(*, queries: int = 784, docs: int | None = None, seed: int = 0) -> Dataset:
    """The shape of MQ2008: as MQ2007, but mostly 8 or 16 documents per query (mean 19) and 2 queries in 7 empty."""
    rng = np.random.default_rng(seed)
    share = np.array([0, 0.1, 0.54, 0.6, 0.76, 0.79, 0.91, 0.93, 0.955, 0.97, 1])
    counts = np.interp(rng.random(queries), share, [5, 8, 8, 15, 16, 29, 32, 59, 60, 109, 121])
    return _make(_MQ2008, counts, docs, rng)


def mslr(*, queries: int = 1000, docs: int | None = None, seed: int = 0) -> Dataset:
    """The shape of MSLR-WEB10K: 136 raw features, labels 0 to 4, about 120 documents per query, 1 query in 33 empty.

    In three features -1 stands for "not known". The real set's 10,000 queries make 1.2 million documents, 0.65 GB.
    """
    rng = np.random.default_rng(seed)
    counts = np.clip(rng.lognormal(np.log(109), 0.44, queries), 1, 908)
    return _make(_MSLR, counts, docs, rng)


def _make(shape: Shape, counts: NDArray[Any], docs: int | None, rng: np.random.Generator) -> Dataset:
    """Make features and relevance a block of queries at a time, then cut relevance into labels."""
    counts = counts.astype(np.int64) if docs is None else np.full(len(counts), docs)
    offsets = offsets_of(counts)
    X = np.empty((offsets[-1], sum(width for _, _, width in shape.columns)), np.float32)
    relevance = np.empty(offsets[-1])
    luckiness = np.sqrt(shape.luck / (1 - shape.luck))  # of a unit normal, beside all else, whose variance is 1
    weights = rng.dirichlet(np.full(len(FIELDS), 3.0)) ** 0.5  # their squares sum to 1
    shows = rng.uniform(0.5, 0.9, X.shape[1]).astype(np.float32)  # how much of a feature is evidence; the rest is noise
    heads = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], _BLOCK_ROWS))
    bounds = np.unique(np.append(heads, len(counts)))
    for first, end in pairwise(bounds.tolist()):
        rows = slice(offsets[first], offsets[end])
        number = query_numbers(offsets[first : end + 1])  # of each row's query in the block
        evidence = rng.standard_normal((len(number), len(FIELDS)), dtype=np.float32)
        missing = rng.random(evidence.shape, dtype=np.float32) < np.array(shape.missing, np.float32)
        evidence[missing] = -1
        luck = rng.standard_normal(end - first)[number]
        found = np.sqrt(0.4) * (evidence @ weights) + np.sqrt(0.4) * _bent(evidence)
        relevance[rows] = found + np.sqrt(0.2) * rng.standard_normal(len(number)) + luckiness * luck
        habit = 0.7 * rng.standard_normal((end - first, len(FIELDS)), dtype=np.float32)  # a query shifts its features
        start = 0
        for field, kind, width in shape.columns:
            at, stop = FIELDS.index(field), start + width
            seen = shows[start:stop]
            noise = rng.standard_normal((len(number), width), dtype=np.float32)
            shown = evidence[:, at, None] * seen + noise * np.sqrt(1 - seen * seen) + habit[number, at, None]
            block = KINDS[kind](shown)
            block[missing[:, at]] = -1 if kind == "sentinel" else 0
            X[rows, start:stop] = block
            start = stop
    edges = np.quantile(relevance, np.cumsum(shape.label_shares[:-1]))
    y = np.searchsorted(edges, relevance, side="right").astype(np.float64)
    data = _numbered(X, y, offsets)
    return MinMax().fit_transform(data) if shape.minmax else data


def _bent(evidence: Block) -> Block:
    """What no weighted sum can show: both body and links, either title or anchor, not too much url."""
    body, title, anchor, url, links = evidence.T
    both, either = np.minimum(body, links), np.abs(title - anchor)
    return np.asarray((both + either - np.abs(url)) / np.sqrt(np.float32(1.5)))


SYNTHETIC: Mapping[str, Callable[..., Dataset]] = MappingProxyType(
    {
        "ranknet-net": ranknet_net, "ranknet-poly": ranknet_poly, "directranker": directranker,
        "td": td, "mq": mq2007, "mq2007": mq2007, "mq2008": mq2008, "mslr": mslr,
    }
)  # fmt: skip
"""Every synthetic set by its name; the first line of a function says what it makes."""
