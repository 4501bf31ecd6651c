"""SortNet (Rigutini et al., 2008), section 4: Tables 1 and 2, Fig. 2 and 3, and the claim about shuffling."""

from collections.abc import Iterator, Mapping
from functools import partial

from ordino.data.folds import Folds
from ordino.experiment.papers.letor import LETOR_METRICS, Row, letor_table, printed_rows
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper

COLLECTIONS = ("TD2003", "TD2004")
PRINTED = read_paper("sortnet")
PROTOCOL = PRINTED["protocol"]
N_HIDDEN = {"TD2004": 20}  # of the network that is compared with others; 10 on TD2003
TD2003, TD2004 = (printed_rows(PRINTED["table2"][name]) for name in COLLECTIONS)
SIZES = {name: printed_rows(rows) for name, rows in PRINTED["table1"].items()}


def sortnet(hidden: int, metric: str = "map") -> System:
    """SortNet as published."""
    return System("sortnet", {"hidden": hidden, "metric": metric}, "published", {"max_iter": 3, "epochs": 3})


TABLE_1 = [
    Row(f"SortNet, {hidden} hidden", sortnet(int(hidden)), {name: rows[hidden] for name, rows in SIZES.items()})
    for hidden in SIZES["TD2003"]
]

QUICK = {"rounds": 3}
MAP = {"metric": "map"}
RANK_SVM = System("rank-svm", MAP | {"C": (1e-4, 1e-3, 1e-2, 1e-1), "scaling": "minmax"}, quick={"C": 0.01})
BASELINES: Mapping[str, System] = {
    "RankBoost": System("rank-boost", MAP, quick=QUICK),
    "RankSVM": RANK_SVM,
    "FRank": System("frank", MAP, quick=QUICK),
    "ListNet": System("listnet", MAP | {"hidden": (), "scaling": "minmax"}, quick={"epochs": 2}),
    "AdaRank MAP": System("ada-rank", MAP, quick=QUICK),
    "AdaRank NDCG": System("ada-rank", {"metric": "ndcg@10"}, quick=QUICK),
}
"""The methods of LETOR 2.0 that SortNet and DeepNet stand beside; the papers took their numbers from LETOR."""


def _methods(collection: str, _: Folds | None = None) -> list[Row]:
    hidden = N_HIDDEN.get(collection, 10)
    own = {"SortNet MAP": sortnet(hidden), "SortNet P@10": sortnet(hidden, "p@10")}
    return [
        Row(method, system, {"TD2003": TD2003[method], "TD2004": TD2004[method]})
        for method, system in {**BASELINES, **own}.items()
    ]


def _own(collection: str, _: Folds | None = None) -> list[Row]:
    return [Row("SortNet", sortnet(N_HIDDEN.get(collection, 10)))]


def iterations(request: Request, trials: Trials) -> Iterator[Number]:
    """MAP on the validation part after each iteration."""
    for name in request.collections(COLLECTIONS):
        [row] = _own(name)
        own = trials.first_of_folds(name, row.system.label(request))
        histories = [trials.store.history(trial.key) for trial in own]
        for i in range(max(map(len, histories))):
            # a fold that ended early stays where it was
            values = tuple(history[min(i, len(history) - 1)]["valid"] for history in histories)
            yield Number((name, str(i + 1)), None, values)


def shuffling(request: Request, trials: Trials) -> Iterator[Number | str]:
    """How many of 1000 test documents move when the sort starts elsewhere, or is another sort."""
    from ordino.order import SORTS, audit

    for name, folds in request.collections(COLLECTIONS).items():
        [row] = _own(name)
        own = trials.first_of_folds(name, row.system.label(request))
        fitted = [trials.ranker(trial) for trial in own]
        audits = [
            audit(ranker.network_, ranker.prepared(fold.test), algorithms=tuple(SORTS), seed=request.seed)
            for ranker, fold in zip(fitted, folds, strict=True)
        ]
        for what in audits[0].moves:
            moves = [one.moves[what] for one in audits]
            yield Number((name, what, "documents moved"), None, tuple(move.docs for move in moves))
            yield Number((name, what, "mean move"), None, tuple(move.mean for move in moves))
    yield "The paper: orders were mostly the same and seldom differed, by 1 to 5 positions of 1000."


_table = partial(letor_table, takes="2 h", collections=COLLECTIONS, protocol=PROTOCOL)
METHODS = "SortNet beside six other methods"
BARS = Axes("bars", "method", "MAP", facet="collection")
ITERATIONS = Axes("lines", "iteration", "MAP on validation data", facet="collection")
ALONE = _table(shows="SortNet", rows=_own)
_target = partial(Target, needs=", ".join(COLLECTIONS), takes="1 h", plans=ALONE.plans)
_page = partial(Result, protocol=PROTOCOL, of="folds")
TARGETS = {
    "table1": _table(shows="10, 20 and 30 hidden neurons", rows=lambda *_: TABLE_1),
    "table2": _table(shows=METHODS, rows=_methods, metrics=LETOR_METRICS[1:]),
    "fig2": _table(shows=METHODS, rows=_methods, metrics=("map",), axes=BARS),
    "fig3": _target(
        shows="MAP on validation data at each iteration", view=iterations,
        page=_page(columns=("collection", "iteration"), axes=ITERATIONS),
    ),
    "shuffling": _target(
        shows="how many documents move when the sort starts from another order", view=shuffling,
        page=_page(columns=("collection", "against merge sort", "of 1000 documents")),
    ),
}  # fmt: skip
