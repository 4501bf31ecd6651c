"""What a ranker says of held-out documents after every epoch or some rounds, and the ranker as it was then.

So the number of epochs or rounds can be chosen later, by all folds together. A ranker that is neither a network nor
trees has one step: its end.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, pairwise
from typing import Any, NamedTuple, cast, final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.model_text import merge_trees
from ordino.boosting.trees import TreeRanker
from ordino.data.dataset import Dataset
from ordino.ensemble.clock import Clock
from ordino.estimators import clone
from ordino.forms import load_lightgbm
from ordino.layers import Layer
from ordino.networks.scoring import ScoringNetwork
from ordino.networks.training import Learner, Trained, train
from ordino.progress import ending_when
from ordino.ranker import Ranker
from ordino.streams import spawn_seed

Scores = NDArray[np.float32]

EVERY = 5  # rounds of trees between two steps


class Part(NamedTuple):
    """A fold: what to learn from and what to score, both canonical, and the seed."""

    data: Dataset
    held_out: Dataset
    seed: int


class Path(NamedTuple):
    """The scores of the held-out documents after every step, and the fitted ranker at a step, from 0."""

    scores: Scores  # (n_steps, n_docs)
    at: Callable[[int], Ranker]
    is_cut: bool = False
    """Whether the time ended it, and not its rounds, its epochs or their watch."""


@final
class Watch:
    """Ends the training of networks when the measure of all parts together has stopped to rise."""

    def __init__(self, mean_of: Callable[[list[Scores]], float], patience: int, window: int) -> None:
        self._mean_of, self._patience, self._window = mean_of, patience, window
        self._means: list[float] = []
        self.n_epochs: int | None = None
        """The first number of epochs that was enough, of however many there were when somebody looked."""

    def is_enough(self, so_far: Sequence[Sequence[Scores]]) -> bool:
        """Whether the epochs so far show no rise; ``so_far`` has the scores of each part after each epoch."""
        while self.n_epochs is None and len(self._means) < min(map(len, so_far)):
            self._means.append(self._mean_of([scores[len(self._means)] for scores in so_far]))
            best = int(np.argmax(smoothed(np.array(self._means), self._window)))
            if len(self._means) - 1 - best >= self._patience:
                self.n_epochs = len(self._means)
        return self.n_epochs is not None


def follow(
    pattern: Ranker, parts: Sequence[Part], clock: Clock, watch: Watch | None = None, n_jobs: int | None = None
) -> list[Path]:
    """The path of a copy of the ranker on each part; when the time is over, it ends after the step that it is in.

    Networks learn all parts side by side, and ``watch`` may end them earlier.
    """
    if isinstance(pattern, ScoringNetwork) and getattr(pattern, "model", "network") != "trees":
        return _networks(pattern, parts, clock, watch, n_jobs)
    paths = []
    for i, part in enumerate(parts):
        own = clock.slice(1 / (len(parts) - i))
        paths.append(_trees(pattern, part, own) if isinstance(pattern, TreeRanker) else _whole(pattern, part))
    return paths


def smoothed(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """The mean of each value and its neighbors, fewer at the ends.

    Examples
    --------
    >>> smoothed(np.array([0.0, 3.0, 6.0, 0.0]), 3).tolist()
    [1.5, 3.0, 3.0, 3.0]
    """
    ones = np.ones(window)
    sums, counts = np.convolve(values, ones, "full"), np.convolve(np.ones(len(values)), ones, "full")
    start = window // 2
    return np.asarray((sums / counts)[start : start + len(values)])


def _networks(
    pattern: ScoringNetwork, parts: Sequence[Part], clock: Clock, watch: Watch | None, n_jobs: int | None
) -> list[Path]:
    rankers: list[Any] = [clone(pattern).set_params(seed=part.seed, patience=None) for part in parts]
    scores: list[list[Scores]] = [[] for _ in parts]
    layers: list[list[list[Layer]]] = [[] for _ in parts]
    learners = []
    for ranker, part, own_scores, own_layers in zip(rankers, parts, scores, layers, strict=True):
        data, held_out = ranker._prepare(part.data, part.held_out)

        def quality(
            net: Any, ranker: Any = ranker, held_out: Any = held_out, scores: Any = own_scores, layers: Any = own_layers
        ) -> float:
            layers.append(net.layers())
            scores.append(ranker._scores(layers[-1], held_out).astype(np.float32))
            return float(len(layers))  # every epoch is kept: which is best is said later

        net = ranker._fresh(data, part.seed)
        learners.append(Learner(net, ranker._supply(data, net), ranker._schedule(), quality))
    looks: list[bool] = []  # whether the time was over, though that was not enough

    def is_over() -> bool:
        is_enough = watch is not None and watch.is_enough(scores)
        looks.append(not is_enough and clock.is_over())
        return is_enough or looks[-1]

    with ending_when(is_over):
        train(learners, pattern.epochs, label=type(pattern).__name__, n_jobs=n_jobs)

    def at(i: int, step: int) -> Ranker:
        chosen: Any = rankers[i]
        return cast(Ranker, chosen._keep(Trained(layers[i][step], [], step + 1)))

    is_cut = any(looks) and min(map(len, scores)) < pattern.epochs
    n_epochs = None if watch is None else watch.n_epochs  # turns, which depend on the clock, may have gone further
    return [Path(np.array(some[:n_epochs]), partial(at, i), is_cut) for i, some in enumerate(scores)]


def _trees(pattern: TreeRanker, part: Part, clock: Clock) -> Path:
    """All bags as they are after the same number of rounds; a step is some rounds of each."""
    n_bags = getattr(pattern, "bags", 1)
    one_bag = clone(pattern) if n_bags == 1 else clone(pattern).set_params(bags=1)
    first = min(EVERY, pattern.rounds)  # rounds of a step, which all have
    grown: list[Any] = []
    looks: list[bool] = []  # whether the time was over
    for bag in range(n_bags):
        seed = part.seed if bag == 0 else spawn_seed(part.seed, "bag", bag)
        own, rounds = clock.slice(1 / (n_bags - bag)), count(1)

        def is_over(own: Clock = own, rounds: Iterator[int] = rounds) -> bool:
            looks.append(next(rounds) >= first and own.is_over())
            return looks[-1]

        with ending_when(is_over):
            grown.append(one_bag.with_seed(seed).fit(part.data))
    n_rounds = min(one.best_round_ for one in grown)
    ends = [*range(EVERY, n_rounds + 1, EVERY)] or [n_rounds]
    boosters = [load_lightgbm().Booster(model_str=one.model_) for one in grown]
    scores, total = [], np.zeros(part.held_out.n_docs)
    for start, end in pairwise([0, *ends]):
        for booster in boosters:
            how: Any = {"start_iteration": start, "num_iteration": end - start, "num_threads": 1}
            total = total + booster.predict(part.held_out.X, raw_score=True, **how)
        scores.append(total.astype(np.float32))

    def at(step: int) -> Ranker:
        chosen: Any = grown[0]
        chosen.set_params(bags=n_bags, rounds=pattern.rounds)
        chosen.model_ = merge_trees([booster.model_to_string(num_iteration=ends[step]) for booster in boosters])
        chosen.best_round_, chosen.history_ = n_bags * ends[step], []
        return cast(Ranker, chosen)

    return Path(np.array(scores), at, any(looks) and n_rounds < pattern.rounds)


def _whole(pattern: Ranker, part: Part) -> Path:
    ranker = pattern.with_seed(part.seed).fit(part.data)
    ranker.__dict__.pop("history_", None)
    return Path(ranker.form().score_scaled(part.held_out).astype(np.float32)[None], lambda _: ranker)
