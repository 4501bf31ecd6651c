"""Vespa: a rank profile whose functions are ranking expressions, one function for each feature, layer and tree.

Ranking expressions are computed in double precision. ``if (x <= t, left, right)`` sends a missing value (NaN) right,
``if (!(x > t), left, right)`` sends it left.
"""

import re

import numpy as np

from ordino.export.family import Affine, Floats, PlainLinear, PlainNetwork, PlainTrees, Preparation, SymLog, Tree
from ordino.export.shapes import nested
from ordino.export.written import Written, all_different, size_note

ACTIVATIONS = {
    "relu": "max(0.0, {z})",
    "tanh": "tanh({z})",
    "sigmoid": "(1.0 / (1.0 + exp(0.0 - {z})))",
    "softplus": "if ({z} > 30.0, {z}, log(1.0 + exp({z})))",
    "identity": "{z}",
}
LIMIT = "large expressions are slow: use more than a thousand trees or neurons as an ONNX model instead"


def write_vespa(form: PlainLinear | PlainTrees | PlainNetwork, name: str, **_: object) -> Written:
    """A rank profile, to be put into a schema."""
    inputs = identifiers(form.names)
    functions = [(f"feature_{one}", f"attribute({one})") for one in inputs]
    places = [f"feature_{one}" for one in inputs]
    if isinstance(form, PlainTrees):
        made, score = _trees(form, places)
    else:
        made, ready = _prepared(form.preparation, inputs, places)
        if isinstance(form, PlainLinear):
            score = _sum(form.weights, ready, form.bias)
        else:
            more, score = _network(form, ready)
            made += more
    functions += [*made, ("score", score)]
    lines = [f"rank-profile {identifiers((name,))[0]} {{"]
    for function, expression in functions:
        lines += [f"    function {function}() {{", f"        expression: {expression}", "    }"]
    lines += ["    first-phase {", "        expression: nativeRank", "    }"]
    lines += ["    second-phase {", "        rerank-count: 100", "        expression: score", "    }", "}"]
    text = "\n".join(lines) + "\n"
    notes = [
        size_note(text, 1_000_000, LIMIT),
        "Each function feature_... reads an attribute; change it to your rank feature.",
    ]
    command = f"vespa deploy  # with model.profile as schemas/SCHEMA/{identifiers((name,))[0]}.profile"
    return Written(files={"model.profile": text}, commands=(command,), notes=tuple(notes), odds=form.odds)


def identifiers(names: tuple[str, ...]) -> list[str]:
    """Names as Vespa takes them: letters, digits and _, all different, none starts with a digit.

    Examples
    --------
    >>> identifiers(("title bm25", "title_bm25", "2nd"))
    ['title_bm25', 'title_bm25_2', '_2nd']
    """
    return all_different(re.sub(r"^(?=\d)", "_", re.sub(r"\W", "_", name, flags=re.ASCII)) or "_" for name in names)


def _number(value: float) -> str:
    """A number; ranking expressions have no sign in front of an operand."""
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def _sum(weights: Floats, inputs: list[str], bias: float) -> str:
    terms = [f"{_number(w)} * {x}" for w, x in zip(weights, inputs, strict=True) if w != 0]
    return " + ".join([*terms, *([_number(bias)] if bias or not terms else [])])


def _prepared(
    preparation: Preparation, inputs: list[str], places: list[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Functions that fill in and scale, and the names of what comes out."""
    functions, ready = [], list(places)
    if preparation.fill is not None:
        functions += [
            (f"filled_{one}", f"if (isNan({x}) == 1, {_number(value)}, {x})")
            for one, x, value in zip(inputs, ready, preparation.fill, strict=True)
        ]
        ready = [f"filled_{one}" for one in inputs]
    for number, step in enumerate(preparation.steps, 1):
        if isinstance(step, Affine):
            factor, offset = step.factor_and_offset()
            made = [f"{_number(a)} * {x} + {_number(b)}" for a, x, b in zip(factor, ready, offset, strict=True)]
        else:
            assert isinstance(step, SymLog)
            made = [f"if ({x} < 0.0, (-1.0) * log(1.0 - {x}), log(1.0 + {x}))" for x in ready]
        ready = [f"scaled{number}_{one}" for one in inputs]
        functions += list(zip(ready, made, strict=True))
    return functions, ready


def _network(form: PlainNetwork, ready: list[str]) -> tuple[list[tuple[str, str]], str]:
    functions, last = [], len(form.layers) - 1
    for k, (W, b) in enumerate(form.layers[:-1]):
        sums = [(f"sum{k + 1}_{i}", _sum(W[:, i], ready, b[i])) for i in range(W.shape[1])]
        functions += sums
        ready = [f"layer{k + 1}_{i}" for i in range(W.shape[1])]
        functions += [(one, ACTIVATIONS[form.activation].format(z=z)) for one, (z, _) in zip(ready, sums, strict=True)]
    W, b = form.layers[last]
    return functions, _sum(W[:, 0], ready, b[0])


def _trees(form: PlainTrees, places: list[str]) -> tuple[list[tuple[str, str]], str]:
    functions = [(f"tree_{number}", _tree(tree, places)) for number, tree in enumerate(form.trees)]
    names = [one for one, _ in functions]
    if form.levels is None:
        return functions, " + ".join(names) or "0.0"
    worth, start, n = form.levels.worth, form.levels.start, form.levels.n_outputs
    first = np.zeros(n) if start is None else start
    functions += [(f"output_{k}", " + ".join([_number(first[k]), *names[k::n]])) for k in range(n)]
    if start is None:  # a softmax, with the largest output taken off so that nothing overflows
        largest = "output_0"
        for k in range(1, n):
            largest = f"max({largest}, output_{k})"
        functions.append(("largest", largest))
        functions += [(f"odds_{k}", f"exp(output_{k} - largest)") for k in range(n)]
        total = " + ".join(f"odds_{k}" for k in range(n))
        return functions, f"({_sum(worth, [f'odds_{k}' for k in range(len(worth))], 0.0)}) / ({total})"
    functions.append(("reached_0", "1.0 / (1.0 + exp(0.0 - output_0))"))
    for k in range(1, n):
        functions.append((f"reached_{k}", f"min(reached_{k - 1}, 1.0 / (1.0 + exp(0.0 - output_{k})))"))
    steps = np.diff(worth)  # the expected worth is that of the lowest level and what each further one adds
    return functions, _sum(steps, [f"reached_{k}" for k in range(len(steps))], float(worth[0]))


def _tree(tree: Tree, places: list[str]) -> str:
    def split(node: int, left: str, right: str) -> str:
        x, limit = places[tree.feature[node]], _number(tree.threshold[node])
        asked = f"!({x} > {limit})" if tree.missing_left[node] else f"{x} <= {limit}"
        return f"if ({asked}, {left}, {right})"

    return str(nested(tree, split, lambda number: _number(tree.value[number])))
