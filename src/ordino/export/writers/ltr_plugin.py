"""The learning-to-rank plugin of Elasticsearch and OpenSearch: a feature set, and the body of ``_createmodel``.

Linear rankers are ``model/linear`` with the plugin's normalizers, trees ``model/xgboost+json``, networks of logistic
neurons ``model/ranklib``. XGBoost's rule is ``x < condition``, so the next single-precision number above our threshold
is written.
"""

import json
from typing import Any

import numpy as np

from ordino.export.family import Affine, PlainLinear, PlainNetwork, PlainTrees, Preparation, Tree
from ordino.export.shapes import depths, nested
from ordino.export.writers.ranklib import write_ranklib
from ordino.export.written import Written, single, size_note

LIMIT = "the engines take requests of up to 100 MB (http.max_content_length) and cache models (ltr.caches.max_mem)"
NEGATIVE = (
    "Scores can be negative (down to {low:.4g}). Use the model in a rescore, as the command does: Lucene refuses "
    "negative scores of a main query from version 8 on.{fix}"
)


def write_plugin(
    form: PlainLinear | PlainTrees | PlainNetwork, name: str, *, lift: bool = False, **_: object
) -> Written:
    """The feature set and the model."""
    notes: list[str] = []
    blurred: list[tuple[int, float, float]] = []
    model: dict[str, Any]
    shift, squash, odds = 0.0, None, form.odds
    if isinstance(form, PlainLinear):
        weights = {n: single(w) for n, w in zip(form.names, form.weights, strict=True)}
        model = {"type": "model/linear", "definition": json.dumps(weights)} | _norms(form.names, form.preparation)
        notes.append(NEGATIVE.format(low=-np.inf, fix="").replace(" (down to -inf)", ""))
        shift = form.bias
    elif isinstance(form, PlainNetwork):
        text = write_ranklib(form, name)
        model = {"type": "model/ranklib", "definition": text.files["model.txt"]}
        shift, squash, odds = text.shift, text.squash, text.odds
        notes += text.notes
    else:
        low = form.lowest()
        constants = (-low,) if lift and low < 0 else ()
        trees = [_tree(tree, form.names, blurred) for tree in form.trees] + [
            {"nodeid": 0, "leaf": single(c)} for c in constants
        ]
        shift = -sum(single(c) for c in constants)
        definition = json.dumps({"objective": "rank:ndcg", "splits": trees})
        model = {"type": "model/xgboost+json", "definition": definition}
        if constants:
            notes.append(f"A constant tree of {constants[0]:.6g} is added, so that no score is negative.")
        elif low < 0:
            notes.append(NEGATIVE.format(low=low, fix=" Or export with --lift, which adds a constant tree."))
    body = json.dumps({"model": {"name": name, "model": model}}, indent=1)
    files = {"featureset.json": _features(form.names), "model.json": body}
    notes.insert(0, size_note(body, 100_000_000, LIMIT))
    notes.append("featureset.json has a template for each feature, which reads a field; change it to your own query.")
    return Written(
        files=files, commands=_commands(name), notes=tuple(notes), shift=shift, squash=squash, odds=odds,
        blurred=tuple(blurred),
    )  # fmt: skip


def _tree(tree: Tree, names: tuple[str, ...], blurred: list[tuple[int, float, float]]) -> Any:
    n, deep = len(tree.feature), depths(tree)
    largest = np.finfo(np.float32).max  # above which nothing can be written: it alone goes right

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        above = np.nextafter(tree.threshold[node], largest)
        if tree.threshold[node] == largest:
            blurred.append((int(tree.feature[node]), float(np.nextafter(largest, np.float32(0))), float(largest)))
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": node, "depth": int(deep[node]), "split": names[tree.feature[node]],
            "split_condition": float(above), "yes": yes, "no": no, "missing": yes if tree.missing_left[node] else no,
            "children": [left, right],
        }  # fmt: skip

    return nested(tree, split, lambda number: {"nodeid": n + number, "leaf": single(tree.value[number])})


def _norms(names: tuple[str, ...], preparation: Preparation) -> dict[str, Any]:
    if not preparation.steps:
        return {}
    [step] = preparation.steps
    assert isinstance(step, Affine)
    kind, keys = {
        "standard": ("standard", ("mean", "standard_deviation")),
        "minmax": ("min_max", ("minimum", "maximum")),
    }[step.kind]
    rows = zip(names, step.a, step.b, strict=True)
    norms = {name: {kind: {key: single(v) for key, v in zip(keys, (a, b), strict=True)}} for name, a, b in rows}
    return {"feature_normalizers": norms}


def _features(names: tuple[str, ...]) -> str:
    templates = [
        {
            "name": name, "params": [], "template_language": "mustache",
            "template": {"function_score": {"field_value_factor": {"field": name, "missing": 0}}},
        }
        for name in names
    ]  # fmt: skip
    return json.dumps({"featureset": {"features": templates}}, indent=1)


def _commands(name: str) -> tuple[str, ...]:
    json_type, host = "-H 'Content-Type: application/json'", "http://localhost:9200"
    rescore = {
        "query": {"match": {"FIELD": "WORDS"}},
        "rescore": {
            "window_size": 100,
            "query": {
                "query_weight": 0, "rescore_query_weight": 1,
                "rescore_query": {"sltr": {"params": {}, "model": name}},
            },
        },
    }  # fmt: skip
    return (
        f"curl -X PUT '{host}/_ltr'",
        f"curl -X PUT '{host}/_ltr/_featureset/{name}' {json_type} --data-binary @featureset.json",
        f"curl -X POST '{host}/_ltr/_featureset/{name}/_createmodel' {json_type} --data-binary @model.json",
        f"curl '{host}/INDEX/_search' {json_type} -d '{json.dumps(rescore)}'",
    )
