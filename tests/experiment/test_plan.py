"""Plans: three ways to write one, and everything that is wrong told at once."""

import pytest

from ordino import Dataset, synthetic, write_letor
from ordino.data.folds import make_folds
from ordino.errors import DataError, ParameterError
from ordino.experiment.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry, check_space, known_parameters
from ordino.parameters import Choices, Range
from ordino.rankers import RANKERS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = synthetic("mq", queries=9, seed=1)
    write_letor(data, "all.txt")
    (tmp_path / "Folds" / "Fold1").mkdir(parents=True)
    for name, part in zip(("train", "vali", "test"), data.split(1 / 3, 1 / 3), strict=True):
        write_letor(part, f"Folds/Fold1/{name}.txt")
    return tmp_path


def sound(**changes):
    return Plan(**({"data": "all.txt", "rankers": ["ranknet"], "folds": 3} | changes))


def test_a_toml_file_says_the_same_as_python(folder):
    (folder / "plan.toml").write_text(
        """
        name = "first"
        data = ["all.txt", "Folds"]
        measures = ["map", "ndcg@5"]
        profile = "letor4"
        repeats = 2
        folds = 3

        [[rankers]]
        ranker = "ranknet"
        params = { hidden = [8] }
        grid = { l2 = [0.0, 0.1] }

        [[rankers]]
        ranker = "rank-svm"
        trials = 5
        space = { C = { low = 0.1, high = 10, log = true } }
        """
    )
    plan = Plan.from_toml(folder / "plan.toml")
    plan.check()
    assert list(plan.sources()) == ["all", "Folds"]
    assert plan.entries() == [
        Entry(ranker="ranknet", params={"hidden": [8]}, grid={"l2": [0.0, 0.1]}),
        Entry(ranker="rank-svm", trials=5, space={"C": {"low": 0.1, "high": 10, "log": True}}),
    ]
    assert [entry.name for entry in plan.entries()] == ["RankNet, tuned", "RankSVM, tuned"]
    assert plan.selection == "map"
    assert [len(set(plan.seeds_of(entry))) for entry in plan.entries()] == [2, 2]


def test_data_may_have_names_in_toml(folder):
    (folder / "plan.toml").write_text('rankers = ["ranknet"]\n[data]\nbig = "all.txt"\nsmall = "Folds"\n')
    plan = Plan.from_toml("plan.toml")
    plan.check()
    assert list(plan.sources()) == ["big", "small"]


def test_one_path_may_stand_alone_in_toml(folder):
    (folder / "plan.toml").write_text('data = "Folds"\nrankers = ["ranknet"]\n')
    assert list(Plan.from_toml("plan.toml").sources()) == ["Folds"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rankers = [", "cannot be read as a plan"),
        ("reapeats = 3", "unknown field 'reapeats'; did you mean 'repeats'.; data is missing; rankers is missing"),
    ],
)
def test_a_broken_toml_file_is_refused(folder, text, sentence):
    (folder / "plan.toml").write_text(text)
    with pytest.raises((DataError, ParameterError), match=sentence):
        Plan.from_toml("plan.toml")
    with pytest.raises(DataError, match="cannot be read as a plan"):
        Plan.from_toml("missing.toml")


def test_folds_come_from_a_folder_a_file_a_data_set_or_folds(folder):
    data = synthetic("mq", queries=6, seed=2)
    plan = sound(data={"a": "Folds", "b": "all.txt", "c": data, "d": make_folds(data, 6)})
    plan.check()
    assert [len(folds) for _, folds in plan.collections()] == [1, 3, 3, 6]
    assert list(sound(data=data).sources()) == ["data"]
    assert list(sound(data=[".", "Folds/../all.txt"]).sources()) == [folder.name, "all"]


def test_files_and_folders_are_read_as_the_plan_says(folder):
    plan = sound(data=["Folds", "all.txt"], columns={"drop": ("2", "7"), "zero_based": True})
    for _, folds in plan.collections():
        assert {part.n_features for part in folds[0][1:]} == {45}  # of 47, as no feature has the number 0


def test_every_combination_of_a_grid_is_a_setting():
    entry = Entry(ranker="ranknet", params={"epochs": 3}, grid={"hidden": [[4], [8]], "l2": [0, 1]})
    assert list(entry.settings()) == [
        {"epochs": 3, "hidden": hidden, "l2": l2} for hidden in ([4], [8]) for l2 in (0, 1)
    ]


def test_every_table_of_a_grid_is_checked():
    broken = [({"l2": "0.1"}, "give a list of values to try"), ({"l2": [{1}]}, "cannot be stored"), ({"l3": [1]}, "l3")]
    for table, sentence in broken:
        for grid in ([table, {"l2": [0.1]}], [{"l2": [0.1]}, table]):
            [problem] = Entry(ranker="ranknet", grid=grid).problems()
            assert sentence in problem


def test_a_ranker_may_be_named_like_its_class():
    assert Entry(ranker="RankSVM").command == Entry(ranker="rank-svm").command == "rank-svm"


def test_parameters_reach_a_ranker_inside_a_ranker():
    entry = Entry(ranker="rank-aggregation", params={"ranker": "lambda-mart", "ranker__bags": 4, "n": 2})
    assert entry.problems() == []
    assert entry.make(entry.params).ranker.bags == 4


def test_all_problems_are_told_at_once(folder):
    plan = Plan(
        data=["all.txt", "nowhere.txt"],
        rankers=[
            "ranknett",
            {"ranker": "ranknet", "params": {"hiden": 3}},
            {"ranker": "rank-svm", "grid": {"C": 1}},
            {"rankr": "rank-svm"},
            {"grid": {}},
            "prank",
            "prank",
        ],
        measures=["ndgc@10"],
        select="mapp",
        profile="letor5",
        repeats=0,
        seed=-1,
        folds=1,
    )
    with pytest.raises(ParameterError) as caught:
        plan.check()
    first, *rest = str(caught.value).split("\n- ")
    assert first == f"the plan has {len(rest)} problems:"
    expected = [
        "nowhere.txt: there is no such file or folder",
        "folds=1; it must be",
        "unknown field 'rankr'",
        "has no field 'ranker'",
        "unknown ranker 'ranknett'; did you mean 'ranknet'?",
        "ranknet: unknown parameter 'hiden'; did you mean 'hidden'?",
        "rank-svm: grid of C is 1; give a list",
        "two rankers are called 'PRank'; give each a label",
        "unknown metric 'ndgc@10'",
        "unknown metric 'mapp'",
        "unknown profile 'letor5'",
        "repeats=0; it must be",
        "seed=-1; it must be",
    ]
    assert [sentence for sentence in expected if not any(sentence in one for one in rest)] == []
    assert len(rest) == len(expected)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rankers": []}, "there is no ranker; choose from: ranknet"),
        ({"measures": []}, "metrics is empty"),
        ({"data": []}, "there is no data"),
        ({"data": ["all.txt", "all.txt"]}, "two sources of data have the same name"),
        ({"data": "Empty"}, "Empty: there is no train file"),
        ({"rankers": [{"ranker": "ranknet", "grid": {"l2": []}}]}, "grid of l2 is .*; give a list"),
        ({"rankers": [{"ranker": "ranknet", "grid": {"l2": [1]}, "trials": 3}]}, "choose one way to tune"),
        ({"rankers": [{"ranker": "ranknet", "space": {"l2": [1]}}]}, "no number of trials"),
        ({"rankers": [{"ranker": "ranknet", "trials": -1}]}, "trials=-1"),
        ({"rankers": [{"ranker": "random-ranker", "trials": 3}]}, "RandomRanker has no parameter that is searched"),
        ({"rankers": [{"ranker": "ranknet", "trials": 3, "space": {"l2": 7}}]}, "space of l2 is 7"),
        ({"rankers": [{"ranker": "ranknet", "params": {"l2": object()}}]}, "cannot be stored"),
        ({"rankers": [{"ranker": "nested-ranker", "params": {"ranker": "ranknett"}}]}, "did you mean 'ranknet'"),
    ],
)
def test_a_problem_is_one_sentence(folder, changes, sentence):
    (folder / "Empty").mkdir()
    with pytest.raises(ParameterError, match=sentence) as caught:
        sound(**changes).check()
    assert str(caught.value).startswith("the plan has a problem:\n- ")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"low": 2, "high": 1}, "low must be less than high"),
        ({"low": 0, "high": 1, "log": True}, "more than 0 with log"),
        ({"low": "a", "high": 1}, "both must be numbers"),
        ({"low": 0, "hihg": 1}, "space of l2: .*hihg"),
        ([], "nothing to choose from"),
        (5, "space of l2 is 5; give a list of values, or low and high"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(given, sentence):
    with pytest.raises(ParameterError, match=sentence):
        check_space({"l2": given})


def test_spaces_are_taken_as_they_are():
    assert check_space({"a": Range(0, 1), "b": Choices([1])}) == {"a": Range(0, 1), "b": Choices([1])}


@pytest.mark.parametrize("name", RANKERS)
def test_what_is_searched_by_default_is_what_a_ranker_has(name):
    entry = Entry(ranker=name, trials=1)
    known = entry.make({}).get_params()
    if entry.problems():
        assert not any(one.space and value is not None for _, one, value in known_parameters(entry.make({})))
    else:
        assert set(entry.search_space()) <= set(known)


def test_what_is_searched_by_default_is_of_the_ranker_inside_that_was_named():
    entry = Entry(ranker="rank-aggregation", params={"ranker": "rank-svm"}, trials=1)
    assert entry.problems() == []
    inside = {name: space for name, space in entry.search_space().items() if name.startswith("ranker__")}
    own = Entry(ranker="rank-svm", trials=1).search_space()
    assert inside == {f"ranker__{name}": space for name, space in own.items()} != {}


def test_data_in_memory_is_no_path():
    plan = Plan(data=Dataset([[0.0]] * 3, [0, 1, 0], qid=[1, 2, 3]), rankers=["ranknet"], folds=3)
    plan.check()
    [(_, folds)] = plan.collections()
    assert sorted(query for fold in folds for query in fold.test.query_ids) == [1, 2, 3]


WRONG_KINDS = """
data = {a = "s.txt", b = 3}
measures = "ndcg@10"
profile = 2
select = 3
name = 4
rankers = [3, {ranker = "ranknet", params = 3, grid = [1]}, {ranker = 5}]
"""


def test_values_of_the_wrong_kind_are_told_all_at_once(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(WRONG_KINDS)
    with pytest.raises(ParameterError, match="the plan has 9 problems:") as refused:
        Plan.from_toml(path).check()
    told = str(refused.value)
    for sentence in (
        "'b': 3}; give a folder of folds or a file",
        "rankers: 3 is not a ranker; give a name",
        "ranknet: params is 3; give a table of parameters",
        "ranknet: grid is [1]; give a table of parameters",
        "5: ranker is 5; give its name on the command line",
        "measures is 'ndcg@10'; give a list of names",
        "profile is 2; it must be a text",
        "select is 3; it must be a text",
        "name is 4; it must be a text",
    ):
        assert sentence in told


@pytest.mark.parametrize(
    "changes", [{"data": 5}, {"rankers": "ranknet"}, {"rankers": {"ranker": "x"}}, {"measures": 5}]
)
def test_a_field_of_the_wrong_kind_is_refused(changes):
    given = {"data": Dataset([[1.0]], [0]), "rankers": ["ranknet"]} | changes
    with pytest.raises(ParameterError, match=f"{next(iter(changes))} is .*; give a "):
        Plan(**given).check()


def test_none_can_be_written_in_toml(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        'data = "x"\nrankers = [{ranker = "nested-ranker", params = {sizes = ["none", 9]}, grid = {metric = ["none"]}}]'
    )
    [entry] = Plan.from_toml(path).entries()
    assert entry.params["sizes"] == [None, 9]
    assert entry.grid["metric"] == [None]


def test_a_label_that_says_none_is_a_label(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('data = "x"\nrankers = [{ranker = "ranknet", label = "none", params = {patience = "none"}}]')
    [entry] = Plan.from_toml(path).entries()
    assert (entry.label, entry.params) == ("none", {"patience": None})
