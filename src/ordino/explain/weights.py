"""What a model says of its features without any data."""

from __future__ import annotations

from ordino.errors import ParameterError
from ordino.ranker import FeatureWeight, Ranker


def feature_weights(ranker: Ranker) -> list[FeatureWeight]:
    """The weight of each feature by its name, the weightiest first, whatever its sign.

    Linear rankers have their coefficients (of the scaled feature, where they scale), rankers of stumps the sum of the
    alphas of each feature, trees the share of each feature in what all splits gained. Other rankers have no such
    weights: use :func:`~ordino.explain.permutation_importance`.

    Examples
    --------
    >>> from ordino import SingleFeature
    >>> feature_weights(SingleFeature(feature=2, sign=-1).fit([[1.0, 5.0], [3.0, 4.0]], [0, 1]))[0]
    FeatureWeight(feature='f2', weight=-1.0)
    """
    kind = ranker.form().kind
    weights = getattr(ranker, "feature_gains" if kind == "trees" else "feature_weights", None)
    if kind not in ("linear", "stumps", "trees") or weights is None:
        raise ParameterError(
            f"a {type(ranker).__name__} has no weight for each feature; "
            "give data, and permutation importance tells what each is worth"
        )
    return sorted(weights(), key=lambda one: -abs(one.weight))
