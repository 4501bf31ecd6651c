"""Why a ranker ranks as it does: which features weigh most, and why one document stands above another.

::

    feature_weights         what the model itself says: coefficients of linear rankers, gains of trees
    permutation_importance  what a measure loses when a feature is shuffled, for any ranker
    why                     what each feature adds to the difference between two documents
"""

from ordino.explain.importance import Importance, feature_weights, permutation_importance
from ordino.explain.why import Reason, Why, why

__all__ = ["Importance", "Reason", "Why", "feature_weights", "permutation_importance", "why"]
