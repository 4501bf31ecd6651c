"""Solr: ``model.json`` for the model store and ``features.json`` for the feature store, as Solr 9 reads them.

Solr adds 1e-6 to every threshold of a tree and rounds the sum to single precision. So the number is written that Solr's
own sum turns into the threshold; where no number does, values within the slack are sent left, and told.
"""

import json
from typing import Any

import numpy as np

from ordino.export.family import Affine, PlainLinear, PlainNetwork, PlainTrees, Preparation, Tree
from ordino.export.shapes import nested
from ordino.export.written import Written, single, size_note

SLACK = np.float32(1e-6)
MODELS, FEATURES, NORMS = (f"org.apache.solr.ltr.{part}." for part in ("model", "feature", "norm"))
ZOOKEEPER = 1_000_000
LIMIT = (
    "ZooKeeper takes about 1,000,000 at a time; a larger one is put on disk, see DefaultWrapperModel in wrapper.json"
)


def write_solr(form: PlainLinear | PlainTrees | PlainNetwork, name: str, **_: object) -> Written:
    """The model and its features."""
    preparation = Preparation() if isinstance(form, PlainTrees) else form.preparation
    shift = 0.0
    blurred: list[tuple[int, float, float]] = []
    notes: list[str] = []
    if isinstance(form, PlainLinear):
        params: dict[str, Any] = {"weights": {n: single(w) for n, w in zip(form.names, form.weights, strict=True)}}
        kind, shift = "LinearModel", form.bias
    elif isinstance(form, PlainNetwork):
        kind, params = "NeuralNetworkModel", {"layers": _layers(form)}
    else:
        kind = "MultipleAdditiveTreesModel"
        trees = [_tree(tree, form.names, blurred) for tree in form.trees]
        params = {"isNullSameAsZero": False, "trees": trees}
        if blurred:
            notes.append(
                f"{len(blurred)} thresholds cannot be met exactly, since Solr adds 1e-6 to them: values up to 1e-6 "
                "above go left."
            )
    features = [{"name": n} | _norm(preparation, j) for j, n in enumerate(form.names)]
    model = {"class": MODELS + kind, "name": name, "store": name, "features": features, "params": params}
    text = json.dumps(model, indent=1)
    if len(text) > ZOOKEEPER:
        text = json.dumps(model, separators=(",", ":"))  # every blank counts
    texts = {"model.json": text, "features.json": _store(form.names, name, preparation)}
    notes.insert(0, size_note(texts["model.json"], ZOOKEEPER, LIMIT))
    if len(texts["model.json"]) > ZOOKEEPER:
        wrapper = {"class": f"{MODELS}DefaultWrapperModel", "name": name, "params": {"resource": "model.json"}}
        texts["wrapper.json"] = json.dumps(wrapper | {"store": name}, indent=1)
    notes.append(
        "features.json names a field for each feature; change class and params to what makes it in your index."
    )
    return Written(files=texts, commands=_commands(name, "wrapper.json" in texts), notes=tuple(notes), shift=shift,
                   blurred=tuple(blurred), odds=form.odds)  # fmt: skip


def _layers(form: PlainNetwork) -> list[dict[str, Any]]:
    last = len(form.layers) - 1
    return [
        {
            "matrix": [[single(w) for w in row] for row in W.T],  # neurons by inputs
            "bias": [single(value) for value in b],
            "activation": "identity" if number == last else form.activation,
        }
        for number, (W, b) in enumerate(form.layers)
    ]


def _tree(tree: Tree, names: tuple[str, ...], blurred: list[tuple[int, float, float]]) -> dict[str, Any]:
    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        feature, limit = int(tree.feature[node]), tree.threshold[node]
        written = before_slack(limit)
        reached = np.float32(written + SLACK)
        if reached != limit:
            blurred.append((feature, float(min(limit, reached)), float(max(limit, reached))))
        missing = "left" if tree.missing_left[node] else "right"
        sides = {"left": left, "right": right, "missing": missing}
        return {"feature": names[feature], "threshold": repr(float(written)), **sides}

    root = nested(tree, split, lambda number: {"value": repr(single(tree.value[number]))})
    return {"weight": "1", "root": root}


def before_slack(limit: np.float32) -> np.float32:
    """The number that becomes ``limit`` when 1e-6 is added in single precision, or the next above.

    Examples
    --------
    >>> limit = np.float32(0.1)
    >>> float(before_slack(limit) + SLACK) == float(limit)
    True
    """
    written = np.float32(limit - SLACK)
    for _ in range(4):
        if np.float32(written + SLACK) >= limit:
            break
        written = np.nextafter(written, np.float32(np.inf))
    while np.float32(np.nextafter(written, np.float32(-np.inf)) + SLACK) >= limit and written > limit - 2 * SLACK:
        written = np.nextafter(written, np.float32(-np.inf))
    return np.float32(written)


def _norm(preparation: Preparation, feature: int) -> dict[str, Any]:
    if not preparation.steps:
        return {}
    [step] = preparation.steps
    assert isinstance(step, Affine)
    kind, keys = {"standard": ("StandardNormalizer", ("avg", "std")), "minmax": ("MinMaxNormalizer", ("min", "max"))}[
        step.kind
    ]
    params = {key: repr(single(values[feature])) for key, values in zip(keys, (step.a, step.b), strict=True)}
    return {"norm": {"class": NORMS + kind, "params": params}}


def _store(names: tuple[str, ...], name: str, preparation: Preparation) -> str:
    features = [
        {
            "name": feature, "store": name, "class": f"{FEATURES}FieldValueFeature",
            "params": {"field": feature}
            | ({} if preparation.fill is None else {"defaultValue": float(preparation.fill[j])}),
        }
        for j, feature in enumerate(names)
    ]  # fmt: skip
    return json.dumps(features, indent=1)


def _commands(name: str, is_wrapped: bool) -> tuple[str, ...]:
    place, kind = "http://localhost:8983/solr/COLLECTION", "-H 'Content-type:application/json'"
    put = f"curl -X PUT '{place}/schema/{{}}' {kind} --data-binary @{{}}"
    upload = put.format("model-store", "wrapper.json" if is_wrapped else "model.json")
    query = f"{place}/query?q=WORDS&rq={{!ltr model={name} reRankDocs=100}}&fl=id,score"
    return put.format("feature-store", "features.json"), upload, query
