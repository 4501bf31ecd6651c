"""The engines: what each can hold, who writes for it, who emulates it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.errors import ExportError
from ordino.export.family import Affine, Odds, Plain, PlainLinear, PlainNetwork, PlainTrees
from ordino.export.merge import fold_linear, fold_network
from ordino.export.preparation import WAYS_OUT
from ordino.export.written import Written

NORMALIZERS = ("standard", "minmax")
ACTIVATIONS = ("relu", "tanh", "sigmoid", "softplus")
LOGISTIC = ("sigmoid", "tanh")


class Target(NamedTuple):
    """An engine by its name on the command line."""

    title: str
    module: str
    """Of the writer and the emulator, the last part of their names."""
    writer: str
    emulator: str
    families: tuple[str, ...]
    normalizers: tuple[str, ...] = ()
    """Affine scalings that it has itself; other affine ones are folded into the weights."""
    scalings: tuple[str, ...] = ()
    """Scalings that are not affine and that it can hold beside linear rankers and networks."""
    fills: bool = False
    """Whether it can fill in missing values beside linear rankers and networks."""
    activations: tuple[str, ...] = ACTIVATIONS
    """Of hidden layers."""
    knows_missing: bool = True
    """Whether its trees send a missing value where the ranker sends it."""
    holds_levels: bool = False
    """Whether it can turn several sums of trees into one score (McRank with three levels or more)."""

    def write(self, form: Plain, name: str, **options: Any) -> Written:
        """The files of a form that :func:`fitted_to` made fit."""
        module = import_module(f"ordino.export.writers.{self.module}")
        writer: Callable[..., Written] = getattr(module, self.writer)
        return writer(form, name, **options)

    def score(self, files: Mapping[str, Any], X: Any, names: Any) -> Any:
        """What the engine's emulator gives."""
        return getattr(import_module(f"ordino.export.emulators.{self.module}"), self.emulator)(files, X, names)


ALL = ("linear", "stumps", "trees", "network")
_PLUGIN: dict[str, Any] = {
    "module": "ltr_plugin", "writer": "write_plugin", "emulator": "score_plugin", "families": ALL,
    "normalizers": NORMALIZERS, "activations": LOGISTIC,
}  # fmt: skip

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "solr": Target(
            "Solr", "solr", "write_solr", "score_solr", ALL, normalizers=NORMALIZERS, fills=True,
            activations=("relu", "tanh", "sigmoid"),
        ),
        "elasticsearch": Target("the Elasticsearch plugin", **_PLUGIN),
        "opensearch": Target("the OpenSearch plugin", **_PLUGIN),
        "elastic": Target("Elasticsearch's own LTR", "elastic", "write_elastic", "score_elastic", ("stumps", "trees")),
        "vespa": Target(
            "Vespa", "vespa", "write_vespa", "score_vespa", ALL, scalings=("symlog",), fills=True, holds_levels=True,
        ),
        "ranklib": Target(
            "RankLib", "ranklib", "write_ranklib", "score_ranklib", ALL, activations=LOGISTIC, knows_missing=False,
        ),
        "lightgbm": Target("LightGBM", "lightgbm", "write_lightgbm", "score_lightgbm", ("stumps", "trees")),
        "onnx": Target(
            "ONNX", "onnx", "write_onnx", "score_onnx", ALL, scalings=("symlog", "quantile"), fills=True,
            holds_levels=True,
        ),
    }
)  # fmt: skip
"""Every engine that rankers are exported to, by its name."""


def fitted_to(target: Target, form: Plain) -> Plain:
    """The form as the engine can hold it: normalizers kept, other affine scalings folded; refused where it cannot."""
    if form.kind not in target.families:
        held = " and ".join(("trees", "stumps") if target.families == ("stumps", "trees") else target.families)
        named = "a weighted sum" if form.kind == "linear" else "a network"
        fits = ", ".join(name for name, one in TARGETS.items() if form.kind in one.families)
        raise ExportError(f"{target.title} holds {held}, not {named}; export to one of: {fits}")
    if isinstance(form, PlainTrees):
        return _trees(target, form)
    if isinstance(form, PlainNetwork) and form.activation not in target.activations:
        raise ExportError(
            f"{target.title} has no networks with the activation {form.activation!r}, only "
            f"{' and '.join(target.activations)}; "
            f"train with one of these, export to onnx, {WAYS_OUT}"
        )
    preparation = form.preparation
    if preparation.fill is not None and not target.fills:
        raise ExportError(
            f"{target.title} cannot fill in missing values by medians; fill them in where features are made and train "
            f"without missing='median', {WAYS_OUT}"
        )
    strange = [
        step.kind for step in preparation.steps if not isinstance(step, Affine) and step.kind not in target.scalings
    ]
    if strange:
        what = "a linear ranker" if isinstance(form, PlainLinear) else "a network"
        scalings = [*target.scalings, "scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler"]
        raise ExportError(
            f"{target.title} cannot hold the scaling {strange[0]!r} of {what}, only none, {', '.join(scalings)} (of "
            f"trees and stumps any); train with one of these, export to onnx, {WAYS_OUT}"
        )
    if target.scalings or not preparation.steps:  # it computes what it is given
        return form
    is_normalizer = len(preparation.steps) == 1 and preparation.steps[0].kind in target.normalizers
    if is_normalizer and not (isinstance(form, PlainNetwork) and target.module == "ltr_plugin"):
        return form
    return fold_linear(form) if isinstance(form, PlainLinear) else fold_network(form)


def _trees(target: Target, form: PlainTrees) -> PlainTrees:
    if form.categorical is not None and (target.module != "lightgbm" or form.levels is not None):
        raise ExportError(
            f"the trees ask for categories, which {target.title} cannot hold; export to lightgbm, train with "
            f"ordino.OneHot before the ranker and index its columns, {WAYS_OUT}"
        )
    if form.levels is None or target.holds_levels:
        return form
    if form.levels.n_outputs == 1 or len(form.levels.worth) <= 2:
        return _two_levels(form)
    held = ", ".join(name for name, one in TARGETS.items() if one.holds_levels)
    raise ExportError(
        f"McRank's score is an expected level, which {target.title} cannot compute from {form.levels.n_outputs} sums "
        f"of trees; export to one of: {held}, {WAYS_OUT}"
    )


def _two_levels(form: PlainTrees) -> PlainTrees:
    """With two levels the expected level rises with one sum of trees: the log-odds of the higher one."""
    assert form.levels is not None
    n, start, worth = form.levels.n_outputs, form.levels.start, form.levels.worth
    low, high = (worth[0], worth[1]) if len(worth) == 2 else (worth[0], 0.0)  # a level that was never seen has no worth
    signs = [1.0] if n == 1 else [-1.0, 1.0]
    trees = tuple(tree._replace(value=tree.value * signs[i % n]) for i, tree in enumerate(form.trees))
    return PlainTrees(form.names, trees, odds=Odds(float(low), float(high), 0.0 if start is None else float(start[0])))
