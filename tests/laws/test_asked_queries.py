"""Law 13: a choice looks at the queries that it was asked about, and at no others.

An ensemble is chosen on some folds and measured on another one. Whatever chooses is in ``CHOOSERS``: scores of other
queries that are turned around change nothing, and those of the queries that were asked about change something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ordino.ensemble import combining
from ordino.ensemble.choosing import Choice, Member
from rankers.test_auto_choices import DATA, Done, bench, noisy

HERE = bench()
ASKED = HERE.fold != 0
GOOD, FAIR, OTHER, BAD = noisy(1.0), noisy(1.0, 1), noisy(1.0, 2), -noisy(0.5, 3)
MEMBERS = [BAD, GOOD, FAIR, OTHER]


def turned(scores: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The same scores, turned around in these queries."""
    return np.where(np.repeat(queries, DATA.counts), -3 * scores, scores)


def trials(members: list[np.ndarray], **more: Any) -> list[Any]:
    return [Done(one, f"ranker {i}", **more) for i, one in enumerate(members)]


def chosen(members: list[np.ndarray]) -> Any:
    return Choice(HERE, trials(members), n_first=1).members(ASKED)


def affordable(members: list[np.ndarray]) -> Any:
    return Choice(HERE, trials(members, milliseconds=1.0), n_first=4, most_ms=2.0).members(ASKED)


def weighed(members: list[np.ndarray]) -> Any:
    found = Choice(HERE, trials(members), n_first=4).ensemble(ASKED)
    return found.members, found.weights.round(9).tolist(), round(found.greedy_share, 9)


def by(learn: Callable[..., Any]) -> Callable[[list[np.ndarray]], Any]:
    return lambda members: np.round(learn(members, HERE.measure, ASKED), 9).tolist()


def both_ways(members: list[np.ndarray]) -> Any:
    found = combining.weigh(members, HERE.measure, HERE.fold, ASKED)
    return found.weights.round(9).tolist(), round(found.greedy_share, 9)


CHOOSERS: dict[str, Callable[[list[np.ndarray]], Any]] = {
    "members": chosen,
    "affordable members": affordable,
    "an ensemble": weighed,
    "even weights": by(combining.even_weights),
    "greedy weights": by(combining.greedy_weights),
    "weights": both_ways,
}


@pytest.mark.parametrize("name", CHOOSERS)
def test_queries_that_were_not_asked_about_choose_nothing(name: str) -> None:
    choose = CHOOSERS[name]
    for members in (MEMBERS, MEMBERS[::-1]):
        expected = choose(members)
        for i in range(len(members)):
            changed = [turned(one, ~ASKED) if i in (j, 3) else one for j, one in enumerate(members)]
            assert choose(changed) == expected
        assert choose([turned(one, ASKED) for one in members]) != expected


def test_who_is_shown_to_be_behind_is_shown_by_the_queries_that_were_asked_about() -> None:
    choose = CHOOSERS["even weights"]
    for seed in range(8):
        sizes = (1.0, 2.0, 4.0) if seed % 2 else (0.6, 1.5, 1.5)  # others may help though they are behind
        members = [noisy(size, 10 * seed + i) for i, size in enumerate(sizes)]
        for which in ({0}, {1, 2}, {0, 1, 2}):
            other = [turned(one, ~ASKED) if i in which else one for i, one in enumerate(members)]
            assert choose(other) == choose(members)


def test_a_member_that_only_takes_away_is_left_out_and_the_others_keep_their_places() -> None:
    for members, left in ((MEMBERS, [1, 2, 3]), ([GOOD, FAIR, OTHER, BAD], [0, 1, 2])):
        weights = combining.even_weights(members, HERE.measure, ASKED)
        assert np.flatnonzero(weights).tolist() == left
        np.testing.assert_allclose(weights[left], 1 / 3)
        found = Choice(HERE, trials(members), n_first=4).ensemble(ASKED)
        assert {one.trial for one in found.members} <= set(left)
        assert len(found.members) == len(found.weights)


def test_a_fold_is_scored_by_those_that_the_other_folds_chose() -> None:
    """A ranker that is good in one fold alone is a member of the whole, and no member where that fold is scored."""
    lucky = np.where(np.repeat(HERE.fold == 0, DATA.counts), DATA.y + 0.0, FAIR)
    choice = Choice(HERE, [Done(FAIR), Done(lucky)], n_first=1)  # of one family: it takes the other's place
    assert choice.members(np.full(DATA.n_queries, True)) != choice.members(ASKED)
    found = choice.honest()
    for fold in range(HERE.n_folds):
        own, ensemble = HERE.docs(fold), choice.ensemble(HERE.fold != fold)
        expected = sum(w * choice.scores(one) for one, w in zip(ensemble.members, ensemble.weights, strict=True))
        np.testing.assert_allclose(found[own], expected[own])


def test_weights_are_learned_from_the_queries_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordino.ensemble.trials.WEIGHED_DOCS", DATA.n_docs // 2)
    here = bench()
    some, queries = here.sample
    inside = np.isin(np.arange(DATA.n_queries), queries)
    assert 0 < len(queries) < DATA.n_queries
    assert queries.tolist() != list(range(len(queries)))
    np.testing.assert_array_equal(some.y, DATA.select_queries(queries).y)
    every = [Member(i, 0) for i in range(4)]

    def weights(members: list[np.ndarray]) -> Any:
        choice = Choice(here, trials(members), n_first=4)
        assert choice.members(ASKED) == every
        found = choice.ensemble(ASKED)
        return [one.trial for one in found.members], found.weights.round(9).tolist()

    expected = weights(MEMBERS)
    for i in range(4):
        assert weights([turned(one, ~inside) if j == i else one for j, one in enumerate(MEMBERS)]) == expected
        assert weights([turned(one, inside & ~ASKED) if j == i else one for j, one in enumerate(MEMBERS)]) == expected
    assert weights([turned(one, inside) for one in MEMBERS]) != expected
