"""What the functions behind the pages tell, case by case: curves, reasons, ranges, repeats, sizes that differ."""

import json
import os
from contextlib import closing
from dataclasses import replace
from itertools import product
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from ordino import Dataset, RankFusion
from ordino.experiment.report.board import make_boards
from ordino.experiment.store import Store
from ordino.experiment.store.kept import Kept, kept_path
from ordino.experiment.store.rankings import Listed
from ordino.explain.why import Reason, Why
from ordino.studio.app import Studio
from ordino.studio.ask import Ask, StateError, as_number
from ordino.studio.parallel import HEIGHT, TOP, draw_parallel, ranges_of
from ordino.studio.runs import is_alive
from ordino.studio.shelf import StoreShelf, names_of, parts_of
from ordino.studio.sources import Memory, OpenStore, Sources, find_sources
from ordino.studio.views import VIEWS
from ordino.studio.views import board as board_page
from ordino.studio.views import why as why_page
from ordino.studio.views.compare import _finding, _unit
from ordino.studio.views.model import _certificates, _curve, _table
from ordino.studio.views.search import Tried, _mattered
from ordino.studio.what_if import _columns
from ordino.testing import easy_data
from studio_place import open_studio
from trials import made_trials


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


def test_a_run_is_at_work_while_its_process_and_its_folder_are_there(tmp_path):
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    for process, folder, ended, alive in (
        (os.getpid(), tmp_path, None, True), (1, tmp_path, None, True), (gone, tmp_path, None, False),
        (os.getpid(), tmp_path / "gone", None, False), (os.getpid(), tmp_path, 2.0, False),
    ):  # fmt: skip
        assert is_alive(SimpleNamespace(ended=ended, process=process, folder=str(folder))) == alive


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


def test_a_test_over_trials_counts_those_of_each_ranker():
    trials = made_trials(["A", "B"], folds=1, seeds=(0, 1, 2))
    [board] = make_boards([one for one in trials if (one.label, one.seed) != ("B", 2)], test="welch")
    assert _unit(board, "A", "B") == " over the means of three and two trials"
    assert _unit(board, "B", "A") == " over the means of two and three trials"


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


def test_certificates_of_another_model_are_not_shown(tmp_path):
    card = {"ranker": "RankSVM", "features": {"count": 3}}
    told = '{"ranker": "%s", "features": %d, "passed": %s, "engine": "Engine %d"}'
    for number, (ranker, count, passed) in enumerate(product(("RankSVM", "RankNet"), (3, 4), ("true", "false"))):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "certificate.json").write_text(told % (ranker, count, passed, number))
    assert _certificates(tmp_path / "m.ordino", card) == [
        ("note", "Engine 0 ranks as the model does", "0/certificate.json"),
        ("error", "Engine 1 ranks in another order", "1/certificate.json"),
    ]


def test_of_repeats_the_first_is_shown_whose_ranking_was_kept(tmp_path):
    path = tmp_path / "web.sqlite"
    made = made_trials(["A", "B"], folds=1, seeds=(0, 1, 2), queries=2, empty=0)
    trials = [replace(one, data="here") for one in made]
    with Store(path) as store:
        store.add(*trials)
    offsets = np.array([0, 3, 5])
    with Kept(kept_path(path), megabytes=1) as kept:
        kept.add_lists("here", Listed(offsets, np.array([1.0, 0, 2, 0, 1]), list("pqrst")))
        for trial, first in ((trials[1], 10.0), (trials[2], 20.0)):  # that of the first repeat of A is lost
            kept.add_scores(trial.key, offsets, first + np.arange(5))
    memory = Memory()
    with closing(OpenStore(path, memory)) as opened:
        board = opened.board(opened.groups()[0], None, None, "wilcoxon")
        shelf = StoreShelf(opened, board, Sources(store=path), memory)
        [first, second] = shelf.places().values()
        found = shelf.open(second, ["A", "B"])
        assert {name: scores.tolist() for name, scores in found.scores.items()} == {"A": [13.0, 14.0]}
        assert (list(found.doc_ids), found.labels.tolist()) == (["s", "t"], [0.0, 1.0])
        assert shelf.open(first, ["A"]).scores["A"].tolist() == [10.0, 11.0, 12.0]


def test_documents_whose_ids_are_not_their_own_are_called_by_their_places():
    assert names_of(3, ["a", "b", "c"]) == ["a", "b", "c"]
    assert names_of(3, ["a", "b", "a"]) == names_of(3, ["1", 1, 2]) == names_of(3, None) == ["d001", "d002", "d003"]


def test_a_file_that_changes_inside_a_folder_is_read_again(tmp_path):
    """The folder itself is as it was."""
    memory = Memory()
    for name, n in (("train", 4), ("test", 3)):
        easy_data(n_queries=n).save(tmp_path / f"{name}.arrow")
    before, times = parts_of(tmp_path, memory), tmp_path.stat()
    assert {name: part.n_queries for name, part in before.items()} == {"train": 4, "test": 3}
    easy_data(n_queries=5).save(tmp_path / "test.arrow")
    os.utime(tmp_path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert parts_of(tmp_path, memory)["test"].n_queries == 5


def test_data_is_held_against_the_query_that_was_measured_though_others_have_its_id(place, tmp_path):
    """Two data sets that number their queries alike, in either order: nothing has changed."""
    other = place.trials.replace(y=place.trials.y + 1)
    other.save(tmp_path / "other.arrow")
    sentence = "The data has changed since these trials were made."
    for files, is_told in (
        ([tmp_path / "other.arrow", place.data], False), ([place.data, tmp_path / "other.arrow"], False),
        ([tmp_path / "other.arrow"], True),
    ):  # fmt: skip
        assert (sentence in open_studio(place.store, *files).get("/query").text) == is_told


def test_a_score_that_is_given_to_a_document_makes_the_run_have_it():
    runs = {"bm25": {"q": {"a": 3.0, "b": 2.0}}, "dense": {"q": {"b": 5.0, "c": 1.0}}}
    data = Dataset.from_runs(runs, {"q": {"a": 1, "b": 0, "c": 0}})
    model = RankFusion().fit(data)
    names = list(model.feature_names())
    found = _columns(model, {"dense_score": 4.0})
    assert found.pop(names.index("dense_score")) == 4.0
    [(mark, value)] = found.items()
    assert value == 0.0
    assert "dense" in names[mark]
