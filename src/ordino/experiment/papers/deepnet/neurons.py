"""What DeepNet shows of its data (Fig. 2.1) and of its neurons (Fig. 4.5, 4.6 and 4.8)."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ordino.experiment.papers.deepnet.protocol import COLLECTION, PRINTED, three_layers
from ordino.experiment.papers.letor import WITH_ERROR, pair_notes
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan

Nets = Mapping[str, System]
View = Callable[[Nets, Request, Trials], Iterator[Number]]
DROPPED: Nets = {"no dropout": three_layers(1), "dropout 0.25": three_layers(1, dropout=0.25)}
STRONG: Nets = {"L2 0.01": three_layers(1, l2=0.01), "L2 0.0001": three_layers(1, l2=0.0001)}
PENALIZED: Nets = {"no L2": three_layers(1), "L2 0.0001": three_layers(1, l2=0.0001)}


def relevant_share(request: Request, _: Trials) -> Iterator[Number]:
    """Fig. 2.1: the percentage of relevant documents of each query."""
    folds = next(iter(request.collections((COLLECTION,)).values()))
    shares = [100 * float((query.y > 0).mean()) for fold in folds for query in fold.test]
    yield from (Number((str(number),), None, (share,)) for number, share in enumerate(shares, 1))


def net_plans(nets: Nets, request: Request) -> list[Plan]:
    """Nets of 24, 12 and 6 neurons on the first fold."""
    data = {name: folds[:1] for name, folds in request.collections((COLLECTION,)).items()}
    return [request.plan(data, nets.values(), measures=WITH_ERROR, parts=("train",))]


def activations(nets: Nets, request: Request, trials: Trials) -> Iterator[Number]:
    """Fig. 4.5 and 4.8: the mean activation of every hidden neuron, on pairs of the first fold's test part."""
    for variant, layers in _reached(nets, request, trials):
        for place, layer in enumerate(layers[:-1], 1):
            for neuron, mean in enumerate(layer.mean(axis=0), 1):
                yield Number((variant, f"hidden layer {place}", str(neuron)), None, (float(mean),))


def layer_activations(nets: Nets, request: Request, trials: Trials) -> Iterator[Number]:
    """Fig. 4.6: mean and deviation of the activations of each layer under a strong and a weak penalty."""
    for variant, layers in _reached(nets, request, trials):
        names = [*(f"hidden layer {i + 1}" for i in range(len(layers) - 1)), "output"]
        for name, layer in zip(names, layers, strict=True):
            yield Number((variant, name), None, tuple(layer.ravel().tolist()))


def learned_pairs(nets: Nets, request: Request) -> Iterator[str]:
    """How many distinct pairs the nets learned from, on the first fold."""
    for name, folds in request.collections((COLLECTION,)).items():
        yield from pair_notes(name, folds[:1], nets.values(), request)


def _reached(nets: Nets, request: Request, trials: Trials) -> Iterator[tuple[str, list[NDArray[np.float32]]]]:
    """What every layer of each trained net gives for random pairs of test documents."""
    [(name, folds)] = request.collections((COLLECTION,)).items()
    test = folds[0].test
    rng = np.random.default_rng(request.seed)
    starts = np.repeat(test.offsets[:-1], 200)
    pairs = starts[:, None] + rng.integers(0, np.repeat(test.counts, 200)[:, None], (len(starts), 2))
    for variant, net in nets.items():
        [trial] = trials.of(name, net.label(request))
        yield variant, trials.ranker(trial).activations(test, pairs)


_page = partial(Result, protocol=PRINTED["of_neurons"], choices=PRINTED["choices"])
QUERIES = Result("", ("query",), protocol=PRINTED["of_queries"], axes=Axes("bars", "query", "relevant documents (%)"))
NEURONS = Axes("bars", "neuron", "mean activation", color="variant", facet="layer")
LAYERS = Axes("bars", "layer", "activation", color="variant")
BY_NEURON = _page("", ("variant", "layer", "neuron"), axes=NEURONS)
BY_LAYER = _page("", ("variant", "layer"), of="neurons and pairs", axes=LAYERS)


def _of_nets(shows: str, nets: Nets, view: View, page: Result) -> Target:
    return Target(
        shows=shows, needs=COLLECTION, takes="1 min", plans=partial(net_plans, nets), view=partial(view, nets),
        pairs=partial(learned_pairs, nets), page=page,
    )  # fmt: skip


TARGETS = {
    "fig2.1": Target(
        shows="share of relevant documents of each query", needs=COLLECTION, takes="seconds", view=relevant_share,
        page=QUERIES,
    ),
    "fig4.5": _of_nets("mean activations with and without dropout", DROPPED, activations, BY_NEURON),
    "fig4.6": _of_nets("activations of each layer by L2 penalty", STRONG, layer_activations, BY_LAYER),
    "fig4.8": _of_nets("mean activations with and without L2 penalty", PENALIZED, activations, BY_NEURON),
}  # fmt: skip
