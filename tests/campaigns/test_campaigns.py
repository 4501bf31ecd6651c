"""The campaigns in short: each runs, finds nothing, and writes its counts where the page has a line for it."""

import json
import re

import pytest

from campaigns import blind, extremes, forked, kills, letor, models, mutations, reached, same, service
from campaigns.ledger import PAGE, Kept, Outcome, record

FEW = ["rank-svm", "ranknet", "lambda-mart", "prank"]
CAMPAIGNS = {
    "LETOR reader": lambda: letor.campaign(False),
    "model files": lambda: models.campaign(False),
    "killed runs": lambda: kills.campaign(False),
    "extremes": lambda: extremes.campaign(False, FEW),
    "hostile requests": lambda: service.campaign(False),
    "determinism": lambda: same.campaign(False, variants=FEW),
}
NAMES = {*CAMPAIGNS, "mutations", "blind samples"}  # of the last two some mistakes may survive


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_short_campaign_finds_nothing(name):
    outcome = CAMPAIGNS[name]()
    assert outcome.name == name
    assert not any(outcome.failures.values()), outcome.problems


def test_the_page_has_a_line_for_every_campaign(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| (.+?) \|", text, re.MULTILINE)) - {"campaign"} == NAMES
    page = tmp_path / "page.md"
    for name in sorted(NAMES):
        page.write_text(text, encoding="utf-8")
        record(Outcome(name, "1,000 things", {"crashes": 0, "wrong": 2}), page)
        [line] = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |")]
        assert re.fullmatch(rf"\| {name} \| 1,000 things \| 0 crashes, 2 wrong \| \d{{4}}-\d\d-\d\d \|", line)


def test_a_page_without_the_line_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("# Nothing")
    with pytest.raises(SystemExit, match="there are 0 lines"):
        record(Outcome("LETOR reader", "", {}), tmp_path / "page.md")


def test_a_campaign_that_was_stopped_goes_on_with_the_same_code_only(tmp_path, monkeypatch):
    keep = tmp_path / "parts.json"
    assert Kept(keep).once("part 1", lambda: {"lines": 3}) == {"lines": 3}
    assert Kept(keep).once("part 1", lambda: 0 / 0) == {"lines": 3}
    monkeypatch.setattr("campaigns.ledger._code", lambda: "another state of the code")
    assert Kept(keep).once("part 1", lambda: {"lines": 4}) == {"lines": 4}
    assert Kept().once("part 1", lambda: 5) == 5


SOURCE = """
def use(data, valid, seed):
    if len(data) < 3:
        return fit(data, valid, seed=seed)
    return data[0] + valid[1]
"""


def test_mistakes_are_small_changes_that_can_be_read():
    made = list(mutations.mistakes_in(mutations.SOURCE / "ordino" / "x.py", SOURCE))
    changed = {(one.kind, one.apply(SOURCE)) for one in made}
    for kind, text in (
        ("comparison", "if len(data) <= 3:"),
        ("turned condition", "if not (len(data) < 3):"),
        ("swapped arguments", "fit(valid, data, seed=seed)"),
        ("dropped keyword", "fit(data, valid)"),
        ("wrong part", "fit(data, test, seed=seed)"),
        ("lost seed", "seed=0)"),
        ("arithmetic", "data[0] - valid[1]"),
        ("off by one", "data[1] + valid[1]"),
    ):
        assert any(kind == one and text in source for one, source in changed), kind
    for _, source in changed:
        compile(source, "x.py", "exec")


def test_mistakes_are_drawn_from_every_folder_and_the_seed_decides():
    drawn = mutations.choose(120, 0)
    assert [str(one) for one in drawn] == [str(one) for one in mutations.choose(120, 0)]
    folders = {mutations.folder_of(one.path) for one in drawn}
    assert {"cli", "data", "rankers", "papers", "export", "serve", "studio", "ensemble", "top"} <= folders


def test_mistakes_are_made_in_turn_and_some_kinds_first():
    home = mutations.SOURCE / "ordino"
    many = [mutations.Mistake(home / "cli" / "train.py", line, "seed", 0, 0, "") for line in range(5)]
    few = [mutations.Mistake(home / folder / "x.py", 1, kind, 0, 0, "") for folder in "ab" for kind in ("data", "seed")]
    made = mutations.in_turn([*many, *few], 0, ["data"])
    assert sorted(map(str, made)) == sorted(map(str, [*many, *few]))
    assert [one.kind == "data" for one in made] == [True] * 2 + [False] * 7
    assert {mutations.folder_of(one.path) for one in made[2:5]} == {"cli", "a", "b"}
    assert made != mutations.in_turn([*many, *few], 1, ["data"])


def test_every_file_has_tests_that_are_there(monkeypatch):
    monkeypatch.setattr(mutations, "reaching", lambda path, line: {})
    for path in (mutations.SOURCE / "ordino").rglob("*.py"):
        _, _, doctests, *own = mutations.tests_of(mutations.Mistake(path, 1, "", 0, 0, ""), mutations.SOURCE)
        assert doctests == str(path)
        assert own
        assert [one for one in own if not (mutations.ROOT / one.partition(" -k ")[0]).exists()] == []


WHOSE = """def first(x):
    return (
        x + 1
    )


def second(x):
    if x:
        return 2
    return 3
"""
REACHED = {"tests/a.py::one|run": (2,), "tests/b.py::two|run": (8, 9), "tests/b.py::three|setup": (10,), "": (1, 7)}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (3, {"tests/a.py::one"}),  # within a statement
        (8, {"tests/b.py::two"}),
        (10, {"tests/b.py::two", "tests/b.py::three"}),  # of a fixture, so of its whole file
        (7, {"tests/b.py::two", "tests/b.py::three"}),  # when it is imported: whoever is inside
        (5, {"tests/a.py::one", "tests/b.py::two", "tests/b.py::three"}),  # of the file
    ],
)
def test_who_reaches_a_line_is_read_from_what_was_measured(tmp_path, monkeypatch, line, names):
    from coverage import CoverageData

    monkeypatch.setattr(reached, "ROOT", tmp_path)
    path = tmp_path / "x.py"
    path.write_text(WHOSE)
    data = CoverageData(str(tmp_path / "coverage"))
    for context, lines in REACHED.items():
        data.set_context(context)
        data.add_arcs({str(path): [(-1, line) for line in lines]})
    data.write()
    seconds = {"tests/a.py::one": 0.5, "tests/b.py::two": 2.0, "tests/b.py::three": 1.0}
    (tmp_path / "seconds.json").write_text(json.dumps(seconds))
    (tmp_path / "stamps.json").write_text(json.dumps({"x.py": reached._stamp(path)}))
    assert reached.reaching(path, line, tmp_path) == {name: seconds[name] for name in names}
    path.write_text(WHOSE + "\n")
    assert reached.reaching(path, line, tmp_path) == {}, "the file is another one"


def test_tests_that_reach_a_line_run_file_by_file(monkeypatch, tmp_path):
    path = mutations.SOURCE / "ordino" / "judge.py"
    times = {"tests/z.py::a": 1.0, "tests/rankers/test_base.py::b": 9.0, "tests/z.py::c": 2.0, "tests/y.py::d": 1e4}
    monkeypatch.setattr(mutations, "reaching", lambda path, line: times)
    *_, doctests, likely, others = mutations.tests_of(mutations.Mistake(path, 1, "", 0, 0, ""), tmp_path)
    assert doctests == str(tmp_path / "ordino" / "judge.py")
    assert (likely, others) == (("tests/rankers/test_base.py::b",), ("tests/z.py::a", "tests/z.py::c"))


def test_what_is_written_out_can_be_made():
    """A mistake whose place in the code is gone is told, not made; most are still there."""
    found, stale = mutations.written()
    assert len(found) > 5 * len(stale)
    for one in found:
        compile(one.apply(one.path.read_text(encoding="utf-8")), one.path, "exec")
    assert {"which data", "which algorithm", "option", "seed"} <= {one.kind for one in found}


def test_a_place_that_is_gone_is_told(tmp_path):
    page = tmp_path / "mistakes.toml"
    page.write_text("""['streams.py']\nmistakes = [['seed', 'import', 'x'], ['seed', 'nobody wrote this', 'x']]\n""")
    [one], [gone] = mutations.written(page)
    assert one.text == "x"
    assert gone == "streams.py: 'nobody wrote this'"


def test_a_mistake_is_made_in_the_copy_and_taken_back(tmp_path):
    copy = tmp_path / "ordino"
    copy.mkdir()
    (copy / "linear.py").write_text("a = 1 + 2\n")
    path = mutations.SOURCE / "ordino" / "linear.py"
    [mistake] = [one for one in mutations.mistakes_in(path, "a = 1 + 2\n") if one.kind == "arithmetic"]
    seen = []

    def notice(tests, root, source, seconds):
        seen.append(((copy / "linear.py").read_text(), source, tests[2]))
        return "" if len(seen) == 1 else "a test"

    assert [mutations.noticed_by(mistake, tmp_path, notice) for _ in range(2)] == ["", "a test"]
    assert seen == [("a = 1 - 2\n", tmp_path, str(copy / "linear.py"))] * 2
    assert (copy / "linear.py").read_text() == "a = 1 + 2\n"


def test_a_campaign_goes_on_and_says_what_was_noticed_late(tmp_path, monkeypatch):
    path = mutations.SOURCE / "ordino" / "linear.py"
    late, early, new, missed = (mutations.Mistake(path, line, "seed", 0, 0, "") for line in range(4))
    kept = tmp_path / "kept"
    kept.write_text(f"{late} | nobody\n{missed} | nobody\n{early} | test_a\n{late} | test_b\n")
    tried = []
    monkeypatch.setattr(mutations, "load_libraries", lambda: None)
    monkeypatch.setattr(mutations, "fails_anyway", lambda test, copy: False)
    monkeypatch.setattr(
        mutations, "noticed_by", lambda one, copy: tried.append(one) or ("test_c" if one == new else "")
    )
    outcome = mutations.campaign([missed, late, early, new], kept)
    assert tried == [new, missed]
    assert "4 small mistakes" in outcome.tried
    assert "2 when first tried, 1 after a test" in outcome.tried
    assert outcome.tried.endswith("top 3 of 4")
    assert outcome.failures == {"unnoticed": 1}
    assert outcome.problems == [str(missed)]


def test_a_blind_sample_is_tried_once_and_counted_as_it_came_out(tmp_path, monkeypatch):
    page, results = tmp_path / "page.toml", tmp_path / "blind.csv"
    page.write_text(
        """['streams.py']\nmistakes = [['seed', 'import', 'x'], ['option', 'numpy', 'y'], ['seed', 'def', 'z']]\n"""
    )
    (tmp_path / "src").mkdir()
    outcomes = iter(["test_a", "", forked.TOO_LONG])
    monkeypatch.setattr(blind, "load_libraries", lambda: None)
    monkeypatch.setattr(mutations, "fails_anyway", lambda test, copy: False)
    monkeypatch.setattr(mutations, "noticed_by", lambda one, copy, seconds: next(outcomes))
    assert blind.sample(page, 1, minutes=0, results=results) == 3
    assert blind.sample(page, 1, results=results) == 0
    assert blind.sample(page, 2, results=results) == 0  # nothing is tried twice
    page.write_text("""['streams.py']\nmistakes = [['edge', 'seed', 'w']]\n""")
    outcomes = iter(["test_b"])
    assert blind.sample(page, 2, results=results) == 0
    found = blind.counted(results)
    seeds = sum(row["kind"] == "seed" and bool(row["noticed by"]) for row in blind.tried(results))
    assert [*found.failures.values()] == [2, 2]  # when tried, and still
    first, second, total, kinds = found.tried.split("; ")
    assert (first, second, total) == ("round 1: 1 of 3", "round 2: 1 of 1", "all: 2 of 4")
    day, _, kinds = kinds.partition(" by kind: ")
    assert day == blind.tried(results)[-1]["day"]
    assert sorted(kinds.split(", ")) == sorted([f"seed {seeds} of 2", "edge 1 of 1", f"option {1 - seeds} of 1"])
    page.write_text("""['streams.py']\nmistakes = [['option', 'numpy', 'y'], ['seed', 'def', 'z']]\n""")
    outcomes = iter(["", "test_c"])
    assert blind.try_again(page, results=results) == 1
    later = blind.counted(results)
    assert later.tried == found.tried  # what was noticed later changes no count of a round
    assert [*later.failures.values()] == [2, 1]
    assert [row[blind.LATER] for row in blind.tried(results) if not row["noticed by"]] in (
        ["", "test_c"],
        ["test_c", ""],
    )


def test_what_was_tried_blind_is_counted_on_the_page_and_written_out():
    """The page has the counts of blind.csv, and mistakes.toml has the mistakes whose place is still there."""
    assert blind.counted().row("").rpartition(" | ")[0] in PAGE.read_text(encoding="utf-8")
    known = {(one.path.name, one.text) for one in mutations.written()[0]}
    gone = [row for row in blind.tried() if (row["file"].rpartition("/")[2], row["after"]) not in known]
    assert all(row["before"] not in (mutations.SOURCE / "ordino" / row["file"]).read_text("utf-8") for row in gone)


TESTED = """
import linear
def test_right(): assert linear.A == 3
def test_forever():
    while linear.B: pass
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [("A, B = 3, 0", ""), ("A, B = 4, 0", "test_it.py::test_right"), ("A, B = 3, 1", "they take too long"),
     ("A = 3 B = 0", "test_it.py"), ("import os; os._exit(0)", "the process of the tests died")],
)  # fmt: skip
def test_the_first_failure_in_a_fork_is_told(tmp_path, source, told):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "test_it.py").write_text(TESTED)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "linear.py").write_text(source)
    seconds = 3 if told == "they take too long" else 60
    assert forked.first_failure(["test_it.py"], tmp_path, tmp_path / "src", seconds) == told


def test_of_a_file_only_the_named_tests_run_in_a_fork(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): assert 0\n")
    for names, told in ((("a",), ""), (("a", "c"), "test_it.py::test_c"), (("b", "c"), "test_it.py::test_b")):
        chosen = tuple(f"test_it.py::test_{name}" for name in names)
        assert forked.first_failure([chosen], tmp_path, tmp_path, 60) == told
