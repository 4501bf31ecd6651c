"""RankLib: one text file, as ``java -jar RankLib.jar -load`` and the search engines' plugins read it.

Linear rankers become Coordinate Ascent, stumps RankBoost, trees LambdaMART, and networks of logistic neurons RankNet.
RankLib's networks are logistic in every layer, the output among them; tanh(z) is 2 logistic(2 z) - 1.
"""

import numpy as np

from ordino.export.family import Floats, PlainLinear, PlainNetwork, PlainTrees, Tree
from ordino.export.shapes import nested
from ordino.export.written import Written, single

LARGEST_OUTPUT = 16.0  # beyond about 36 the logistic function is 1 for doubles, and documents would be tied


def write_ranklib(form: PlainLinear | PlainTrees | PlainNetwork, name: str, **_: object) -> Written:  # noqa: ARG001
    """The model as text."""
    shift, squash, odds = 0.0, None, form.odds
    notes = ["Features go by number: the first is 1. A feature that a line leaves out is 0."]
    if isinstance(form, PlainLinear):
        words = [f"{j}:{float(weight)!r}" for j, weight in enumerate(form.weights, 1)]
        lines = ["## Coordinate Ascent", "## Restart = 1", "## Regularized = false", " ".join(words)]
        shift = form.bias
    elif isinstance(form, PlainNetwork):
        layers, squash = logistic_layers(form)
        lines = _network(layers)
        if odds is not None:  # our score is logistic, too
            squash, odds = None, None
        notes.append("RankLib's output neuron is logistic: scores lie between 0 and 1, in the same order.")
    elif form.kind == "stumps" and all(len(tree.feature) == 1 for tree in form.trees) and form.trees:
        words = [f"{t.feature[0] + 1}:{float(t.threshold[0])!r}:{float(t.value[1])!r}" for t in form.trees]
        lines = ["## RankBoost", f"## Iteration = {len(words)}", "## No. of threshold candidates = 0", " ".join(words)]
    else:
        lines = ["## LambdaMART", f"## No. of trees = {len(form.trees)}", "## Learning rate = 1.0", "", "<ensemble>"]
        for number, tree in enumerate(form.trees, 1):
            lines += [f'\t<tree id="{number}" weight="1.0">', *_tree(tree), "\t</tree>"]
        lines.append("</ensemble>")
    if isinstance(form, PlainTrees) and any(bool((t.missing_left != (t.threshold >= 0)).any()) for t in form.trees):
        notes.append("The ranker sends missing values another way than 0; RankLib has no missing values.")
    command = "java -jar RankLib.jar -load model.txt -rank test.txt -score scores.txt"
    text = "\n".join(lines) + "\n"
    return Written(
        files={"model.txt": text},
        commands=(command,),
        notes=tuple(notes),
        shift=shift,
        squash=squash,
        odds=odds,
    )


def _tree(tree: Tree) -> list[str]:
    def split(node: int, left: list[str], right: list[str]) -> list[str]:
        head = [
            f"<feature> {tree.feature[node] + 1} </feature>",
            f"<threshold> {float(tree.threshold[node])!r} </threshold>",
        ]
        return [*head, '<split pos="left">', *left, "</split>", '<split pos="right">', *right, "</split>"]

    inner = nested(tree, split, lambda number: [f"<output> {single(tree.value[number])!r} </output>"])
    return ["<split>", *inner, "</split>"]


def logistic_layers(form: PlainNetwork) -> tuple[list[tuple[Floats, Floats]], float]:
    """The layers of a network of sigmoid or tanh as logistic ones, and the factor that keeps its output off 1."""
    layers = [(W.copy(), b.copy()) for W, b in form.layers]
    if form.activation == "tanh":
        for number in range(len(layers) - 1):
            (W, b), (W_next, b_next) = layers[number], layers[number + 1]
            layers[number] = 2 * W, 2 * b
            layers[number + 1] = 2 * W_next, b_next - W_next.sum(axis=0)
    if form.odds is not None:
        return layers, 1.0
    W, b = layers[-1]
    largest = float(np.abs(W).sum() + np.abs(b).sum())
    squash = 2.0 ** -max(np.ceil(np.log2(max(largest, 1e-300) / LARGEST_OUTPUT)), 0)
    layers[-1] = W * squash, b * squash
    return layers, float(squash)


def _network(layers: list[tuple[Floats, Floats]]) -> list[str]:
    sizes = [len(layers[0][0]), *(len(b) for _, b in layers)]
    hidden = sizes[1:-1]
    lines = [
        "## RankNet",
        "## Epochs = 0",
        f"## No. of features = {sizes[0]}",
        f"## No. of hidden layers = {len(hidden)}",
    ]
    lines += [f"## Layer {k}: {n} neurons" for k, n in enumerate(hidden, 1)]
    lines += [" ".join(str(j + 1) for j in range(sizes[0])), str(len(hidden)), *map(str, hidden)]
    biases = np.concatenate([b for _, b in layers])
    for k, (W, _) in enumerate(layers):
        rows = [*W, *([biases] if k == 0 else [])]  # the bias is the last neuron of layer 0, connected to all layers
        lines += [" ".join([str(k), str(i), *(repr(float(w)) for w in row)]) for i, row in enumerate(rows)]
    return lines
