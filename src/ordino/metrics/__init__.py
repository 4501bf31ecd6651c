"""How good an order is: measures with one value for each query, and the profiles that say how tools compute them."""

from __future__ import annotations

from ordino.metrics.evaluate import DEFAULT_METRICS, Evaluation, evaluate, measure, parse_metrics
from ordino.metrics.functions import (
    average_precision,
    dcg,
    expected_reciprocal_rank,
    hit,
    kendall,
    mean_ndcg,
    ndcg,
    pairwise_accuracy,
    pairwise_error,
    precision,
    rank_biased_precision,
    recall,
    reciprocal_rank,
    spearman,
)
from ordino.metrics.metric import METRICS, Measure, Metric, Parameter, parse_metric
from ordino.metrics.profiles import PROFILES, Profile, find_profile

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "PROFILES",
    "Evaluation",
    "Measure",
    "Metric",
    "Parameter",
    "Profile",
    "average_precision",
    "dcg",
    "evaluate",
    "expected_reciprocal_rank",
    "find_profile",
    "hit",
    "kendall",
    "mean_ndcg",
    "measure",
    "ndcg",
    "pairwise_accuracy",
    "pairwise_error",
    "parse_metric",
    "parse_metrics",
    "precision",
    "rank_biased_precision",
    "recall",
    "reciprocal_rank",
    "spearman",
]
