"""The parity certificate: an emulator of the engine reads the exported text, scores rows, and is held to the ranker.

Two documents can be told apart if their scores differ by more than rounding may have moved them. Where the engine puts
two such documents in another order than the ranker, or gives a row a score that rounding does not explain, the export
has failed.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.data.dataset import Dataset
from ordino.data.frames import recode
from ordino.export.family import Affine, Plain, PlainLinear, PlainTrees, Preparation, Quantiles
from ordino.export.probes import make_probes
from ordino.export.targets import Target
from ordino.export.written import Written
from ordino.pipelines import first_step, last_step, score_with

Floats = NDArray[np.float64]
UNIT = 2.0**-24  # unit roundoff of single precision, in which our own networks and scalers compute
TINY = 3e-45  # below which a single-precision number is 0, relative to the largest weight
LARGEST = 1e38  # beyond which scores overflow single precision
BLOCK = 512  # documents of a query that are compared with all others at a time


@final
@dataclass(frozen=True)
class Findings:
    """What one set of rows showed."""

    rows: int
    queries: int
    largest_difference: float
    """Of scores, in the engine and in the ranker; of scores beyond 1 as a share of the score."""
    rows_off: int
    """Rows whose scores differ by more than rounding explains."""
    queries_reordered: int
    """Queries in which some document stands elsewhere, for whatever reason."""
    places: int
    """The most places that a document moved."""
    queries_changed: int
    """Queries in which two documents change order that the engine could have told apart."""
    rows_in_slack: int
    """Rows with a value that the engine's slack sends another way; changes by them are not held against it."""
    left_out: int
    """Rows that the ranker itself gives no finite score, or one that single precision cannot hold."""


@final
@dataclass(frozen=True)
class Certificate:
    """What an export was held to, and what came out; ``passed`` if the engine ranks as the ranker does."""

    engine: str
    target: str
    ranker: str
    features: int
    relation: str
    probes: Findings
    data: Findings | None
    probed_splits: tuple[int, int]
    """Splits that were probed, and all."""
    notes: tuple[str, ...]
    files: dict[str, str]
    """The SHA-256 of each file."""
    ordino: str
    """The version that wrote it."""

    @property
    def passed(self) -> bool:
        """Whether no order changes and no score is off."""
        return all(
            one.queries_changed == 0 and one.rows_off == 0 for one in (self.probes, self.data) if one is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {"passed": self.passed} | asdict(self)


def certify(model: Any, key: str, target: Target, form: Plain, written: Written, data: Dataset | None) -> Certificate:
    """Hold the written files to the ranker, on probes and on the rows of ``data``."""
    ranker = last_step(model)
    with_missing = _knows_missing(model) and _routes_missing(target, form)
    probes = make_probes(form, with_missing=with_missing)
    names = tuple(form.names)
    known = None if getattr(first_step(model), "feature_names_in_", None) is None else names
    categories = getattr(ranker, "categories_in_", {})
    for j, one in enumerate(names):  # a category is a number from 0
        if one in categories:
            probes.X[:, j] = np.abs(np.nan_to_num(probes.X[:, j])) % len(categories[one]) // 1
    rows = Dataset(
        probes.X, np.zeros(len(probes.X)), query_numbers(probes.offsets), feature_names=known, categories=categories
    )
    # the file has the numbers that categories had in training
    given = None if data is None else recode(data.as_grouped(), categories)
    content = {name: text.encode() if isinstance(text, str) else text for name, text in written.files.items()}
    return Certificate(
        engine=target.title,
        target=key,
        ranker=type(ranker).__name__,
        features=len(names),
        relation=written.relation,
        probes=_compare(model, target, form, written, rows),
        data=None if given is None else _compare(model, target, form, written, given),
        probed_splits=(probes.n_probed, probes.n_splits),
        notes=written.notes,
        files={name: sha256(one).hexdigest() for name, one in content.items()},
        ordino=version("ordino"),
    )


def _knows_missing(model: Any) -> bool:
    from ordino.export.preparation import preparation_of

    return last_step(model)._scores_nan() or preparation_of(model).fill is not None


def _routes_missing(target: Target, form: Plain) -> bool:
    return target.knows_missing if isinstance(form, PlainTrees) else form.preparation.fill is not None and target.fills


def _compare(model: Any, target: Target, form: Plain, written: Written, rows: Dataset) -> Findings:
    with np.errstate(all="ignore"):
        own = score_with(model, rows)
    scored = target.score(written.files, rows.X, form.names)
    finite = np.abs(own) < LARGEST  # and no NaN
    wanted, engine = written.of_ranker(own), written.of_engine(scored.scores)
    room = written.rounding(own, scored.rounding + own_rounding(form, rows.X))
    slack = np.zeros(rows.n_docs, bool)
    for feature, low, high in written.blurred:
        slack |= (rows.X[:, feature] > low) & (rows.X[:, feature] <= high)
    engine = np.where(np.isnan(engine), -np.inf, engine)
    difference = np.where(finite, np.abs(engine - wanted), 0.0)
    off = finite & ~slack & ~(difference <= room)
    moved = [
        order_changes(
            wanted[s:t][finite[s:t]], engine[s:t][finite[s:t]], room[s:t][finite[s:t]], slack[s:t][finite[s:t]]
        )
        for s, t in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)
    ]
    return Findings(
        rows=rows.n_docs,
        queries=rows.n_queries,
        largest_difference=float((difference / np.maximum(np.abs(wanted), 1.0))[finite & ~slack].max(initial=0.0)),
        rows_off=int(off.sum()),
        queries_reordered=sum(places > 0 for places, _ in moved),
        places=max((places for places, _ in moved), default=0),
        queries_changed=sum(changed for _, changed in moved),
        rows_in_slack=int(slack.sum()),
        left_out=int((~finite).sum()),
    )


def order_changes(wanted: Floats, engine: Floats, room: Floats, slack: NDArray[np.bool_]) -> tuple[int, bool]:
    """By how many places a document of a query moves at most, and whether two change order that can be told apart.

    Examples
    --------
    Scores 3 and 2.9 come out the other way round; they can be told apart unless rounding may have moved each by 0.1.

    >>> no_slack = np.zeros(2, bool)
    >>> order_changes(np.array([3.0, 2.9]), np.array([2.9, 3.0]), np.array([0.01, 0.01]), no_slack)
    (1, True)
    >>> order_changes(np.array([3.0, 2.9]), np.array([2.9, 3.0]), np.array([0.1, 0.1]), no_slack)
    (1, False)
    """
    n = len(wanted)
    places = [np.empty(n, np.int64) for _ in range(2)]
    for place, scores in zip(places, (wanted, engine), strict=True):
        place[np.argsort(-scores, kind="stable")] = np.arange(n)
    most = int(np.abs(places[0] - places[1]).max(initial=0))
    for start in range(0, n, BLOCK):
        some = slice(start, start + BLOCK)
        apart = wanted[some, None] - wanted > room[some, None] + room
        lost = apart & (engine[some, None] <= engine) & ~slack[some, None] & ~slack
        if lost.any():
            return most, True
    return most, False


def own_rounding(form: Plain, X: NDArray[np.float32]) -> Floats:
    """How far rounding may have moved the scores of our own ranker, by the sizes of its terms."""
    if isinstance(form, PlainTrees):
        return np.full(len(X), sum(float(np.abs(tree.value).max()) for tree in form.trees) * len(form.trees) * 2.0**-53)
    size = _prepared_size(form.preparation, np.nan_to_num(X.astype(np.float64)))
    if isinstance(form, PlainLinear):
        total = (size @ np.abs(form.weights) + abs(form.bias)) * (len(form.names) + 4) * UNIT
        return np.asarray(total + np.abs(form.weights).max() * len(form.names) * TINY)
    terms = 4
    for W, b in form.layers:
        size = size @ np.abs(W) + np.abs(b)
        terms += len(W) + 1
    return np.asarray(size[:, 0] * terms * UNIT)


def _prepared_size(preparation: Preparation, X: Floats) -> Floats:
    """The size of prepared features, with what is added and taken off on the way."""
    size = np.abs(X)
    if preparation.fill is not None:
        size = np.maximum(size, np.abs(preparation.fill.astype(np.float64)))
    for step in preparation.steps:
        if isinstance(step, Affine):
            factor, offset = step.factor_and_offset()
            size = size * np.abs(factor) + np.abs(offset)
        elif isinstance(step, Quantiles):
            size = np.full_like(size, 5.2 * step.std)
        else:
            size = np.log1p(size) + 2.0**-28  # engines compute log(1 + x): what is far below 1 is lost in double
    return size
