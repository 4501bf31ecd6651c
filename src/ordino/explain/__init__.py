"""Explain a ranker: which features matter most, and why one document ranks above another.

::

    feature_weights         the weights in the model: coefficients of linear rankers, gains of trees
    permutation_importance  how much a metric drops when a feature is shuffled, for any ranker
    why                     how much each feature adds to the difference between two documents
"""

from ordino.explain.importance import Importance, feature_weights, permutation_importance
from ordino.explain.why import Reason, Why, why

__all__ = ["Importance", "Reason", "Why", "feature_weights", "permutation_importance", "why"]
