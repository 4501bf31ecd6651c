r"""DirectRanker (Köppel et al., 2019), Theorem 3: any order of finitely many points can be represented.

The proof builds a function g with :math:`g(x) \ge g(y)` exactly where x comes before y or is level with it, point by
point, and then a continuous one, :math:`g_c(x) = \sum_i g(x_i) \max(0, 1 - 42 |x - x_i| / \delta)`, with
:math:`\delta` the smallest distance of two points.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import NOTHING, Request, Target, Trials, read_paper
from ordino.experiment.plan.plan import repeat_seeds
from ordino.rankers.directranker import DirectRanker
from ordino.streams import spawn_seed, stream

Floats = NDArray[np.float64]
PROTOCOL = read_paper("directranker")["order_protocol"]
N_SETS, N_FEATURES, N_CLASSES = 5, 5, 5
SIZES = (50, 100, 200)
WIDTH = 42  # a peak is this much narrower than the smallest distance


def build(classes: NDArray[np.integer]) -> Floats:
    """Steps p1.1 to p1.3 of the proof: the value of each point, from the order of the points before it alone.

    Examples
    --------
    Above all, below all, level, and between: half of the way.

    >>> build(np.array([5, 9, 1, 9, 7])).tolist()
    [0.0, 1.0, -1.0, 1.0, 0.5]
    """
    g = np.zeros(len(classes))
    for i in range(1, len(classes)):
        before, own = classes[:i], classes[i]
        if (before == own).any():
            g[i] = g[:i][before == own][0]
        elif (before < own).all():
            g[i] = g[:i].max() + 1
        elif (before > own).all():
            g[i] = g[:i].min() - 1
        else:
            g[i] = (g[:i][before < own].max() + g[:i][before > own].min()) / 2
    return g


def continuous(points: Floats, g: Floats, at: Floats) -> Floats:
    """g_c at any places, shape ``(n_places,)``."""
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    delta = distances[~np.eye(len(points), dtype=bool)].min()
    peaks = np.maximum(0.0, 1 - WIDTH * np.linalg.norm(at[:, None] - points, axis=2) / delta)
    values: Floats = peaks @ g
    return values


def wrong_pairs(scores: Floats, classes: NDArray[np.integer]) -> float:
    """Percent of the pairs of different classes that the scores do not put in order."""
    better = classes[:, None] > classes
    return float(100 * np.mean((scores[:, None] <= scores)[better]))


def view(request: Request, _: Trials) -> Iterator[Number | str]:
    """Pairs in the wrong order by g, by g_c at the points, and by a DirectRanker that learned the points."""
    seeds = repeat_seeds(request.seed, request.at_most(N_SETS))
    for size in SIZES[:1] if request.quick else SIZES:
        found: dict[str, list[float]] = {"g of the proof": [], "g_c of the proof": [], "DirectRanker": []}
        for seed in seeds:
            rng = stream(seed, "points", size)
            points, classes = rng.uniform(-1, 1, (size, N_FEATURES)), rng.integers(0, N_CLASSES, size)
            g = build(classes)
            net = DirectRanker(
                hidden=(100, 100), activation="tanh", scaling=None, learning_rate=0.003, optimizer="adam", batch=None,
                epochs=3 if request.quick else 3_000, patience=None, dropout=0.0, seed=spawn_seed(seed, "net"),
            ).fit(Dataset(points, classes, np.zeros(size)))  # fmt: skip
            found["g of the proof"].append(wrong_pairs(g, classes))
            found["g_c of the proof"].append(wrong_pairs(continuous(points, g, points), classes))
            found["DirectRanker"].append(wrong_pairs(net.predict(points), classes))
        for what, values in found.items():
            yield Number((str(size), what), None if what == "DirectRanker" else 0.0, tuple(values))
    yield f"Seeds of the sets of points: {', '.join(map(str, seeds))}."


TARGETS = {
    "theorem3": Target(
        shows="any order of finitely many points can be represented", needs=NOTHING, takes="5 min", view=view,
        page=Result(
            "pairs in the wrong order (%)", ("points", "function"), protocol=PROTOCOL,
            of_paper="theorem", of="sets of points", digits=2,
        ),
    ),
}  # fmt: skip
