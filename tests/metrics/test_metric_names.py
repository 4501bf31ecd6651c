"""Names of metrics: parse, print, refuse."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import ParameterError
from ordino.metrics import METRICS, Metric, parse_metric, parse_metrics


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        (" NDCG @ 10 ", "ndcg@10"),
        ("Precision@5", "p@5"),
        ("prec@5", "p@5"),
        ("P@5", "p@5"),
        ("MAP", "map"),
        ("map@100", "map@100"),
        ("MeanNDCG", "meanndcg"),
        ("rbp", "rbp"),
        ("rbp(0.9)", "rbp(p=0.9)"),
        ("rbp(p=.9)@20", "rbp(p=0.9)@20"),
        ("rbp(0.8)", "rbp"),
        ("rbp(p=1)", "rbp(p=1.0)"),
        ("err(max=2)@10", "err(max=2)@10"),
        ("pairwise_accuracy(10000)", "pairwise_accuracy(samples=10000)"),
        ("pairwise_error(seed=3, samples=7)", "pairwise_error(samples=7, seed=3)"),
        ("kendall()", "kendall"),
    ],
)
def test_names_print_in_one_form(text: str, canonical: str) -> None:
    assert str(parse_metric(text)) == canonical


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    measure = draw(st.sampled_from(sorted(METRICS.values(), key=lambda measure: measure.name)))
    k = draw(st.integers(1, 2**31 - 1)) if measure.cutoff != "none" else None
    if measure.cutoff == "optional" and draw(st.booleans()):
        k = None
    chosen = []
    for parameter in measure.parameters:
        if draw(st.booleans()):
            numbers = st.integers if parameter.whole else st.floats
            chosen.append((parameter.name, draw(numbers(parameter.low, parameter.high))))  # type: ignore[operator]
    return Metric(measure.name, k, tuple(chosen))


@given(metrics())
def test_parse_undoes_print(metric: Metric) -> None:
    assert parse_metric(str(metric)) == metric
    assert parse_metric(str(metric).upper()) == metric
    assert hash(parse_metric(str(metric))) == hash(metric)


@pytest.mark.parametrize("name", METRICS)
def test_every_entry_of_the_table_parses(name: str) -> None:
    measure = METRICS[name]
    assert parse_metric(measure.example).measure is measure
    for alias in measure.aliases:
        assert parse_metric(measure.example.replace(name, alias, 1)) == parse_metric(measure.example)
    assert measure.description.endswith(".")
    assert "\n" not in measure.description


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ndgc@10", "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"),
        ("kendal", "unknown metric 'kendal'; did you mean 'kendall'?"),
        ("ndcg@0", "metric 'ndcg@0': k is 0; give a whole number from 1, as in 'ndcg@10'"),
        ("ndcg@-3", "metric 'ndcg@-3': k is -3; give a whole number from 1, as in 'ndcg@10'"),
        ("ndcg@ten", "metric 'ndcg@ten': k is 'ten'; give a whole number from 1, as in 'ndcg@10'"),
        ("ndcg@1.5", "metric 'ndcg@1.5': k is '1.5'; give a whole number from 1, as in 'ndcg@10'"),
        ("p@99999999999", "metric 'p@99999999999': k is 99999999999; give a whole number from 1, as in 'p@10'"),
        ("p", "metric 'p': p needs a cutoff; write it as 'p@10'"),
        ("kendall@5", "metric 'kendall@5': kendall has no cutoff; write it as 'kendall'"),
        ("rbp(q=0.5)", "metric 'rbp(q=0.5)': unknown parameter 'q'; rbp takes p"),
        ("map(0.5)", "metric 'map(0.5)': unknown parameter '0.5'; map takes none"),
        ("rbp(p=1.5)", "metric 'rbp(p=1.5)': p is 1.5; give a number from 0 to 1"),
        ("rbp(p=nan)", "metric 'rbp(p=nan)': p is nan; give a number from 0 to 1"),
        ("err(max=1.5)", "metric 'err(max=1.5)': max is 1.5; give a whole number from 1 to 100"),
        ("rbp(p=much)", "metric 'rbp(p=much)': 'much' is not a number; give numbers in the parentheses"),
        ("rbp(0.5, p=0.6)", "metric 'rbp(p=0.5, p=0.6)': a parameter is given twice; give each once"),
        ("", "unknown metric ''; choose from: "),
        (7, "metric is 7; give a name such as 'ndcg@10'"),
    ],
)
def test_wrong_names_are_refused_with_the_way_out(text: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        parse_metric(text)


def test_a_metric_made_by_hand_is_checked_like_a_parsed_one() -> None:
    with pytest.raises(ParameterError, match="unknown metric 'precision'"):
        Metric("precision", 5)
    with pytest.raises(ParameterError, match="k is True"):
        Metric("ndcg", True)


def test_metrics_come_alone_or_in_lists_each_once() -> None:
    assert parse_metrics("map") == parse_metrics([Metric("map")]) == (Metric("map"),)
    assert parse_metrics(["p@5", "precision@5"]) == (Metric("p", 5),)
    with pytest.raises(ParameterError, match="metrics is empty"):
        parse_metrics([])


def test_errors_get_smaller_when_rankings_get_better() -> None:
    assert not parse_metric("pairwise_error").greater_is_better
    y = [0.0] * 12 + [1.0, 2.0]
    for measure in METRICS.values():
        worst, best = (parse_metric(measure.example).per_query(y, s, [0, 14])[0] for s in (range(14, 0, -1), range(14)))
        assert (best > worst) == measure.greater_is_better, measure.name
        assert best != worst


def test_a_name_may_have_digits(monkeypatch):
    monkeypatch.setattr("ordino.metrics.metric._BY_NAME", {"f1": METRICS["p"]})
    assert str(parse_metric("F1 @5")) == "p@5"
