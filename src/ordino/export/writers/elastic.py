"""Elasticsearch's own learning to rank (no plugin): an ensemble of trees as eland writes it, gzipped, in base 64.

Its rule is ``value <= threshold`` in double precision (decision type ``lte``); a missing value goes where
``default_left`` says. The score is handed on in single precision.
"""

import base64
import gzip
import json
from typing import Any

import numpy as np

from ordino.export.family import PlainTrees, Tree
from ordino.export.written import Written, size_note

LIMIT = "Elasticsearch takes a definition of up to 1 GB, and a request of up to 100 MB"


def write_elastic(form: PlainTrees, name: str, *, lift: bool = False, **_: object) -> Written:
    """The definition in the open, and the body of ``PUT _ml/trained_models``."""
    names, low = list(form.names), form.lowest()
    constants = [-low] if lift and low < 0 else []
    structures = [_structure(tree) for tree in form.trees] + [[{"node_index": 0, "leaf_value": c}] for c in constants]
    trees = [{"tree": {"feature_names": names, "target_type": "regression", "tree_structure": s}} for s in structures]
    ensemble = {
        "target_type": "regression", "feature_names": names, "trained_models": trees,
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(trees)}},
    }  # fmt: skip
    definition = json.dumps({"trained_model": {"ensemble": ensemble}}, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(definition.encode(), mtime=0)).decode()
    extractors = [{"query_extractor": {"feature_name": one, "query": {"script_score": _script(one)}}} for one in names]
    body = {
        "model_type": "tree_ensemble", "input": {"field_names": names}, "compressed_definition": packed,
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
    }  # fmt: skip
    text = json.dumps(body, indent=1)
    notes = [
        size_note(text, 100_000_000, LIMIT),
        "Each query_extractor in model.json reads a field; change it to the query that makes the feature.",
    ]
    if low < 0 and not constants:
        notes.append(f"Scores can be negative (down to {low:.4g}); export with --lift to add a constant tree.")
    files = {"definition.json": definition, "model.json": text}
    return Written(files=files, commands=_commands(name), notes=tuple(notes), shift=-sum(constants), odds=form.odds)


def _script(feature: str) -> dict[str, Any]:
    return {"query": {"exists": {"field": feature}}, "script": {"source": f"doc['{feature}'].value"}}


def _structure(tree: Tree) -> list[dict[str, Any]]:
    n = len(tree.feature)

    def number(child: int) -> int:
        return n + ~child if child < 0 else int(child)

    splits = [
        {
            "node_index": node, "decision_type": "lte", "left_child": number(int(tree.left[node])),
            "right_child": number(int(tree.right[node])), "split_feature": int(tree.feature[node]),
            "threshold": float(tree.threshold[node]), "default_left": bool(tree.missing_left[node]),
        }
        for node in range(n)
    ]  # fmt: skip
    return splits + [{"node_index": n + leaf, "leaf_value": float(np.float64(v))} for leaf, v in enumerate(tree.value)]


def _commands(name: str) -> tuple[str, ...]:
    json_type, host = "-H 'Content-Type: application/json'", "http://localhost:9200"
    rescore = {
        "query": {"match": {"FIELD": "WORDS"}},
        "rescore": {"window_size": 100, "learning_to_rank": {"model_id": name, "params": {}}},
    }
    return (
        f"curl -X PUT '{host}/_ml/trained_models/{name}' {json_type} --data-binary @model.json",
        f"curl '{host}/INDEX/_search' {json_type} -d '{json.dumps(rescore)}'",
    )
