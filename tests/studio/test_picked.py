"""What is picked in an address: ranges of parallel coordinates, numbers, measures and pairs of a board."""

import json

import numpy as np
import pytest

from ordino.experiment.store import Store
from ordino.studio.app import Studio
from ordino.studio.ask import Ask, StateError, as_number
from ordino.studio.parallel import HEIGHT, TOP, draw_parallel, ranges_of
from ordino.studio.sources import find_sources
from ordino.studio.views import VIEWS
from ordino.studio.views import board as board_page
from ordino.studio.views.search import Tried, _mattered
from trials import made_trials


def test_a_parameter_with_many_values_matters_by_quarters_of_its_range():
    rng = np.random.default_rng(0)
    values, noise = rng.permutation(24).astype(float), rng.random(24)
    tried = [Tried(i, float(value // 6), {"x": value, "noise": n, "kind": "ab"[i % 2]}, "Fold1", 1.0)
             for i, (value, n) in enumerate(zip(values, noise, strict=True))]  # fmt: skip
    best = max(tried, key=lambda one: one.params["x"])
    assert _mattered("x", tried, best) == ("x", 1.0, "23")
    y = np.array([one.value for one in tried])
    within = sum(float(((y[some] - y[some].mean()) ** 2).sum()) for some in np.array_split(np.argsort(noise), 4))
    assert _mattered("noise", tried, best).share == pytest.approx(1 - within / ((y - y.mean()) ** 2).sum())
    within = sum(float(((own - own.mean()) ** 2).sum()) for own in (y[::2], y[1::2]))
    assert _mattered("kind", tried, best._replace(params={"kind": "b"})).best == '"b"'
    assert _mattered("kind", tried, best).share == pytest.approx(1 - within / ((y - y.mean()) ** 2).sum())


COLUMNS = {"rate": [0.001, 1.0, 0.1, 0.01], "kind": ["b", "a", None, "b"], "size": [4, 2, 3, 1]}


def drawn(ranges=()):
    return draw_parallel({name: name for name in COLUMNS}, COLUMNS, [2, 0, 3, 1], list("pqrs"), ranges)


def test_lines_cross_the_axes_where_their_values_are_written():
    found = drawn()
    by_name = {title: points.split() for points, _, title in found.lines}
    assert [title for *_, title in found.lines] == list("qspr")  # the best on top, which is drawn last
    assert {title: kind for _, kind, title in found.lines} == {"p": "", "q": "", "r": "best", "s": ""}
    for i, (name, values) in enumerate(COLUMNS.items()):
        heights = {title: float(points[i].split(",")[1]) for title, points in by_name.items()}
        texts = {text: y for y, text in found.axes[i].ticks}
        for title, value in zip("pqrs", values, strict=True):
            text = json.dumps(value) if name == "kind" else f"{value:g}"
            assert heights[title] == texts.get(text, heights[title])
        assert len(texts) == (3 if name == "kind" else 2)
        assert (max(heights.values()), min(heights.values())) == (TOP + HEIGHT, TOP)
    thirds = [TOP + HEIGHT * (1 - share) for share in (0, 1 / 3, 2 / 3, 1)]
    assert [float(by_name[one][0].split(",")[1]) for one in "psrq"] == pytest.approx(thirds, abs=0.1)  # by logarithm


BRUSHED = {
    "from on": ("axis=size&low=3", "size", 3, 4, "pr"),
    "up to": ("axis=size&high=2", "size", 1, 2, "qs"),
    "turned": ("axis=size&low=3&high=2", "size", 2, 3, "qr"),
    "in the address": ("where=size:2:3", "size", 2, 3, "qr"),
    "the last counts": ("where=size:1:1&where=size:4:3", "size", 3, 4, "pr"),
    "the fields count": ("where=size:1:1&axis=size&low=4", "size", 4, 4, "p"),
    "a name with colons is none of ours": ("where=a:b:1:2&where=rate:0.01:0.1", "rate", 0.01, 0.1, "rs"),
    "by kind": ("where=kind:1:2", "kind", 1, 2, "pqs"),
}


@pytest.mark.parametrize("case", BRUSHED)
def test_a_brush_covers_the_lines_that_it_picks(case):
    address, name, low, high, picked = BRUSHED[case]
    columns = {"rate": COLUMNS["rate"], "kind": [2.0, 1.0, 3.0, 2.0], "size": COLUMNS["size"]}
    [found] = ranges_of(Ask("search", [tuple(one.split("=")) for one in address.split("&")]), columns)
    assert found == (name, low, high)
    made = drawn([found])
    assert {title for _, kind, title in made.lines if kind == "picked"} == set(picked)
    [axis] = [one for one in made.axes if one.brush is not None]
    at = list(COLUMNS).index(name)
    heights = {title: float(points.split()[at].split(",")[1]) for points, _, title in made.lines}
    covered = (axis.brush[0] + 5, axis.brush[0] + axis.brush[1] - 5)
    own = [heights[title] for title in picked]
    assert covered == pytest.approx((min(own), max(own)), abs=0.1)
    kinds = axis.told == 'kind "a", "b"' if name == "kind" else axis.told == f"{name} from {low:g} to {high:g}"
    assert kinds


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "1e400", "", "1_0x"])
def test_a_number_is_finite(typed):
    with pytest.raises(StateError, match="must be a number"):
        as_number("low", typed)


def test_of_several_values_of_one_question_the_first_counts():
    ask = Ask("compare", [("low", "1"), ("low", "2"), ("rankers", "A\nB"), ("rankers", "C")])
    assert (ask.text("low"), ask.number("low"), ask.several("rankers")) == ("1", 1.0, ["A", "B", "C"])


def test_pairs_of_a_large_board_are_drawn_when_they_are_asked_for(tmp_path, monkeypatch):
    with Store(tmp_path / "large.sqlite") as store:
        store.add(*made_trials(["A", "B", "C"]))
    monkeypatch.setattr(board_page, "AT_ONCE", 3 * 30 - 1)
    studio = Studio(find_sources([tmp_path / "large.sqlite"]))
    plain, asked = (VIEWS["board"](studio, Ask("board", given)) for given in ([], [("pairs", "yes")]))
    assert (plain["pairs"], plain["asks_for_pairs"]) == (None, True)
    assert (asked["pairs"].n_pairs, asked["asks_for_pairs"]) == (3, False)
    monkeypatch.setattr(board_page, "AT_ONCE", 3 * 30)
    assert VIEWS["board"](studio, Ask("board", []))["pairs"].n_pairs == 3


def test_every_pair_is_of_the_measure_that_the_board_is_sorted_by(tmp_path):
    with Store(tmp_path / "two.sqlite") as store:
        store.add(*made_trials(["A", "B", "C"]))
    studio = Studio(find_sources([tmp_path / "two.sqlite"]))
    sorts = ("map", "ndcg@10", "label", "map", "p@10")
    found = [VIEWS["board"](studio, Ask("board", [("sort", one)])) for one in sorts]
    assert [one["pairs"].measure for one in found] == [one["table"].drawn for one in found]
    assert len({one["pairs"].measure for one in found}) > 2


def test_measures_that_can_be_chosen_are_those_of_the_profile(tmp_path):
    trials = [*made_trials(["A", "B"]), *made_trials(["A", "B"], profile="letor3")]
    for trial in trials[4:]:
        for values in (trial.test, trial.per_query):
            for name in set(values) - {"map"}:
                del values[name]
    with Store(tmp_path / "two.sqlite") as store:
        store.add(*trials)
    studio = Studio(find_sources([tmp_path / "two.sqlite"]))
    stored = [VIEWS["board"](studio, Ask("board", [("profile", one)]))["stored"] for one in ("standard", "letor3")]
    assert stored == [list(trials[0].test), ["map"]]
