"""Laws that every measure keeps in every profile, and agreement with slow loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import hard_lists, oracle
from ordino.errors import ParameterError
from ordino.metrics import METRICS, PROFILES, Metric, engine, kernels, measure, parse_metric

CUTOFFS = {"required": (1, 3, 10), "optional": (None, 3), "none": (None,)}
EVERY = tuple(Metric(entry.name, k) for entry in METRICS.values() for k in CUTOFFS[entry.cutoff])
LONGEST_TIE_ORDERS = 7  # all orders of so many documents are tried

scores_of_ties = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def lists(draw: st.DrawFn, *, n: st.SearchStrategy[int], whole: bool, top: float) -> tuple[list[float], list[float]]:
    size = draw(n)
    grades = st.integers(0, int(top)) if whole else st.sampled_from([0, 0.25, 0.5, 0.75, 1]).map(lambda x: x * top)
    labels = draw(st.lists(grades, min_size=size, max_size=size))
    return [float(label) for label in labels], draw(st.lists(scores_of_ties, min_size=size, max_size=size))


def top_label(profile: str) -> float:
    return 1.0 if profile == "catboost" else 4.0  # CatBoost's ERR takes labels from 0 to 1


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        (name, profile)
        for name, (y, _) in hard_lists().items()
        for profile in PROFILES
        if profile != "sklearn" or len(y) <= LONGEST_TIE_ORDERS  # else too many orders of ties to try them all
    ],
)
def test_hard_lists_agree_with_slow_loops(name: str, profile: str) -> None:
    y, scores = hard_lists()[name]
    for metric in EVERY:
        if metric.name == "err" and profile == "catboost" and max(y) > 1:
            continue
        found = metric.per_query(y, scores, [0, len(y)], profile=profile)[0]
        assert found == pytest.approx(oracle(metric.name, metric.k, y, scores, profile), abs=1e-13, nan_ok=True), metric


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_list_agrees_with_slow_loops(profile: str, data: st.DataObject) -> None:
    size = st.integers(1, 5 if profile == "sklearn" else 40)
    y, scores = data.draw(lists(n=size, whole=data.draw(st.booleans()), top=top_label(profile)))
    found = measure(y, scores, [0, len(y)], EVERY, profile=profile)
    for metric in EVERY:
        expected = oracle(metric.name, metric.k, y, scores, profile)
        assert found.per_query[str(metric)][0] == pytest.approx(expected, abs=1e-13, nan_ok=True), metric


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_query_does_not_depend_on_the_others(profile: str, data: st.DataObject) -> None:
    queries = data.draw(
        st.lists(lists(n=st.integers(1, 30), whole=True, top=top_label(profile)), min_size=2, max_size=5)
    )
    y, scores = np.concatenate([q[0] for q in queries]), np.concatenate([q[1] for q in queries])
    offsets = np.cumsum([0, *(len(q[0]) for q in queries)])
    together = measure(y, scores, offsets, EVERY, profile=profile)
    for q, (labels, values) in enumerate(queries):
        alone = measure(labels, values, [0, len(labels)], EVERY, profile=profile)
        for name in together:
            np.testing.assert_array_equal(together.per_query[name][q], alone.per_query[name][0])


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_only_the_order_of_scores_counts(profile: str, data: st.DataObject) -> None:
    y, scores = data.draw(lists(n=st.integers(1, 30), whole=True, top=top_label(profile)))
    plain = measure(y, scores, [0, len(y)], EVERY, profile=profile)
    bent = measure(y, np.exp(3 * np.array(scores)) - 7, [0, len(y)], EVERY, profile=profile)
    np.testing.assert_array_equal(list(plain.values()), list(bent.values()))


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_best_order_has_the_best_value_and_all_values_are_in_range(profile: str, data: st.DataObject) -> None:
    y, scores = data.draw(lists(n=st.integers(1, 30), whole=data.draw(st.booleans()), top=top_label(profile)))
    found = measure(y, scores, [0, len(y)], EVERY, profile=profile)
    best = measure(y, y, [0, len(y)], EVERY, profile=profile)
    worst = measure(y, -np.array(y), [0, len(y)], EVERY, profile=profile)
    for metric in EVERY:
        name, entry = str(metric), metric.measure
        if np.isnan(found[name]):
            assert np.isnan(best[name])
            continue
        assert entry.low - 1e-12 <= found[name] <= entry.high + 1e-12, name
        first, last = (best, worst) if entry.greater_is_better else (worst, best)
        if metric.name in ("kendall", "spearman") and len(set(scores)) < len(set(y)):
            continue  # fewer distinct scores than labels: tau-b and rho forgive the ties
        assert found[name] <= first[name] + 1e-12, name
        if (profile, metric.name) != ("sklearn", "map"):  # whose grouping of equal scores lifts the reversed order
            assert last[name] - 1e-12 <= found[name], name
        if metric.name == "ndcg" and max(y) > 0.5 and profile not in ("letor3", "letor4", "rankde", "ranklib"):
            assert best[name] == 1.0


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_without_ties_the_order_of_rows_does_not_count(profile: str, data: st.DataObject) -> None:
    y, _ = data.draw(lists(n=st.integers(1, 30), whole=True, top=top_label(profile)))
    scores = np.array(data.draw(st.permutations(range(len(y)))), float)
    rows = np.array(data.draw(st.permutations(range(len(y)))))
    plain = measure(y, scores, [0, len(y)], EVERY, profile=profile)
    mixed = measure(np.array(y)[rows], scores[rows], [0, len(y)], EVERY, profile=profile)
    np.testing.assert_array_equal(list(plain.values()), list(mixed.values()))
    assert plain.n_tied == mixed.n_tied == 0


@pytest.mark.parametrize("name", METRICS)
def test_what_depends_on_gains_says_so(name: str) -> None:
    y, scores = [0.0, 0.5, 1.0, 0.5, 0.0], [5.0, 4.0, 3.0, 2.0, 1.0]
    metric, standard = parse_metric(METRICS[name].example), replace(PROFILES["standard"], err_max=1.0)
    other = replace(standard, gain="linear", err_chance="label")
    found = [metric.per_query(y, scores, [0, len(y)], profile=profile)[0] for profile in (standard, other)]
    assert (found[0] != found[1]) == METRICS[name].uses_gain


def test_a_formula_that_does_not_say_that_it_uses_gain_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(METRICS["ndcg"], uses_gain=False)
    monkeypatch.setattr(Metric, "measure", property(lambda _: entry))
    with pytest.raises(ParameterError, match="say uses_gain=True in the entry of METRICS"):
        Metric("ndcg").per_query([1.0, 0.0], [2.0, 1.0], [0, 2])


@pytest.mark.parametrize("profile", ["sklearn", "catboost"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_profiles_that_settle_ties_do_not_look_at_rows(profile: str, data: st.DataObject) -> None:
    y, scores = data.draw(lists(n=st.integers(1, 30), whole=True, top=top_label(profile)))
    rows = np.array(data.draw(st.permutations(range(len(y)))))
    plain = measure(y, scores, [0, len(y)], EVERY, profile=profile)
    mixed = measure(np.array(y)[rows], np.array(scores)[rows], [0, len(y)], EVERY, profile=profile)
    np.testing.assert_allclose(list(plain.values()), list(mixed.values()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("profile", PROFILES)
def test_any_number_of_threads_gives_the_same(profile: str) -> None:
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 400, 500))))
    y = rng.integers(0, int(top_label(profile)) + 1, offsets[-1])
    scores = rng.integers(0, 50, offsets[-1]).astype(float)
    several = [*EVERY, parse_metric("pairwise_accuracy(samples=10)")]
    one, two, three = (measure(y, scores, offsets, several, profile=profile, n_jobs=t) for t in (1, 2, 3))
    for name in one:
        np.testing.assert_array_equal(one.per_query[name], two.per_query[name])
        np.testing.assert_array_equal(one.per_query[name], three.per_query[name])
    for q in (0, 250, 499):
        labels, values = y[offsets[q] : offsets[q + 1]].tolist(), scores[offsets[q] : offsets[q + 1]].tolist()
        for metric in EVERY:
            if profile != "sklearn":
                expected = oracle(metric.name, metric.k, labels, values, profile)
                assert one.per_query[str(metric)][q] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_scores_that_differ_in_their_last_bits_are_told_apart() -> None:
    """The block sort looks at 36 bits of a score first; the order is that of all 64."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(0, 60, 300)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    near = np.array([0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 + 2**-51, -1.0, -1.0 - 2**-52, 5e-324, -5e-324, 1e308, np.inf])
    scores, y = rng.choice(near, offsets[-1]), rng.integers(0, 5, offsets[-1]).astype(float)
    for profile in ("standard", "catboost"):
        chosen = [metric for metric in EVERY if metric.name != "err"]
        found = measure(y, scores, offsets, chosen, profile=profile)
        for q in np.flatnonzero(sizes):
            labels, values = y[offsets[q] : offsets[q + 1]].tolist(), scores[offsets[q] : offsets[q + 1]].tolist()
            for metric in chosen:
                expected = oracle(metric.name, metric.k, labels, values, profile)
                assert found.per_query[str(metric)][q] == pytest.approx(expected, abs=1e-12, nan_ok=True), metric


@pytest.mark.parametrize("profile", ["standard", "trec", "catboost"])
def test_queries_too_long_for_a_block_are_ranked_alike(profile: str) -> None:
    rng = np.random.default_rng(4)
    scores, y = rng.integers(0, 9000, 20_000).astype(float), rng.integers(0, 2, 20_000).astype(float)
    order = {"standard": np.arange(20_000), "trec": -np.arange(20_000), "catboost": y}[profile]
    labels = y[np.lexsort((order, -scores))]
    found = measure(y, scores, [0, 20_000], ["p@500", "map", "ndcg"], profile=profile)
    relevant = np.flatnonzero(labels) + 1
    assert found["p@500"] == labels[:500].sum() / 500
    assert found["map"] == pytest.approx(np.mean(np.arange(1, len(relevant) + 1) / relevant), rel=1e-12)
    best = np.sum(1 / np.log2(np.arange(2, len(relevant) + 2)))
    assert found["ndcg"] == pytest.approx(np.sum(1 / np.log2(relevant + 1)) / best, rel=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_picking_the_best_gives_what_sorting_gives(profile: str) -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 3, 9, 10, 11, 12, 33, 60, 60, engine.BLOCK + 5])
    offsets = np.append(0, np.cumsum(sizes))
    y = rng.integers(0, 2 if profile == "catboost" else 5, offsets[-1]).astype(float)
    for scores in (rng.random(len(y)), rng.integers(0, 6, len(y)) / 3, -np.arange(len(y)), np.arange(len(y))):
        missing = np.where(rng.random(len(y)) < 0.2, -np.inf, scores)
        for metric in (metric for metric in EVERY if metric.k is not None):
            for some in (scores, missing):
                sorted_ones = measure(y, some, offsets, [metric], profile=profile).per_query[str(metric)]
                np.testing.assert_array_equal(metric.per_query(y, some, offsets, profile=profile), sorted_ones)


def test_a_block_has_as_many_documents_as_can_be_packed() -> None:
    assert engine.BLOCK == kernels.PLACES + 1


def test_read_only_arrays_need_no_kernels_of_their_own() -> None:
    y, scores, offsets = np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.array([0, 2])
    measure(y, scores, offsets, "map")
    compiled = len(kernels.rank_block.signatures), len(kernels.precision_sums.signatures)
    for array in (y, scores, offsets):
        array.flags.writeable = False
    measure(y, scores, offsets.astype(np.int32), "map")
    measure(y, scores, offsets, "map")
    assert (len(kernels.rank_block.signatures), len(kernels.precision_sums.signatures)) == compiled
