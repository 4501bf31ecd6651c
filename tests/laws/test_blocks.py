"""Law 11: how much is worked on at a time changes nothing.

Small data never reaches the second block, so that a mistake in where a block begins would be seen by users alone. Every
number that says how much is taken at once is in ``SIZES``, with a task that comes to the same with blocks of a few; one
that is added later must be there too, or in ``OTHERWISE`` with the test that shows it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laws.reading import HOME
from ordino import Dataset, read_letor, write_letor
from ordino.data.doctor import examine
from ordino.data.files import read_data, write_data
from ordino.data.on_disk import room_on_disk, rows_on_disk, transformed
from ordino.data.scaling import make_scaler
from ordino.data.shards import concatenate, write_shards
from ordino.distilling.door import measure as measure_student
from ordino.errors import DataError
from ordino.evolve.fitness import LinearFitness, weigh
from ordino.evolve.formula import Formula
from ordino.evolve.genetic_programming import FormulaFitness, run_over
from ordino.experiment.compare.comparison import bootstrap_interval
from ordino.export import export_model
from ordino.judge import Judge
from ordino.losses import LOSSES, make_loss
from ordino.metrics import parse_metric
from ordino.rankers import make_ranker

RNG = np.random.default_rng(0)


def make_data() -> Dataset:
    """Queries of several lengths, equal scores and ids in another order than the rows."""
    counts = RNG.integers(3, 12, 15)
    X = RNG.normal(size=(counts.sum(), 5)).round(1)
    y = np.digitize(X[:, 0] + RNG.normal(0, 0.5, len(X)), [0.0, 0.8])
    ids = [f"d{number}" for number in RNG.permutation(len(X))]
    return Dataset(X, y, np.repeat(np.arange(15), counts), doc_ids=ids, weights=RNG.integers(1, 3, len(X)))


DATA = make_data()
BARE = Dataset(DATA.X, DATA.y, DATA.qid)
NET = {"hidden": 4, "epochs": 1}
WEIGHTS = RNG.normal(size=(4, 5)).round(1)


@cache
def fitted(name: str, **params: Any) -> Any:
    return make_ranker(name, (NET if name in ("ranknet", "deepnet", "sortnet") else {}) | params).fit(BARE)


def fitness(_: Path) -> Any:
    found = []
    for metric, profile in (("map", "standard"), ("ndcg@5", "trec"), ("mrr", "standard")):
        with LinearFitness(DATA, metric, profile=profile, n_jobs=2) as one:
            found.append(one.per_query(WEIGHTS))
        with FormulaFitness(DATA, metric, profile=profile) as one:
            found.append(one.per_query([Formula.parse(["+", "0", "1"]), Formula.parse(["2"])]))
    return found


def formulas(_: Path) -> Any:
    return weigh(DATA.X, WEIGHTS[0]), run_over(Formula.parse(["*", "0", "1"]), DATA.X)


def losses(_: Path) -> Any:
    given = DATA.X[:, 1].astype(np.float64), np.maximum(DATA.y, 0), DATA.offsets
    return [make_loss(name).value_and_gradient(*given, weights=DATA.weights, n_jobs=2) for name in LOSSES]


def student(_: Path) -> Any:
    found = measure_student(fitted("rank-svm"), fitted("linear-regression-ranker"), DATA)
    return found.pairs_kept, found.orders_changed, found.tops_changed


def predictions(name: str, **params: Any) -> Callable[[Path], Any]:
    return lambda _: fitted(name, **params).predict(DATA)


def training(name: str, **params: Any) -> Callable[[Path], Any]:
    return lambda _: fitted.__wrapped__(name, **params).predict(DATA)


def letor(home: Path) -> Any:
    write_letor(Dataset(DATA.X, DATA.y, DATA.qid, doc_ids=DATA.doc_ids), home / "d.txt")
    return columns_of(read_letor(home / "d.txt"))


def columns_of(data: Dataset) -> Any:
    return data.X, data.y, data.qid.astype(str).tolist(), data.doc_ids.tolist()


def jsonl(home: Path) -> Any:
    write_data(DATA, home / "d.jsonl")
    return columns_of(read_data(home / "d.jsonl"))


def shards(home: Path) -> Any:
    return columns_of(concatenate([*write_shards(DATA, home / "s", 3).parts()]))


def on_disk(home: Path) -> Any:
    made = write_shards(DATA, home / "s", 3)
    with room_on_disk() as room:
        return np.array(transformed(make_scaler("zscore").fit(DATA), rows_on_disk(made, room)).X)


def trees_on_disk(home: Path) -> Any:
    made = write_shards(DATA, home / "s", 3)
    return make_ranker("lambda-mart", {"rounds": 5, "min_leaf": 3}).fit(made).predict(DATA)


def scalings(_: Path) -> Any:
    return [make_scaler(name).fit(DATA).transform(DATA).X for name in ("zscore", "rank", "quantile", "symlog", "hinge")]


def comparisons(_: Path) -> Any:
    return fitted("sortnet", max_iter=1, scaling=None).compare(DATA.X[:-1], DATA.X[1:])


def refusal(_: Path) -> Any:
    X = DATA.X.copy()
    X[[-9, -2], [1, 0]] = np.inf
    with pytest.raises(DataError) as raised:
        Dataset(X, DATA.y, DATA.qid)
    return str(raised.value)


def judged(_: Path) -> Any:
    ranker = make_ranker("rank-boost", {"rounds": 12}).fit(DATA, valid=DATA.select_queries(np.arange(5)))
    trees = make_ranker("lambda-mart", {"rounds": 12, "metric": "map", "min_leaf": 3}).fit(DATA, valid=DATA)
    means = Judge("map", "standard").means(DATA, [DATA.X[:, 0], DATA.X[:, 1]])
    return [row.get("valid") for row in [*ranker.history_, *trees.history_]], means


def doctor(_: Path) -> Any:
    odd = DATA.X * 1e9
    odd[0, 0] = -77e9  # too few of them to mean missing
    odd[: len(odd) // 40, 1] = -99e9  # and enough
    odd[::7, 2], odd[:, 3] = np.nan, 1.0
    return [str(one) for one in examine({"train": DATA.replace(X=odd), "test": DATA})]


def picked(_: Path) -> Any:
    """Measures that look at a few ranks, without anybody asking for ties; scores and labels are often equal."""
    labels = np.maximum(DATA.y + (np.arange(DATA.n_docs) % 5 == 0), 0)
    return [
        parse_metric(metric).per_query(labels, DATA.X[:, 1], DATA.offsets, profile=profile)
        for metric in ("ndcg@3", "p@2", "err@4", "hit@1", "dcg@2")
        for profile in ("standard", "trec", "lightgbm")
    ]


def intervals(_: Path) -> Any:
    return bootstrap_interval(DATA.X[:40, 0])


def certificate(_: Path) -> Any:
    return export_model(fitted("rank-boost", rounds=5), "solr", data=DATA).certificate.to_dict()["data"]


SIZES: dict[str, tuple[int, Callable[[Path], Any]]] = {
    "evolve.fitness.BLOCK": (5, fitness),
    "evolve.fitness.WIDE_BLOCK": (5, fitness),
    "evolve.fitness.ROWS": (7, formulas),
    "evolve.genetic_programming.ROWS": (7, formulas),
    "losses.base.WORTH_THREADS": (1, losses),
    "losses.base.N_BLOCKS": (3, losses),
    "distilling.door.BLOCK": (2, student),
    "export.certificate.BLOCK": (2, certificate),
    "layers.BLOCK": (7, predictions("ranknet")),
    "forms.BLOCK": (7, predictions("rank-svm")),
    "order.network.BLOCK": (7, comparisons),
    "order.meetings.BLOCK_DOCS": (5, predictions("deepnet")),
    "order.meetings.BLOCK_PAIRS": (5, predictions("deepnet")),
    "order.meetings.BLOCK_ROWS": (2, predictions("deepnet")),
    "order.sorting.BLOCK_COMPARISONS": (5, predictions("deepnet", algorithm="merge")),
    "rankers.perceptrons.ROWS": (7, predictions("prank", quadratic=True, epochs=2)),
    "rankers.ranknet.BLOCK": (7, predictions("kernel-ranknet", epochs=1)),
    "rankers.coordinate_ascent.MOVE_CELLS": (400, training("coordinate-ascent", sweeps=1, restarts=1)),
    "networks.pair_net.CHUNK": (16, training("deepnet", n_jobs=2)),
    "networks.pair_net.MOST_KEPT": (1, training("deepnet", batch=None)),
    "networks.autoencoders.MOST_KEPT": (1, training("deepnet", initializer="autoencoders", pretraining=1)),
    "networks.supply.TAKEN": (2, training("deepnet", batch=16)),
    "data.letor_text._BLOCK": (64, letor),
    "data.json_lines.BLOCK": (5, jsonl),
    "data.shards.ROWS": (5, shards),
    "data.on_disk.BLOCK": (5, on_disk),
    "boosting.bins_from_disk.BLOCK": (7, trees_on_disk),
    "data.scaler.BLOCK_ROWS": (5, scalings),
    "data.scaling.COLUMNS": (2, scalings),
    "data.scaling.BLOCK_ROWS": (5, scalings),
    "data.columns.BLOCK_ROWS": (7, refusal),
    "data.doctor._BLOCK": (5, doctor),
    "judge.ENOUGH": (20, judged),
    "judge.MOST_AT_ONCE": (3, judged),
    "experiment.compare.comparison.DRAWN": (2000, intervals),
    # from which on the same is computed in another way
    "svm.pairs.MOST_PAIRS": (0, training("rank-svm", loss="hinge", pair_weights="query")),
    "rankers.stump_boosting.WORTH_IT": (0, training("frank", rounds=5)),
    "data.query_features.SHORT": (2, scalings),
    "metrics.engine.MOST_PICKED": (0, picked),
    "metrics.engine.WHOLE_LABELS": (1, picked),
    "losses.levels.FEW": (1, losses),
    "networks.pair_net.FEW_PAIRS": (0, training("deepnet", n_pairs=60)),
    "networks.nets.LEAST_ROWS": (8, training("ranknet", batch=None)),
}
"""Of each number that says how much is taken at a time: a small one, and a task that needs several blocks then."""

ALONG = {"losses.base.N_BLOCKS": ["losses.base.WORTH_THREADS"], "networks.pair_net.CHUNK": ["networks.pair_net.ALONE"]}
"""What must be small too, or else nothing is cut."""

OTHERWISE = {
    "cli.shards.AT_A_TIME": "test_sharded.py",
    "data.summary.BLOCK_ROWS": "test_summary.py",
    "data.synthetic._BLOCK_ROWS": "what is drawn depends on it: tests/data/test_synthetic.py has the numbers",
    "division.divided.SORTED": "test_divided.py",
    "experiment.compare.significance.BLOCK": "what is drawn depends on it",
    "experiment.store.rankings.BLOCK": "test_kept.py",
    "experiment.store.view.PAGE": "test_trial_store.py",
    "export.emulators.onnx.ROWS": "each row is a row of its own to the engine",
    "metrics.engine.BLOCK": "compiled code counts with as many: tests/metrics/test_metric_laws.py has more documents",
    "networks.first_layer.PIECE": "compiled code has room for as many: tests/networks/test_places.py",
    "networks.nets.MOST_BLOCKS": "how many, not how large",
    "networks.torch_module.BLOCK": "test_torch_ranker.py",
    "studio.views.compare.PAGE": "what a page shows",
    "studio.views.features.PAGE": "what a page shows",
    "studio.views.search.ROWS": "what a page shows",
    "networks.divided.GROUP": "test_divided.py",
    "reduction.BLOCK": "test_divided.py",
    "reduction.GROUP": "test_divided.py",
    "svm.divided.GROUP": "test_divided.py",
}
"""Those that another test makes small, or that decide what is drawn."""
CALLED = re.compile(r"_?(\w*BLOCK\w*|ROWS|SORTED|GROUP|TAKEN|DRAWN|MOVE_CELLS|AT_A_TIME|PAGE|COLUMNS|CHUNK|PIECE)")


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray | float | int):
        return bool(np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))
    return bool(a == b)


@pytest.mark.parametrize("name", SIZES)
def test_what_is_done_in_small_blocks_is_what_is_done_at_once(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    small, task = SIZES[name]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = task(tmp_path / "a")
    for number in [name, *ALONG.get(name, ())]:
        monkeypatch.setattr(f"ordino.{number}", small)
    assert same(task(tmp_path / "b"), whole)
    (tmp_path / "c").mkdir()
    monkeypatch.setattr(f"ordino.{name}", object())
    with pytest.raises((TypeError, ValueError)):  # the task comes to where it counts
        task(tmp_path / "c")


ROW_BY_ROW = [
    "forms.BLOCK", "evolve.fitness.ROWS", "evolve.genetic_programming.ROWS", "order.network.BLOCK",
    "rankers.perceptrons.ROWS", "rankers.ranknet.BLOCK",
]  # fmt: skip
"""Of scores; networks have at least two rows in a block but for the last: tests/networks/test_training.py."""


@pytest.mark.parametrize("name", ROW_BY_ROW)
def test_a_document_alone_in_a_block_has_the_bits_that_it_has_among_others(
    name: str, tmp_path: Path, monkeypatch: Any
) -> None:
    whole = SIZES[name][1](tmp_path)
    monkeypatch.setattr(f"ordino.{name}", 1)
    assert np.array_equal(SIZES[name][1](tmp_path), whole)


def test_every_size_is_made_small_somewhere() -> None:
    found = set()
    for path in HOME.rglob("*.py"):
        place = ".".join(path.relative_to(HOME).with_suffix("").parts)
        if "kernels" not in place and "papers" not in place and "data.web" not in place:
            names = re.findall(r"^(\w+) = [\d_]", path.read_text(encoding="utf-8"), re.MULTILINE)
            found |= {f"{place}.{name}" for name in names if CALLED.fullmatch(name)}
    listed = {name for name in {*SIZES, *OTHERWISE} if CALLED.fullmatch(name.rpartition(".")[2])}
    assert found <= listed, f"show that it changes nothing: {sorted(found - listed)}"
    for name in listed:
        module, _, one = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(f"ordino.{module}"), one), int), f"{name} is gone"
