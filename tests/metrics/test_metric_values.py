"""Measures by hand, with the arithmetic in sight."""

from __future__ import annotations

from math import inf, log2, nan

import numpy as np
import pytest

from ordino import metrics
from ordino.metrics import METRICS, PROFILES, parse_metric


def value(metric: str, y: list[float], scores: list[float], profile: str = "standard") -> float:
    return float(parse_metric(metric).per_query(y, scores, [0, len(y)], profile=profile)[0])


GRADES = [3, 0, 1, 0, 2]  # in rank order
DOWN = [5.0, 4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("p@1", 1 / 1),
        ("p@3", 2 / 3),
        ("p@10", 3 / 10),
        ("recall@3", 2 / 3),
        ("map", (1 / 1 + 2 / 3 + 3 / 5) / 3),
        ("map@3", (1 / 1 + 2 / 3) / 3),
        ("dcg@3", 7 / 1 + 0 + 1 / 2),
        ("dcg", 7 / 1 + 1 / 2 + 3 / log2(6)),
        ("ndcg@1", 7 / 7),
        ("ndcg@3", (7 + 1 / 2) / (7 + 3 / log2(3) + 1 / 2)),
        ("ndcg", (7 + 1 / 2 + 3 / log2(6)) / (7 + 3 / log2(3) + 1 / 2)),
        ("mrr", 1 / 1),
        ("err", 7 / 16 + (9 / 16) * (1 / 16) / 3 + (9 / 16) * (15 / 16) * (3 / 16) / 5),
        ("err(max=3)@1", 7 / 8),
        ("rbp", 0.2 * (1 + 0.8**2 + 0.8**4)),
        ("rbp(p=0.5)@3", 0.5 * (1 + 0.5**2)),
        ("rbp(p=0)", 1.0),
        ("hit@1", 1.0),
        ("pairwise_accuracy", 5 / 9),
        ("pairwise_error", 4 / 9),
        ("kendall", (5 - 4) / (10 * 9) ** 0.5),
    ],
)
def test_standard_values(metric: str, expected: float) -> None:
    assert value(metric, GRADES, DOWN) == pytest.approx(expected, rel=1e-14)


def test_mean_ndcg_is_the_mean_over_all_cutoffs() -> None:
    at = [value(f"ndcg@{k}", GRADES, DOWN, "letor4") for k in range(1, 6)]
    assert at[1] == pytest.approx(7 / (7 + 3))
    assert at[2] == pytest.approx((7 + 1 / log2(3)) / (7 + 3 + 1 / log2(3)))
    assert value("meanndcg", GRADES, DOWN, "letor4") == pytest.approx(sum(at) / 5)


def test_spearman_with_equal_labels_takes_middle_ranks() -> None:
    # labels 1, 0, 0 have ranks 3, 1.5, 1.5; scores have ranks 3, 2, 1: products about the mean 1 + 0 + 0.5
    assert value("spearman", [1, 0, 0], [3.0, 2.0, 1.0]) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)


@pytest.mark.parametrize(
    ("profile", "p3", "ndcg3"),
    [
        ("standard", 1 / 3, 1 / log2(3)),  # of the two documents there are
        ("letor3", 0.0, 0.0),  # past the end both are undefined and averaged as 0
        ("letor4", 1 / 3, 0.0),  # precision fills the list, NDCG does not
        ("xgboost", 1 / 2, 1 / log2(3)),
        ("ranklib", 1 / 2, 1 / log2(3)),
        ("directranker", 1 / 2, 1 / log2(3)),
        ("rankde", 1 / 3, (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2)),  # eq. 9: three relevant documents assumed
    ],
)
def test_short_lists(profile: str, p3: float, ndcg3: float) -> None:
    assert value("p@3", [0, 1], [2.0, 1.0], profile) == pytest.approx(p3)
    assert value("ndcg@3", [0, 1], [2.0, 1.0], profile) == pytest.approx(ndcg3)


@pytest.mark.parametrize(
    ("profile", "of_ndcg", "of_map", "of_recall", "of_p"),
    [
        ("standard", 0, 0, 0, 0),
        ("letor4", 0, 0, 0, 0),
        ("lightgbm", 1, 1, 1, 0),
        ("xgboost", 1, 1, 1, 0),
        ("catboost", 1, 0, 1, 0),
        ("directranker", nan, nan, nan, nan),
    ],
)
def test_empty_queries(profile: str, of_ndcg: float, of_map: float, of_recall: float, of_p: float) -> None:
    found = [value(metric, [0, 0], [2.0, 1.0], profile) for metric in ("ndcg@2", "map", "recall@2", "p@2")]
    np.testing.assert_array_equal(found, [of_ndcg, of_map, of_recall, of_p])


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("standard", 1.0),  # row order: the relevant document came first
        ("trec", 1 / log2(3)),  # the last row has the highest document id
        ("catboost", 1 / log2(3)),  # the worst case
        ("sklearn", (1 + 1 / log2(3)) / 2),  # the mean of both orders
    ],
)
def test_ties(profile: str, expected: float) -> None:
    assert value("ndcg", [1, 0], [0.5, 0.5], profile) == pytest.approx(expected)


def test_ties_by_document_id_where_ids_are_given() -> None:
    found = metrics.measure([1, 0], [0.5, 0.5], [0, 2], "mrr", profile="trec", doc_ids=["b", "a"])
    assert found["mrr"] == 1.0
    found = metrics.measure([1, 0], [0.5, 0.5], [0, 2], "mrr", profile="trec", doc_ids=np.array(["a", "b"], object))
    assert found["mrr"] == 0.5


def test_scores_that_float32_cannot_tell_apart_are_tied_where_the_tool_uses_float32() -> None:
    y, scores = [0, 1], [1.0, 1.0 + 1e-12]
    assert value("mrr", y, scores) == 1.0
    assert value("mrr", y, scores, "xgboost") == 0.5
    assert value("mrr", [1, 0], [1e300, 2e300], "xgboost") == 1.0  # both are infinite in float32


def test_labels_become_relevant_or_not_in_the_profiles_of_papers() -> None:
    assert value("ndcg", [1, 4], [2.0, 1.0], "directranker") == 1.0
    assert value("dcg", [4], [1.0], "rankde") == 1.0
    assert value("err", [4], [1.0], "directranker") == 0.5


def test_ranklib_cuts_labels_to_whole_numbers() -> None:
    assert value("dcg", [2.9], [1.0], "ranklib") == 3.0
    assert value("dcg", [100.9], [1.0], "ranklib") == 2.0**100 - 1
    assert value("dcg", [0.5], [1.0]) == 2**0.5 - 1


@pytest.mark.parametrize("label", [63, 64, 100, 1000])
def test_large_labels_have_finite_gains(label: float) -> None:
    assert value("dcg", [0, label], [1.0, 2.0]) == 2.0**label - 1
    assert value("ndcg", [label, 0], [1.0, 2.0]) == pytest.approx(1 / log2(3))


def test_infinite_scores_are_an_order() -> None:
    assert value("mrr", [0, 1, 0], [0.0, inf, -inf]) == 1.0
    assert value("pairwise_accuracy", [0, 1, 2], [-inf, 0.0, inf]) == 1.0
    assert value("pairwise_accuracy", [0, 1, 2], [-inf, -inf, inf]) == 2.5 / 3


@pytest.mark.parametrize(
    ("metric", "profile", "expected"),
    [
        ("map", "standard", (1 / 2) / 3),  # relevant: one at rank 2, two not retrieved
        ("map@2", "lightgbm", (1 / 2) / 2),
        ("recall@4", "standard", 1 / 3),
        ("p@4", "standard", 1 / 4),
        ("p@4", "xgboost", 1 / 2),  # the list has two documents
        ("hit@4", "standard", 1.0),
        ("mrr", "standard", 1 / 2),
        ("dcg", "standard", 1 / log2(3)),
        ("ndcg", "standard", (1 / log2(3)) / (7 + 1 / log2(3) + 1 / 2)),
        ("ndcg@2", "standard", (1 / log2(3)) / (7 + 1 / log2(3))),
        ("ndcg@2", "letor4", 1 / (7 + 1)),
        ("ndcg@3", "letor4", 0.0),
        ("meanndcg", "letor4", (0 / 7 + 1 / 8) / 2),
    ],
)
def test_documents_that_were_not_retrieved_have_no_rank(metric: str, profile: str, expected: float) -> None:
    y, scores = [3, 0, 1, 1], [-inf, 0.5, 0.4, -inf]
    assert value(metric, y, scores, profile) == pytest.approx(expected)
    assert metrics.evaluate(y, scores, metrics=metric, profile=profile).n_tied == 0


def test_nothing_retrieved_is_worth_nothing() -> None:
    for profile in PROFILES:
        for metric in (
            "ndcg",
            "ndcg@2",
            "map",
            "p@2",
            "recall@2",
            "mrr",
            "err(max=1)",
            "rbp",
            "hit@1",
            "meanndcg",
            "dcg",
        ):
            assert value(metric, [1, 0], [-inf, -inf], profile) == 0.0


def test_a_score_too_low_for_float32_still_has_a_rank() -> None:
    assert value("mrr", [0, 1], [0.0, -1e300], "trec") == 0.5


def test_a_query_without_documents_is_an_empty_one() -> None:
    found = parse_metric("ndcg@3").per_query([1], [1.0], [0, 0, 1])
    assert found.tolist() == [0.0, 1.0]
    for profile in PROFILES:
        for measure in METRICS.values():
            with np.errstate(all="raise"):
                parse_metric(measure.example).per_query([], [], [0, 0], profile=profile)


def test_what_has_no_value_is_nan() -> None:
    for metric in ("pairwise_accuracy", "pairwise_error", "kendall", "spearman"):
        assert np.isnan(value(metric, [1, 1], [2.0, 1.0]))
        assert np.isnan(value(metric, [1], [2.0]))
    assert value("kendall", [0, 1], [1.0, 1.0]) == value("spearman", [0, 1], [1.0, 1.0]) == 0.0
    assert value("pairwise_accuracy", [0, 1], [1.0, 1.0]) == value("pairwise_error", [0, 1], [1.0, 1.0]) == 0.5


def test_functions_give_what_their_names_give() -> None:
    y, scores, offsets = [2, 0, 1, 0, 1, 1], [3.0, 2.0, 1.0, 0.3, 0.2, 0.1], [0, 3, 6]
    by_name = {
        "err(max=2)@2": metrics.expected_reciprocal_rank(y, scores, offsets, k=2, max_label=2),
        "rbp(p=0.5)@2": metrics.rank_biased_precision(y, scores, offsets, k=2, p=0.5),
        "pairwise_accuracy(samples=1, seed=3)": metrics.pairwise_accuracy(y, scores, offsets, samples=1, seed=3),
    }
    for entry in METRICS.values():
        function = getattr(metrics, entry.formula.__name__)
        name, how = (entry.name, {}) if entry.cutoff == "none" else (f"{entry.name}@2", {"k": 2})
        by_name[name] = function(y, scores, offsets, **how)
    for name, found in by_name.items():
        np.testing.assert_array_equal(found, parse_metric(name).per_query(y, scores, offsets))


def test_sampled_pairs_come_close_and_come_back() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, 400)
    scores = y + rng.normal(0, 2, 400).round(1)
    exact = value("pairwise_accuracy", y.tolist(), scores.tolist())
    first = value("pairwise_accuracy(samples=20000)", y.tolist(), scores.tolist())
    assert first == value("pairwise_accuracy(samples=20000)", y.tolist(), scores.tolist())
    assert first != value("pairwise_accuracy(samples=20000, seed=1)", y.tolist(), scores.tolist())
    assert abs(first - exact) < 4 * (0.25 / 20000) ** 0.5
    assert value("pairwise_error(samples=20000)", y.tolist(), scores.tolist()) == pytest.approx(1 - first)
    assert value("pairwise_accuracy(samples=100000)", y.tolist(), scores.tolist()) == exact  # more than there are


@pytest.mark.parametrize("n_tied", [0, 3, 10])
def test_sampled_pairs_of_equal_scores_count_half(n_tied: int) -> None:
    """All sampled pairs are right but for those of equal scores, and all of them are if all scores are equal."""
    y = np.arange(10)
    scores = np.where(y < n_tied, 0.0, y)
    share = n_tied * (n_tied - 1) / 90
    drawn = [value(f"pairwise_accuracy(samples=44, seed={seed})", y.tolist(), scores.tolist()) for seed in range(50)]
    assert np.mean(drawn) == pytest.approx(1 - share / 2, abs=0.03 * (share % 1 > 0))


def test_sampling_meets_the_rare_label_as_often_as_the_others() -> None:
    y, scores = [1] + [0] * 999, [0.0] + [1.0, -1.0, -1.0] * 333  # one relevant document: 2/3 of its pairs are right
    assert value("pairwise_accuracy(samples=900)", y, scores) == pytest.approx(2 / 3, abs=0.07)
