"""What pages say of what is known: curves, histories, reasons, where the best documents went, and who is ahead."""

from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from ordino.explain.why import Reason, Why
from ordino.studio.shelf import Opened, Place
from ordino.studio.views import why as why_page
from ordino.studio.views.compare import _finding
from ordino.studio.views.model import _curve, _table
from ordino.studio.views.query import finding


def rows(**columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


HISTORIES = {
    "validation": (rows(train=[0.5, 0.6, 0.7], valid=[0.3, 0.5, 0.4]), "validation", "0.5000 at 2"),
    "training alone": (rows(train=[0.5, 0.7, 0.6, 0.1]), "training", "0.7000 at 2"),
    "validation does not move": (rows(train=[0.5, 0.7], valid=[0.3, 0.3]), "training", "0.7000 at 2"),
    "a step without": (rows(valid=[0.3, None, 0.4, nan], round=[0, 1, 2, 3]), "validation", "0.4000 at 3"),
    "less is better, so it is below 0": (rows(valid=[-0.3, -0.1, -0.2]), "validation", "-0.1000 at 2"),
}


@pytest.mark.parametrize("case", HISTORIES)
def test_the_curve_is_that_of_validation_data_where_that_is_known(case):
    history, part, best = HISTORIES[case]
    found = _curve(history)
    assert (found["part"], found["best"][2], found["n"]) == (part, best, len(history))
    known = [row[part[:5]] for row in history if row[part[:5]] not in (None, nan)]
    heights = [float(line[1]) for line in found["lines"]] + [float(found["lines"][-1][3])]
    assert np.argsort(heights).tolist() == np.argsort(known)[::-1].tolist()
    assert float(found["best"][1]) == min(heights) == 16.0


def test_of_one_value_there_is_no_curve():
    assert _curve([]) is _curve(rows(valid=[0.5, 0.5], loss=[2.0, 1.0])) is None


def test_a_history_is_told_from_its_first_step_to_its_last():
    found = _table(
        rows(epoch=range(1, 16), loss=[1 / n for n in range(1, 16)], valid=[0.5] * 14 + [0.75], kind="x" * 15)
    )
    assert found["names"] == ["loss", "valid"]
    assert [step for step, _ in found["rows"]] == [1, 3, 5, 7, 9, 11, 13, 15]
    assert [found["rows"][i][1] for i in (0, 1, -1)] == [["1", "0.5"], ["0.3333", "0.5"], ["0.06667", "0.75"]]
    assert _table(rows(epoch=[1, 2])) is None


def member(name, difference, scores):
    """A ranker that explains the difference of two documents and gives scores."""
    return type(name, (), {"found": Why(difference, (), "linear"), "predict": lambda self, _: np.array(scores)})()


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0)])
def test_of_members_the_one_is_told_that_agrees_most_by_its_own_spread(monkeypatch, a, b):
    sign = 1.0 if a == 0 else -1.0
    members = [
        member("Wide", sign * 10.0, [0.0, 100.0, 0.0]), member("Agrees", sign * 2.0, [2.0, 0.0, 1.0]),
        member("Against", sign * -5.0, [0.0, 1.0, 0.0]), member("Refuses", 0.0, [0.0, 1.0, 2.0]),
    ]  # fmt: skip

    def explained(ranker, above, below, *, query):
        assert (above, below, query) == (a, b, "documents")
        if type(ranker).__name__ == "Refuses":
            raise why_page.OrdinoError("it cannot be told")
        return ranker.found

    monkeypatch.setattr(why_page, "why", explained)
    whole = SimpleNamespace(rankers_=members, predict=lambda _: np.array([3.0, 1.0, 2.0]))
    assert why_page._explained(whole, a, b, "documents") == (members[1].found, "Agrees")


KINDS = {
    "both kinds": ({"title_1": 0.5, "title_2": 0.25, "body_1": 1.0, "body_2": -0.75}, "title and body"),
    "one against": ({"title_1": 0.5, "body_1": -0.25}, "title outweighs body"),
    "two against": ({"a_1": 2.0, "b_1": -0.5, "c_1": -0.75, "d_1": 1.0}, "a and d together outweigh c and b"),
    "plain": ({"bm25": 0.5, "age": -0.25, "depth": 0.125, "hits": 0.0625}, "bm25 and depth together outweigh age"),
}  # fmt: skip


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("case", KINDS)
def test_the_sentence_of_why_names_what_speaks_for_the_order_and_against(case, sign):
    """Whether the first stands above the second or below it: the largest first, kinds by the sum of their features."""
    adds, told = KINDS[case]
    reasons = [Reason(name, 0.0, 0.0, sign * value) for name, value in adds.items()]
    found = Why(sign * sum(adds.values()), tuple(sorted(reasons, key=lambda one: -abs(one.adds))), "linear")
    groups = why_page._groups(found)
    sums = {kind: sum(value for name, value in adds.items() if name.startswith(kind)) for kind, *_ in groups}
    assert [(kind, adds) for kind, _, adds in groups] == sorted(
        ((kind, sign * value) for kind, value in sums.items()), key=lambda one: -one[1]
    )
    opened = SimpleNamespace(labels=np.array([0.0, 2.0]))
    said = why_page._finding(opened, 0, 1, {"x": 1, "y": 2} if sign > 0 else {"x": 2, "y": 1}, "x", "y", groups, found)
    grades = ", against their grades of 0 and 2" if sign > 0 else ", as their grades have it"
    assert said == {"stands": "above" if sign > 0 else "below", "told": grades, "because": f": {told}"}


WENT = {
    "none": ([0, 0], ["01"], 2, "No document of this query is relevant: every order of it is as good."),
    "all": ([2, 2], ["01"], 2, "All 2 documents of this query have grade 2: every order of it is as good."),
    "one, for one": ([0, 1], ["10"], 1, "The only document of grade 1 is first for A."),
    "one, for both": ([0, 1], ["01", "01"], 1, "The only document of grade 1 is second for both rankers."),
    "one, for all": ([0, 1, 0], ["021", "201", "021"], 1,
                     "The only document of grade 1 is third for all three rankers."),
    "one, nobody agrees": ([0, 1, 0], ["021", "102"], 1,
                           "The only document of grade 1 is first for B; A places it third."),
    "one, two agree": ([0, 1, 0], ["012", "102", "210"], 1,
                       "The only document of grade 1 is second for A and C; B places it first."),
    "one, three agree": ([0, 1, 0], ["012", "102", "210", "012", "021"], 1,
                         "The only document of grade 1 is second for three rankers; B and E place it first and third."),
    "one, three others": ([0, 1, 0, 0], ["1023", "1203", "0123", "0213", "0231"], 1,
                          "The only document of grade 1 is first for A and B; "
                          "C, D and E place it second, third and fourth."),
    "one, many others": ([0, 1, 0, 0, 0], ["10234", "12034", "01234", "02134", "02341", "02314"], 1,
                         "The only document of grade 1 is first for A and B; the others place it second to fifth."),
    "several": ([2, 0, 2, 1], ["1302", "0213", "2130"], 2,
                "B has 2 of the 2 documents of grade 2 among its first two, A none."),
    "several, some": ([2, 0, 2, 1], ["1032", "0213", "2130"], 2,
                      "B has 2 of the 2 documents of grade 2 among its first two, A 1."),
    "several, alike": ([2, 0, 2, 1], ["1032", "2130"], 2,
                       "Each of the two rankers has 1 of the 2 documents of grade 2 among its first two."),
    "several, of one": ([2, 0, 2, 1], ["2013"], 3, "A has 2 of the 2 documents of grade 2 among its first three."),
}  # fmt: skip
"""Grades, the orders of A, B and so on, how many places are shown, and what is said."""


@pytest.mark.parametrize("case", WENT)
def test_the_sentence_of_query_tells_where_the_best_went(case):
    labels, orders, k, told = WENT[case]
    scores = {
        name: -np.argsort([int(doc) for doc in order]).astype(float)
        for name, order in zip("ABCDEF", orders, strict=False)
    }
    opened = Opened(Place("1", "Fold1", 0), [f"d{i}" for i in range(len(labels))], np.array(labels, float), scores)
    assert finding(opened, list(scores), k) == told


FINDINGS = {
    "chance": (1, 0.1, 1.0, 0.05, ("chance", ("A", "B", "MAP", "7 wins, 2 losses"))),
    "chance, where less is better": (-1, 0.1, 1.0, 0.05, ("chance", ("A", "B", "MAP", "2 wins, 7 losses"))),
    "ahead": (1, 0.1, 1.0, 0.01, ("ahead", ("A", "B", "7 of 10", "0.100 MAP"))),
    "behind": (1, -0.1, -1.0, 0.01, ("ahead", ("B", "A", "2 of 10", "0.100 MAP"))),
    "ahead, where less is better": (-1, -0.1, -1.0, 0.01, ("ahead", ("A", "B", "2 of 10", "0.100 MAP"))),
    "behind, where less is better": (-1, 0.1, 1.0, 0.01, ("ahead", ("B", "A", "7 of 10", "0.100 MAP"))),
    "a test over trials": (1, -0.1, 0.0, 0.01, ("ahead", ("B", "A", "2 of 10", "0.100 MAP"))),
    "apart": (1, 0.1, -1.0, 0.01, ("apart", ("A", "B", "MAP", ""))),
    "apart, where less is better": (-1, 0.1, -1.0, 0.01, ("apart", ("B", "A", "MAP", ""))),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_who_is_ahead_is_told_by_sign_of_the_measure_and_by_the_test(case):
    """In seven queries the values of A are above those of B, in two below."""
    sign, difference, leaning, p, told = FINDINGS[case]
    found = {"measure": "map", "difference": difference, "n_above": 7, "n_below": 2, "n_queries": 10, "p_alone": p}
    assert _finding(SimpleNamespace(**found), "A", "B", sign, leaning) == told
