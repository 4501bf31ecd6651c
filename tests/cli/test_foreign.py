"""What people type who know RankLib or other tools: the commands that do the same, or the name that it has here."""

import shlex

import pytest

from ordino.cli.app import app
from ordino.cli.foreign import COMMANDS, RANKLIB_SETTINGS, from_ranklib
from ordino.imports.ranklib_text import READERS
from ordino.parameters import parameters_of
from ordino.rankers import ELSEWHERE, RANKERS, ranker_class
from shell import ordino

TRAINED = "-train train.txt -ranker 4 -r 1 -i 2 -metric2t MAP -norm linear -tvs 0.75 -save ca.txt"


@pytest.mark.parametrize(
    ("line", "n_commands", "made"),
    [
        (f"{TRAINED} -test test.txt -metric2T NDCG@5", 2, "ca.ordino"),
        ("-load ranklib.txt -rank test.txt -score scored.txt", 2, "scored.txt"),
        ("-load linear.ordino -rank test.txt -indri out.txt", 1, "out.run"),
        ("-train all.txt -ranker 9 -kcv 3", 1, None),
        ("train -train train.txt -ranker 2 -round 3 -validate test.txt -silent", 1, "model.ordino"),
    ],
)
def test_a_line_of_ranklib_is_answered_with_commands_that_work(folder, capsys, line, n_commands, made):
    assert ordino(*line.split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    _, _, answer = error.strip().partition("the same here: ")
    commands = answer.split(" && ")
    assert len(commands) == n_commands
    for command in commands:
        first, *words = shlex.split(command)
        assert first == "ordino"
        assert ordino(*words, "--quiet") == 0, capsys.readouterr().err
    assert made is None or (folder / made).exists()


def test_a_share_that_is_none_is_not_copied():
    assert "--valid 0.2 " in from_ranklib(["-train", "a.txt", "-tvs", "x"])


def test_settings_of_ranklib_are_parameters_here():
    known = {name for ranker in RANKERS for name in parameters_of(ranker_class(ranker))}
    assert set(RANKLIB_SETTINGS.values()) <= known


def test_commands_and_options_that_are_offered_exist():
    commands = {command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    assert set(COMMANDS.values()) <= commands
    assert not set(COMMANDS) & commands
    assert set(ELSEWHERE.values()) <= set(RANKERS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["predict", "m.ordino", "t.txt"], "No such command 'predict'; use: ordino rank"),
        (["fit", "t.txt"], "No such command 'fit'; use: ordino train"),
        (["train", "t.txt", "-r", "ranknet", "-o", "m", "--epochs", "3"], "set by --param epochs=..."),
        (["train", "t.txt", "-r", "nobody", "-o", "m", "--epochs", "3"], "No such option: --epochs"),
        (["rank", "m.ordino", "t.txt", "--output", "s.txt"], "No such option: --output; use --out"),
        (["evaluate", "m.ordino", "t.txt", "--metric", "map"], "No such option: --metric; use --metrics"),
        (["rank", "m.ordino", "t.txt", "--group", "q"], "No such option: --group; use --qid, the column"),
        (["rank", "--model", "m.ordino", "t.txt"], "name the file after the command"),
        (["doctor", "t.txt", "--n-jobs", "2"], "No such option: --n-jobs; use --threads"),
        (["rankers", "--metric", "map"], "No such option: --metric"),
        (["bench", "t.txt", "--kcv", "5"], "No such option: --kcv; use --folds"),
        (["train", "t.txt", "v.txt", "-r", "prank", "-o", "m"], "(v.txt); validation data goes after --valid"),
        (["compare", "a.ordino", "b.ordino", "t.txt"], "ordino compare a.ordino b.ordino --data test.txt"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_other_tools_call_it_is_answered_with_our_name(capsys, words, sentence):
    assert ordino(*words) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert sentence in error
    if words[0] == "rankers":
        assert "use --metrics" not in error  # which that command does not have either


@pytest.mark.parametrize(("name", "near"), [("6", "lambda-mart"), ("mart", "lambda-mart"), ("SVM-rank", "rank-svm")])
def test_rankers_by_their_names_elsewhere(capsys, name, near):
    assert ordino("params", name) == 1
    assert f"unknown ranker {name!r}; did you mean {near!r}?" in capsys.readouterr().err


def test_underscores_are_dashes():
    assert ranker_class("rank_svm") is ranker_class("rank-svm")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("-tvs 0.8", "ordino train a.txt --ranker lambda-mart --valid 0.2 --out model.ordino"),  # 0.8 is for training
        ("-tvs 0.75 -validate b.txt", "ordino train a.txt --ranker lambda-mart --valid b.txt --out model.ordino"),
        ("-ranker 1 -lr 0.1", "ordino train a.txt --ranker ranknet --param learning_rate=0.1 --out model.ordino"),
        ("-ranker 7 -metric2t MAP", "ordino train a.txt --ranker listnet --out model.ordino"),  # which has its own loss
        (
            "-ranker 9 -norm sum",
            "ordino train a.txt --ranker linear-regression-ranker --scaling minmax --out model.ordino",
        ),
        ("-norm zscore -save m", "ordino train a.txt --ranker lambda-mart --scaling zscore --out m.ordino"),
        ("-ranker 3 -kcv 4", "ordino bench a.txt --rankers ada-rank --folds 4"),
        (
            "-test c.txt -metric2t P@5",
            "ordino train a.txt --ranker lambda-mart --param metric=p@5 --out model.ordino "
            "&& ordino evaluate model.ordino c.txt --metrics p@5 --profile ranklib",
        ),
        (
            "-test c.txt -metric2t P@5 -metric2T MAP -ranker 2",
            "ordino train a.txt --ranker rank-boost --out model.ordino "
            "&& ordino evaluate model.ordino c.txt --metrics map --profile ranklib",
        ),
        (
            "-ranker 2 -test c.txt",  # where no metric is named, RankLib takes ERR@10
            "ordino train a.txt --ranker rank-boost --out model.ordino "
            "&& ordino evaluate model.ordino c.txt --metrics err@10 --profile ranklib",
        ),
    ],
)
def test_a_line_of_ranklib_means_the_same_here(theirs, ours):
    assert from_ranklib(["-train", "a.txt", *theirs.split()]) == ours


@pytest.mark.parametrize(
    ("tool", "start"),
    [
        *(("ranklib", f"## {name}\n## No. of trees = 1\n") for name in READERS),
        ("lightgbm", "tree\nversion=v4\nnum_class=1\n"),
        ("xgboost", '{"learner":{"attributes":{}}}'),
        ("xgboost", '[\n  { "nodeid": 0, "leaf": 1 }\n]'),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "foreign.txt", "test.txt"],
        ["evaluate", "test.txt", "foreign.txt"],
        ["rank", "foreign.txt", "test.txt"],
        ["explain", "foreign.txt"],
        ["compare", "linear.ordino", "foreign.txt", "--data", "test.txt"],
    ],
    ids=" ".join,
)
def test_a_model_of_another_tool_is_imported_first(folder, capsys, words, tool, start):
    (folder / "foreign.txt").write_text(start)
    assert ordino(*words) == 1
    error = capsys.readouterr().err
    command = f"ordino import foreign.txt --from {tool} --out foreign.ordino"
    assert error == f"ordino: foreign.txt: this is a model of {tool}; import it first: {command}\n"


def test_comments_make_no_model(folder, capsys):
    (folder / "commented.txt").write_text("## RankNet was trained on this\n" + (folder / "test.txt").read_text())
    assert ordino("evaluate", "linear.ordino", "commented.txt") == 0
    assert capsys.readouterr().err == ""
