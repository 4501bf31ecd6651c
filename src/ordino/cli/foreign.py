"""What people type who know RankLib, scikit-learn or LightGBM, and what to type here.

A whole line of RankLib is answered with the commands that do the same; a command or an option of another tool with the
name that it has here.
"""

from collections.abc import Mapping, Sequence

from ordino.rankers import ELSEWHERE

RANKLIB_SETTINGS = {
    "-epoch": "epochs",
    "-node": "hidden",
    "-lr": "learning_rate",
    "-round": "rounds",
    "-tc": "thresholds",
    "-r": "restarts",
    "-i": "n_steps",
    "-tolerance": "tol",
    "-tree": "rounds",
    "-leaf": "leaves",
    "-shrinkage": "learning_rate",
    "-mls": "min_leaf",
    "-estop": "patience",
    "-L2": "alpha",
}
"""RankLib's settings and the parameters here."""

_NORMS = {"zscore": "zscore", "linear": "minmax", "sum": "minmax"}
_RANKLIB_FILES = ("-train", "-load", "-validate", "-test", "-rank", "-save", "-score", "-indri", "-idv", "-feature")
_RANKLIB_CHOICES = ("-ranker", "-metric2t", "-metric2T", "-tvs", "-tts", "-kcv", "-norm", "-gmax", "-layer", "-seed")

COMMANDS = {
    "fit": "train",
    "learn": "train",
    "predict": "rank",
    "score": "rank",
    "rerank": "rank",
    "test": "evaluate",
    "metrics": "evaluate",
    "measure": "evaluate",
    "validate": "doctor",
    "check": "doctor",
    "info": "inspect",
    "describe": "inspect",
    "show": "inspect",
    "tune": "search",
    "optimize": "search",
    "benchmark": "bench",
    "cv": "bench",
    "significance": "compare",
    "generate": "synth",
    "split": "convert",
    "shap": "explain",
    "importance": "explain",
    "list": "rankers",
    "models": "rankers",
}
"""Commands that people try, and ours."""

OPTIONS = {
    "--train": "name the file after the command, as in: ordino train train.txt",
    "--data": "name the file after the command, as in: ordino train train.txt",
    "--model": "name the file after the command, as in: ordino rank model.ordino test.txt",
    "--algorithm": "--ranker",
    "--method": "--ranker",
    "--validation": "--valid",
    "--val": "--valid",
    "--eval-set": "--valid",
    "--tvs": "--valid 0.2, the share of the queries to hold out",
    "--save": "--out",
    "--output": "--out",
    "--n-jobs": "--threads",
    "--nthread": "--threads",
    "--random-state": "--seed",
    "--group": "--qid, the column of a table with the query ids",
    "--groups": "--qid, the column of a table with the query ids",
    "--query": "--qid, the column of a table with the query ids",
    "--target": "--label, the column of a table with the labels",
    "--normalize": "--scaling",
    "--norm": "--scaling",
    "--metric": "--metrics",
    "--silent": "--quiet",
    "--score": "--out",
    "--indri": "--out, with a name that ends in .run",
    "--kcv": "--folds",
    "--cv": "--folds",
}
"""Options that people try, and what to type."""


def from_ranklib(words: Sequence[str]) -> str:
    """The commands that do what a line of RankLib does, which has -train or -load.

    Examples
    --------
    >>> from_ranklib("-train a.txt -ranker 6 -tree 50 -validate b.txt -metric2t NDCG@10 -save m.txt".split())
    'ordino train a.txt --ranker lambda-mart --param rounds=50 --param metric=ndcg@10 --valid b.txt --out m.ordino'
    >>> from_ranklib("-load m.txt -rank test.txt -score s.txt".split())
    'ordino import m.txt --from ranklib --out m.ordino && ordino rank m.ordino test.txt --out s.txt'
    """
    takes_value = {*_RANKLIB_FILES, *_RANKLIB_CHOICES, *RANKLIB_SETTINGS}
    said = {word: value for word, value in zip(words, [*words[1:], ""], strict=True) if word in takes_value}
    if "-kcv" in said:
        ranker = ELSEWHERE.get(said.get("-ranker", "0"), "lambda-mart")
        return f"ordino bench {said.get('-train', 'train.txt')} --rankers {ranker} --folds {said['-kcv']}"
    commands = [_training(said)] if "-train" in said else []
    model = _renamed(said.get("-save", "model") if "-train" in said else said["-load"])
    if "-train" not in said and said["-load"] != model:
        commands.append(f"ordino import {said['-load']} --from ranklib --out {model}")
    if "-test" in said:
        metric = said.get("-metric2T", said.get("-metric2t", "ERR@10")).lower()
        commands.append(f"ordino evaluate {model} {said['-test']} --metrics {metric} --profile ranklib")
    if "-rank" in said:
        out = said.get("-score") or f"{said.get('-indri', 'ranked').removesuffix('.txt')}.run"
        commands.append(f"ordino rank {model} {said['-rank']} --out {out}")
    return " && ".join(commands)


def _training(said: Mapping[str, str]) -> str:
    ranker = ELSEWHERE.get(said.get("-ranker", "0"), "lambda-mart")
    parts = [f"ordino train {said['-train']} --ranker {ranker}"]
    parts += [f"--param {ours}={said[theirs]}" for theirs, ours in RANKLIB_SETTINGS.items() if theirs in said]
    if "-metric2t" in said and ranker in ("lambda-mart", "ada-rank", "coordinate-ascent"):
        parts.append(f"--param metric={said['-metric2t'].lower()}")
    if "-norm" in said:
        parts.append(f"--scaling {_NORMS.get(said['-norm'], 'zscore')}")
    if "-validate" in said:
        parts.append(f"--valid {said['-validate']}")
    elif "-tvs" in said:
        parts.append(f"--valid {_left_of(said['-tvs'])}")
    return " ".join([*parts, f"--out {_renamed(said.get('-save', 'model'))}"])


def _left_of(share: str) -> str:
    """What is left of the queries for validation, in RankLib's way of saying how many are for training."""
    try:
        return f"{1 - float(share):.2g}"
    except ValueError:
        return "0.2"


def _renamed(model: str) -> str:
    return model if model.endswith(".ordino") else f"{model.removesuffix('.txt')}.ordino"


def option_here(name: str, known: Sequence[str | None], parameters: Sequence[str]) -> str:
    """What to type in place of an option, given the names of a command's own and the parameters of its ranker.

    Examples
    --------
    >>> option_here("--rounds", ["param", "out"], ["rounds", "leaves"])
    'parameters of a ranker are set by --param rounds=...'
    >>> option_here("--output", ["out"], [])
    'use --out'
    >>> option_here("--output", ["json"], [])
    ''
    """
    parameter = name.lstrip("-").replace("-", "_")
    if parameter in parameters and "param" in known:
        return f"parameters of a ranker are set by --param {parameter}=..."
    ours = OPTIONS.get(name, "")
    if not ours.startswith("--"):
        return ours
    is_known = ours[2:].partition(",")[0].partition(" ")[0] in (*known, "threads", "quiet", "seed")
    return f"use {ours}" if is_known else ""
