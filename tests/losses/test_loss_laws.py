"""Laws that every entry of LOSSES obeys."""

from __future__ import annotations

import dataclasses
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_variants import each_loss, each_variant, each_variant_but, some_queries

from ordino.errors import DataError, ParameterError
from ordino.losses import LOSSES, make_loss


@each_variant
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_gradient_is_finite_difference(name, parameters, seed):
    scores, y, offsets = some_queries(seed)
    rng = np.random.default_rng(seed)
    kept = {"weights": rng.integers(0, 3, len(y)) * 0.7}
    for extra in ({}, kept):
        loss = make_loss(name, **parameters)
        _, gradient = loss.value_and_gradient(scores, y, offsets, **extra)
        step = 1e-6
        shifted = scores + step * np.concatenate(
            (np.eye(len(y)), -np.eye(len(y)))
        )  # all of them as one batch of models
        values, _ = loss.value_and_gradient(shifted, y, offsets, **extra)
        slopes = (values[: len(y)] - values[len(y) :]) / (2 * step)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-7)


@each_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_for_margins_to_1000(name, parameters, dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 40).astype(float)
    loss = make_loss(name, **parameters)
    for reach in (20.0, 100.0, 1000.0):
        for scores in (
            rng.choice([-reach / 2, reach / 2], 40),
            np.where(y > 2, -reach / 2, reach / 2),
            np.where(y > 2, reach / 2, -reach / 2),
            np.linspace(-reach / 2, reach / 2, 40),
        ):
            value, gradient = loss.value_and_gradient(scores.astype(dtype), y, [0, 20, 40])
            assert np.isfinite(value)
            assert gradient.dtype == dtype
            assert np.isfinite(gradient).all()
            bend = loss.curvature(scores.astype(dtype), y, [0, 20, 40])
            assert np.isfinite(bend).all()
            assert (bend >= 0).all()


@each_variant_but(lambda name, _: name in ("lambdarank", "rankcosine"))  # which have one path only
def test_a_far_document_changes_nothing_in_the_arithmetic(name, parameters):
    """The paths for near and for far scores agree where one ends and the other begins."""
    scores, y, _ = some_queries(1, n_queries=4)
    edge = {"exponential": 30.0, "approx-ndcg": 300.0 / parameters.get("alpha", 10.0)}.get(name, 60.0)
    scores[np.argmin(y)] = scores.max() + 1 - edge
    results = []
    for beyond in (-1e-9, 1e-9):
        moved = scores.copy()
        moved[np.argmin(y)] = scores.max() - edge - beyond
        results.append(make_loss(name, **parameters).value_and_gradient(moved, y, [0, len(y)]))
    (value, gradient), (other_value, other_gradient) = results
    assert value == pytest.approx(other_value, rel=1e-7)
    np.testing.assert_allclose(gradient, other_gradient, rtol=1e-7, atol=1e-12)


@each_variant_but(lambda name, own: name == "rankcosine" and not own.get("center"))  # measures scores themselves
def test_only_differences_of_scores_count(name, parameters):
    scores, y, offsets = some_queries(2)
    shift = np.repeat(np.arange(len(offsets) - 1) * 8.0, np.diff(offsets))  # another for each query
    loss = make_loss(name, **parameters)
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    moved_value, moved_gradient = loss.value_and_gradient(scores + shift, y, offsets)
    assert moved_value == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(moved_gradient, gradient, rtol=1e-6, atol=1e-12)
    sums = np.add.reduceat(gradient, offsets[:-1])
    np.testing.assert_allclose(sums, 0, atol=1e-12)  # no query is pulled as a whole


@each_variant
def test_same_on_one_and_two_threads_and_in_batches(name, parameters, monkeypatch):
    monkeypatch.setattr("ordino.losses.base.WORTH_THREADS", 0)
    rng = np.random.default_rng(3)
    offsets = np.arange(0, 3001, 50)
    scores, y = rng.normal(size=(3, 3000)), rng.integers(0, 4, 3000).astype(float)
    loss = make_loss(name, **parameters)
    values, gradients = loss.value_and_gradient(scores, y, offsets, n_jobs=1)
    threaded_values, threaded_gradients = loss.value_and_gradient(scores, y, offsets, n_jobs=2)
    assert values.tolist() == threaded_values.tolist()
    assert np.array_equal(gradients, threaded_gradients)
    for row in range(3):
        value, gradient = loss.value_and_gradient(scores[row], y, offsets)
        assert isinstance(value, float)
        assert value == values[row]
        assert np.array_equal(gradient, gradients[row])


@each_variant
def test_threads_leave_documents_of_weight_0_out_where_they_stand(name, parameters, monkeypatch):
    """Other blocks than the first count their documents from their own beginning."""
    monkeypatch.setattr("ordino.losses.base.WORTH_THREADS", 0)
    rng = np.random.default_rng(3)
    offsets = np.arange(0, 301, 6)
    scores, y, weights = rng.normal(size=300), rng.integers(0, 3, 300).astype(float), rng.integers(0, 3, 300)
    loss = make_loss(name, **parameters)
    for found in (lambda n: loss.value_and_gradient(scores, y, offsets, weights=weights, n_jobs=n)[1],
                  lambda n: loss.curvature(scores, y, offsets, weights=weights, n_jobs=n)):  # fmt: skip
        assert not found(2)[weights == 0].any()
        assert np.array_equal(found(2), found(1))


@each_variant
def test_queries_are_kept_apart(name, parameters):
    scores, y, offsets = some_queries(4)
    loss = dataclasses.replace(make_loss(name, **parameters), **(
        {"average": "queries"} if LOSSES[name].family == "pairwise" else {}
    ))  # fmt: skip
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    alone = [loss.value_and_gradient(scores[a:b], y[a:b], [0, b - a]) for a, b in pairwise(offsets)]
    teaching = [(v, g) for v, g in alone if v != 0]
    assert value == pytest.approx(sum(v for v, _ in teaching) / len(teaching))
    np.testing.assert_allclose(gradient, np.concatenate([g for _, g in alone]) / len(teaching), atol=1e-14)


def has_ties(_, parameters):
    return parameters.get("ties", False)


@each_variant_but(has_ties)  # which teach that scores should be equal
def test_one_document_or_equal_labels_teach_nothing(name, parameters):
    loss = make_loss(name, **parameters)
    for y, offsets in (([1.0], [0, 1]), ([2.0, 2, 2, 0], [0, 3, 3, 4]), ([], [0])):
        scores = np.arange(len(y), dtype=float)
        value, gradient = loss.value_and_gradient(scores, y, offsets)
        assert value == 0
        assert gradient.tolist() == [0.0] * len(y)
    lone = loss.value_and_gradient([3.0, 1.0, 9.0, 9.0], [0, 1, 1, 1], [0, 2, 4])
    assert lone[0] == loss.value_and_gradient([3.0, 1.0], [0, 1], [0, 2])[0]  # and do not dilute what others teach


@each_variant
def test_weights_of_zero_remove(name, parameters):
    scores, y, offsets = some_queries(5)
    rng = np.random.default_rng(5)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    stays = (rng.random(len(y)) < 0.7) & (query != 1)
    loss = make_loss(name, **parameters)
    value, gradient = loss.value_and_gradient(scores, y, offsets, weights=stays.astype(float))
    left = np.concatenate(([0], np.cumsum(np.bincount(query[stays], minlength=len(offsets) - 1))))
    expected_value, expected = loss.value_and_gradient(scores[stays], y[stays], left)
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient[stays], expected, atol=1e-14)
    assert not gradient[~stays].any()


@each_variant_but(has_ties, lambda name, _: name in ("lambdarank", "approx-ndcg"))  # a copy would change ranks
def test_a_document_of_weight_two_is_two_documents(name, parameters):
    scores, y, _ = some_queries(7, n_queries=3)
    copied = np.concatenate((scores, scores[:4])), np.concatenate((y, y[:4]))
    loss = make_loss(name, **parameters)
    weights = np.where(np.arange(len(y)) < 4, 2.0, 1.0)
    value, gradient = loss.value_and_gradient(scores, y, [0, len(y)], weights=weights)
    expected, copies = loss.value_and_gradient(*copied, [0, len(y) + 4])
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient[:4], copies[:4] + copies[-4:])
    np.testing.assert_allclose(gradient[4:], copies[4:-4])


@each_variant_but(lambda name, _: LOSSES[name].family != "pairwise")
def test_weights_that_are_all_equal_count_in_a_sum_alone(name, parameters):
    scores, y, offsets = some_queries(9, n_queries=4)
    loss = make_loss(name, **parameters)
    plain = loss.value_and_gradient(scores, y, offsets)
    small = loss.value_and_gradient(scores, y, offsets, weights=np.full(len(y), 0.1))
    for one, other in zip(plain, small, strict=True):
        np.testing.assert_allclose(other, one * (0.01 if loss.average == "sum" else 1.0), atol=1e-13)


@each_variant
def test_order_of_rows_is_free(name, parameters):
    scores, y, _ = some_queries(8, n_queries=4)
    shuffle = np.random.default_rng(0).permutation(len(y))
    loss = make_loss(name, **parameters)
    value, gradient = loss.value_and_gradient(scores, y, [0, len(y)])
    other_value, other = loss.value_and_gradient(scores[shuffle], y[shuffle], [0, len(y)])
    assert other_value == pytest.approx(value)
    np.testing.assert_allclose(other, gradient[shuffle], atol=1e-13)


@each_loss
def test_pulls_the_better_document_up(name):
    _, gradient = make_loss(name).value_and_gradient([0.3, 0.2], [0, 1], [0, 2])
    assert gradient[0] > 0 > gradient[1]


@each_loss
@pytest.mark.parametrize("n_labels", [5, 200])
def test_many_labels(name, n_labels):
    """Labels to 100, and fractions: the sort that takes over from counting gives the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_labels, 120) / 2
    scores = rng.normal(size=120)
    value, gradient = make_loss(name).value_and_gradient(scores, y, [0, 120])
    assert value > 0
    assert np.isfinite(gradient).all()


@each_loss
def test_sixty_thousand_documents_need_no_square(name):
    n = 60_000
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n).astype(np.float32)
    y = (rng.random(n) < 0.001) * rng.integers(1, 5, n).astype(float)  # 60 relevant ones: quick, but as long
    make_loss(name).value_and_gradient(scores[:100], y[:100], [0, 100])  # compiled before memory is watched
    tracemalloc.start()
    value, gradient = make_loss(name).value_and_gradient(scores, y, [0, n])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert value > 0
    assert gradient.any()
    assert peak < 40 * 8 * n  # forty columns; a square of booleans would be 3.6 GB


@each_loss
def test_not_a_number_is_not_hidden(name):
    y, offsets = [0, 1, 0, 1], [0, 2, 4]
    for broken in (np.nan, np.inf, -np.inf):
        value, gradient = make_loss(name).value_and_gradient([broken, 0.0, 1.0, 0.0], y, offsets)
        assert np.isnan(value)
        assert np.isnan(gradient[:2]).all()
        assert np.isfinite(gradient[2:]).all()


@each_loss
def test_inputs_are_left_alone(name):
    scores, y, offsets = some_queries(9)
    before = scores.copy()
    for array in (scores, y, offsets):
        array.flags.writeable = False
    make_loss(name).value_and_gradient(scores, y, offsets)
    assert np.array_equal(scores, before)


@each_loss
def test_a_loss_is_a_frozen_value(name):
    assert make_loss(name) == make_loss(name)
    assert hash(make_loss(name)) == hash(make_loss(name))
    assert make_loss(name).name == name
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_loss(name).gain = "other"  # type: ignore[attr-defined]


def test_table_is_read_only_and_names_itself():
    with pytest.raises(TypeError):
        LOSSES["new"] = LOSSES["hinge"]  # type: ignore[index]
    with pytest.raises(TypeError):
        LOSSES["hinge"].parameters["seed"] = 1  # type: ignore[index]
    assert all(entry.name == name for name, entry in LOSSES.items())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[[1.0]]], [1], [0, 1]), "one number for each document"),
        ((["a"], [1], [0, 1]), "one number for each document"),
        (([1.0, 2.0], [1], [0, 2]), "y has shape"),
        (([1.0, 2.0], [1, np.nan], [0, 2]), "not a finite number"),
        (([1.0, 2.0], [1, 2], [0, 1]), "offsets must rise from 0 to 2"),
        (([1.0, 2.0], [1, 2], [0, 2, 1, 2]), "offsets must rise"),
        (([1.0, 2.0], [1, 2], [1, 2]), "offsets must rise"),
        (([1.0, 2.0], [1, 2], []), "offsets must be whole numbers"),
    ],
)
def test_wrong_data_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        make_loss("ranknet").value_and_gradient(*arguments)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"weights": [1.0]}, "weights has shape"),
        ({"weights": [1.0, -1.0]}, "weights has -1; weights must not be negative"),
    ],
)
def test_wrong_extras_are_refused(extra, message):
    with pytest.raises(DataError, match=message):
        make_loss("ranknet").value_and_gradient([1.0, 2.0], [0, 1], [0, 2], **extra)


@pytest.mark.parametrize("name", ["directranker", "softmax", "approx-ndcg", "lambdarank"])
def test_negative_labels_are_refused_where_they_are_gains(name):
    with pytest.raises(DataError, match=f"label -1, but {name} needs labels that are 0 or more"):
        make_loss(name).value_and_gradient([1.0, 2.0], [-1, 1], [0, 2])


def test_thread_count_must_be_positive():
    with pytest.raises(ParameterError, match="n_jobs=0"):
        make_loss("ranknet").value_and_gradient([1.0, 2.0], [0, 1], [0, 2], n_jobs=0)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ranket", {}, "unknown loss 'ranket'; did you mean 'ranknet'?"),
        ("listmle", {"gain": 1}, "listmle has no parameter 'gain'; it has: none"),
        ("ranknet", {"pairs": "some"}, "unknown pairs 'some'"),
        ("ranknet", {"average": "query"}, "did you mean 'queries'"),
        ("ranknet", {"target": 0.3}, "target=0.3; it must be a probability from 0.5 to 1"),
        ("ranknet", {"target_by": "x"}, "unknown target_by"),
        ("ranknet", {"max_pairs": 7}, "ranknet has no parameter 'max_pairs'"),
        ("directranker", {"activation": "relu"}, "unknown activation 'relu'"),
        ("softmax", {"gain": "cubic"}, "unknown gain"),
        ("rankcosine", {"smoothing": -1}, "smoothing=-1"),
        ("listnet", {"k": 0}, "k=0; it must be a whole number, 1 or more"),
        ("approx-ndcg", {"alpha": 0}, "alpha=0"),
        ("lambdarank", {"metric": "err"}, "unknown metric for LambdaRank 'err'"),
        ("lambdarank", {"metric": 7}, "unknown metric for LambdaRank 7"),
        ("lambdarank", {"metric": "map@10"}, "LambdaRank has no cutoff for map"),
        ("lambdarank", {"gain": "cubic"}, "unknown gain"),
        ("lambdarank", {"relevant": "high"}, "relevant='high'"),
    ],
)
def test_wrong_parameters_are_refused(name, parameters, message):
    with pytest.raises(ParameterError) as refusal:
        make_loss(name, **parameters)
    assert message in str(refusal.value)
