"""LightGBM: its model text, with thresholds for raw features, which ``lightgbm.Booster(model_file=...)`` loads."""

import re
from collections.abc import Iterator

import numpy as np

from ordino.boosting.model_text import DEFAULT_LEFT, NAN_MISSING, ZERO, TextTree, TreeText, write_trees
from ordino.export.family import PlainTrees, Tree
from ordino.export.written import Written, all_different


def write_lightgbm(form: PlainTrees, name: str, **_: object) -> Written:  # noqa: ARG001
    """The model text; LightGBM's names have no blanks."""
    names = tuple(safe_names(form.names))
    notes = []
    if form.categorical is not None:
        text = re.sub(r"^feature_names=.*$", lambda _: f"feature_names={' '.join(names)}", form.categorical, flags=re.M)
        notes.append("Categories go by the numbers that the ranker gave them in training.")
    else:
        text = write_trees(TreeText(tuple(_tree(tree) for tree in form.trees), names, 1))
    if list(names) != list(form.names):
        notes.append("Blanks and other characters that LightGBM refuses in names of features are _ in the file.")
    blurred = tuple(one for tree in form.trees for one in _near_zero(tree))
    command = "python -c \"import lightgbm; print(lightgbm.Booster(model_file='model.txt').num_trees())\""
    files = {"model.txt": text}
    return Written(files=files, commands=(command,), notes=tuple(notes), odds=form.odds, blurred=blurred)


def safe_names(names: tuple[str, ...]) -> list[str]:
    """Names without characters that LightGBM refuses, all different.

    Examples
    --------
    >>> safe_names(("a b", "a_b", "ok"))
    ['a_b', 'a_b_2', 'ok']
    """
    return all_different(re.sub(r"[\s\",:\[\]{}=]", "_", name) or "_" for name in names)


def _near_zero(tree: Tree) -> Iterator[tuple[int, float, float]]:
    """Numbers that LightGBM takes for 0 and so sends another way, at thresholds that are as near to 0."""
    below = float(np.nextafter(np.float32(-ZERO), np.float32(-np.inf)))
    for feature, limit in zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True):
        if below < limit < ZERO:
            yield (feature, limit, ZERO) if limit >= 0 else (feature, below, limit)


def _tree(tree: Tree) -> TextTree:
    decision = (NAN_MISSING << 2) | np.where(tree.missing_left, DEFAULT_LEFT, 0)
    return TextTree(
        tree.feature, tree.threshold.astype(np.float64), decision.astype(np.int64), tree.left, tree.right, tree.value,
        np.ones(len(tree.feature)),
    )  # fmt: skip
