"""LightGBM's trees where every shard lies with a worker of its own: they talk to each other through sockets.

LightGBM adds up the histograms of its workers by itself, in an order that their number decides. So the number of shards
is a part of what the trees are, and the same shards give the same trees on any number of machines.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any, final
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ordino.backends.crew import Bench
from ordino.boosting.booster import Booster, Rows, training_groups
from ordino.boosting.library import call, sentences_of_lightgbm
from ordino.boosting.native_ndcg import DIGITS
from ordino.boosting.trees import ALWAYS, Grown, bin_layout, model_text
from ordino.division import Divided
from ordino.errors import DataError
from ordino.judge import Choice, Judge
from ordino.progress import Steps

MINUTES = 10  # that a worker waits for the others


def grow_divided(
    ranker: Any, params: Mapping[str, object], values: NDArray[np.float64], levels: NDArray[np.int64],
    data: Divided, valid: Divided | None,
) -> Grown:  # fmt: skip
    """Boost round after round; the best on ``valid`` is kept, or the last where there is none.

    ``levels`` has the level of each of the ``values`` that labels have.
    """
    metric, profile, rounds = ranker.metric, ranker.profile, ranker.rounds
    patience, n_workers = ranker.patience or rounds, len(data.bounds) - 1
    places = data.each(find_place)
    network = {"machines": ",".join(f"{host}:{port}" for host, port in places), "num_machines": n_workers,
               "tree_learner": "data", "pre_partition": True, "time_out": MINUTES}  # fmt: skip
    whole = {**params, **ALWAYS, **bin_layout(on_disk=True), "num_threads": 1, **(network if n_workers > 1 else {})}
    held_out = None if valid is None else valid.name
    ports = [port for _, port in places]
    data.each(set_up, whole, values, levels, held_out, own=ports, once=True)
    choice, best_round = Choice(valid, metric, profile), 0
    with Steps(type(ranker).__name__, rounds, verbose=ranker.verbose) as steps:
        for step in steps:
            exhausted, reached = zip(*data.each(boost, held_out, metric, profile, once=True), strict=True)
            if valid is None or choice.takes_value(round(Judge(metric, profile).mean_of(reached), DIGITS)):
                best_round = step + 1
            if choice.history and np.isnan(choice.history[0]):
                raise DataError(f"valid has no query that {metric} in profile {profile!r} counts; use other data")
            steps.show(**choice.figures)
            if exhausted[0] or step + 1 >= best_round + patience:
                break
    rows: list[dict[str, float]] = [{"valid": value} for value in choice.history] or [{} for _ in range(best_round)]
    history = [{"round": number + 1} | row for number, row in enumerate(rows)]
    [text] = data.each(read_model, best_round, among=[0], once=True)
    return Grown(text, best_round, history, steps.interrupted)


# In a worker


def find_place(bench: Bench, _: str) -> tuple[str, int]:
    """Where this worker can be spoken to: its address and a port that nobody uses."""
    with socket.socket() as free:
        free.bind(("", 0))
        return bench.address, free.getsockname()[1]


@sentences_of_lightgbm()
def set_up(
    bench: Bench, port: int, name: str, params: dict[str, Any], values: NDArray[np.float64],
    levels: NDArray[np.int64], held_out: str | None,
) -> None:  # fmt: skip
    """Make a booster of its shard; all workers must do so at the same time."""
    data = bench.data[name]
    bench.made.pop("booster", None)
    bench.made.pop("sockets", None)  # of an earlier one
    known = {**params, **({"local_listen_port": port} if "machines" in params else {})}
    if "machines" in params:
        bench.made["sockets"] = Sockets(params["machines"], port)  # first: the workers find the bins together
    labels = levels[np.searchsorted(values, data.y)]
    train = Rows(data.X, labels, known, group=training_groups(data.counts), weight=data.weights)
    followed = None
    if held_out is not None and (valid := bench.data[held_out]).n_docs:
        followed = Rows(valid.X, np.zeros(valid.n_docs), known, reference=train)
    bench.made["booster"] = Booster(known, train, followed)


@final
class Sockets:
    """LightGBM's connections to the other workers, for as long as this is held."""

    def __init__(self, machines: str, port: int) -> None:
        call("NetworkInit", machines.encode(), port, MINUTES, machines.count(",") + 1)
        finalize(self, call, "NetworkFree")


@sentences_of_lightgbm()
def boost(
    bench: Bench,
    _: str,
    held_out: str | None,
    metric: str,
    profile: str,
) -> tuple[bool, NDArray[np.float64]]:
    """One more tree; whether nothing more can be learned, and the measure of each held-out query."""
    booster: Booster = bench.made["booster"]
    exhausted = booster.update()
    if held_out is None or not bench.data[held_out].n_docs:
        return exhausted, np.zeros(0)
    return exhausted, Judge(metric, profile).per_query(bench.data[held_out], booster.outputs())


def read_model(bench: Bench, _: str, best_round: int) -> str:
    """The trees, which are the same in all workers."""
    return model_text(bench.made["booster"], best_round)
