"""LightGBM's model text as a ranker: read, checked and written anew, so that LightGBM never sees a foreign text."""

import re

from ordino.boosting.model_text import read_trees, write_trees
from ordino.errors import ModelFileError, ParameterError
from ordino.rankers.imported import ImportedTrees


def from_lightgbm(text: str, n_features: int | None) -> ImportedTrees:
    """The ranker of a model text; it gives raw scores, as ``Booster.predict(raw_score=True)`` does."""
    model = read_trees(text)
    if model.n_outputs > 1:
        raise ModelFileError(f"the model gives {model.n_outputs} numbers for a document, and a ranker gives one")
    if n_features not in (None, len(model.names)):
        raise ParameterError(
            f"n_features={n_features}, but the model says that it has {len(model.names)}; leave it out"
        )
    objective = re.search(r"^objective=(\S+)", text, re.MULTILINE)
    ranker = ImportedTrees(source=f"LightGBM {objective[1] if objective else ''}".strip())
    plain = tuple(f"Column_{j}" for j in range(len(model.names)))
    ranker.model_ = write_trees(model._replace(names=plain))
    return ranker.with_features(len(model.names), None if model.names == plain else model.names)
