"""How fast RankNet is: against its bare matrix products, other libraries' loops, one ranker, and onnxruntime.

Every figure is a ratio of the smallest of several times in one run. allRank and PT-Ranking are measured where they are
installed (``pip install --no-deps allrank ptranking attrs``); of their loops only the training steps are timed, not the
measures that allRank takes of every epoch.

    python benchmarks/bench_ranknet.py [--queries 6000] [--parts scoring,repeats,epoch,others] [--record]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

import ordino
from bench_rank import as_onnx
from history import record
from ordino.data.dataset import Dataset
from ordino.data.scaling import make_scaler
from ordino.layers import forward
from ordino.losses import make_loss
from ordino.networks.nets import RowNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import QueryBatches
from ordino.networks.training import Learner, train
from ordino.rankers.ranknet import RankNet
from timing import least_seconds
from written import add_record, written

WIDTHS = (136, 64, 32)


def mslr_shaped(n_queries: int) -> Dataset:
    data = ordino.synthetic("mslr", queries=n_queries, seed=0)
    scaled: Dataset = make_scaler("zscore").fit(data).transform(data)
    return scaled


def our_epoch(data: Dataset) -> Callable[[], object]:
    network, schedule = fresh_network(), Schedule(epochs=1, learning_rate=1e-3)
    supply = QueryBatches(data, make_loss("ranknet", average="queries"), batch=64)
    return lambda: train([Learner(network, supply, schedule)], 1)


def fresh_network() -> RowNet:
    return RowNet([*WIDTHS, 1], activation="relu", initializer="he", seed=0, output_bias=False)


def epoch_against_products(n_queries: int) -> None:
    data = mslr_shaped(n_queries)
    epoch = our_epoch(data)
    epoch()  # compiles the loss
    ours = least_seconds(epoch, 3)
    products = least_seconds(lambda: bare_products(data.X), 3)
    print(f"epoch of RankNet 136-64-32-1, all pairs, {data.n_docs:,} documents: {ours:.2f} s")
    record("an epoch of RankNet against its matrix products", products / ours)
    print(f"  its bare matrix products, forward and backward: {products:.2f} s; ratio {ours / products:.2f} (asked: 4)")


def bare_products(rows: NDArray[np.float32]) -> None:
    """The products alone: forward, and for each layer the gradients of its weights and of its inputs."""
    weights = [np.ones((a, b), np.float32) for a, b in pairwise([*WIDTHS, 1])]
    for start in range(0, len(rows), 8192):
        inputs = [rows[start : start + 8192]]
        for W in weights:
            inputs.append(inputs[-1] @ W)
        slope = inputs.pop()
        for i in reversed(range(len(weights))):
            _ = inputs[i].T @ slope
            if i:
                slope = slope @ weights[i].T


def epoch_against_others(n_queries: int = 200) -> None:
    data = mslr_shaped(n_queries)
    ours_of = our_epoch(data)
    ours_of()
    ours = least_seconds(ours_of, 5) / data.n_docs
    print(f"training steps, {data.n_docs:,} documents: {1 / ours:,.0f} documents a second")
    for name, other, least in (("PT-Ranking", pt_ranking_epoch, 200), ("allRank", allrank_epoch, 40)):
        part = data.select_queries(np.arange(min(least, n_queries)))  # allRank is too slow for more
        try:
            epoch = other(part)
        except ImportError as missing:
            print(f"  {name}: not installed ({missing}), so there is nothing to compare with")
            continue
        epoch()
        theirs = least_seconds(epoch, 2) / part.n_docs
        record(f"training steps against {name}", theirs / ours)
        print(f"  {name}: {1 / theirs:,.0f} documents a second; ours is {theirs / ours:.1f} times as fast (asked: 10)")


def pt_ranking_epoch(data: Dataset) -> Callable[[], None]:
    """A query a step, as PT-Ranking does; its hidden layers have one width, so the net is 136-64-64-1."""
    theirs, torch = import_module("ptranking.ltr_adhoc.pairwise.ranknet"), import_module("torch")
    net = {"num_features": WIDTHS[0], "h_dim": WIDTHS[1], "num_layers": 3, "apply_tl_af": False, "BN": False}
    ranker = theirs.RankNet(sf_para_dict={"ffnns": net}, model_para_dict={"sigma": 1.0})
    X, y = torch.from_numpy(np.array(data.X)), torch.from_numpy(data.y.astype(np.float32))
    queries = [(X[a:b][None], y[a:b][None]) for a, b in pairwise(data.offsets)]

    def epoch() -> None:
        for documents, labels in queries:
            ranker.train(documents, labels)

    return epoch


def allrank_epoch(data: Dataset, batch: int = 8) -> Callable[[], None]:
    """Lists padded to the longest, through allRank's own data set and step; a larger batch makes it no faster."""
    import torch
    from scipy.sparse import csr_matrix
    from torch.utils.data import DataLoader

    # allRank imports these for things that are not done here: cloud storage, tensorboard, one name of torchvision
    for name, members in (
        ("torchvision", {"transforms": None}),
        ("torchvision.transforms", {"Compose": None}),
        ("gcsfs", {}),
        ("pkg_resources", {"Requirement": None, "resource_filename": None}),
        ("tensorboardX", {"SummaryWriter": None}),
    ):
        stand_in = ModuleType(name)
        stand_in.__dict__.update(members)
        sys.modules.setdefault(name, stand_in)
    loading, models = import_module("allrank.data.dataset_loading"), import_module("allrank.models.model")
    step = import_module("allrank.training.train_utils").loss_batch
    loss = import_module("allrank.models.losses.rankNet").rankNet
    fixed, tensors = loading.FixLength(int(data.counts.max())), loading.ToTensor()
    lists = loading.LibSVMDataset(csr_matrix(data.X), data.y, data.qid, lambda sample: tensors(fixed(sample)))
    hidden = models.FCModel(list(WIDTHS[1:]), False, "ReLU", 0.0, WIDTHS[0])
    model = models.LTRModel(hidden, None, models.OutputLayer(WIDTHS[-1], 1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def epoch() -> None:
        for X, y, ranks in DataLoader(lists, batch_size=batch, shuffle=True):
            step(model, loss, X, y, ranks, None, optimizer)

    return epoch


def repeats_against_one() -> None:
    data = ordino.synthetic("mq2008", seed=0)
    ranker = RankNet(hidden=10, epochs=5, scaling="symlog", dropout=0.0)
    ranker.fit_repeats(data, [0])
    one = least_seconds(lambda: ranker.fit_repeats(data, [0]), 3)
    thirty = least_seconds(lambda: ranker.fit_repeats(data, list(range(30))), 3)
    record("30 repeats of RankNet against one", one / thirty)
    print(f"30 repeats of a 46-10-1 RankNet, {data.n_docs:,} documents: {thirty:.2f} s, one: {one:.2f} s; "
          f"ratio {thirty / one:.1f} (asked: 8)")  # fmt: skip


def scoring_against_onnxruntime() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError:
        print("scoring: onnx and onnxruntime are not installed, so there is nothing to compare with")
        return
    layers = fresh_network().layers()
    runtime = onnxruntime.InferenceSession(as_onnx(layers), providers=["CPUExecutionProvider"])
    X = np.random.default_rng(0).random((1000, WIDTHS[0]), dtype=np.float32)
    np.testing.assert_allclose(runtime.run(None, {"X": X})[0][:, 0], forward(X, layers, "relu"), rtol=1e-3, atol=1e-5)
    theirs = least_seconds(lambda: runtime.run(None, {"X": X}), 300)
    ours = least_seconds(lambda: forward(X, layers, "relu"), 300)
    times = f"{1e6 * ours:.0f} us, onnxruntime {1e6 * theirs:.0f} us"
    record("scoring 1,000 documents against onnxruntime", theirs / ours)
    print(f"scoring 1,000 documents: {times}; ratio {ours / theirs:.2f} (asked: 1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=6000, help="of the MSLR-shaped set")
    parser.add_argument("--parts", default="scoring,repeats,epoch,others", help="separated by commas")
    add_record(parser)
    args = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "scoring": scoring_against_onnxruntime,
        "repeats": repeats_against_one,
        "epoch": lambda: epoch_against_products(args.queries),
        "others": epoch_against_others,
    }
    with written("bench_ranknet", record=args.record):
        for name in args.parts.split(","):
            parts[name]()


if __name__ == "__main__":
    main()
