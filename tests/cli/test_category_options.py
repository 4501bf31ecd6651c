"""Columns of text on the command line: one sentence, --categories, --one-hot, and models that remember both."""

import csv

import numpy as np
import pytest

import ordino
from ordino.cli import main
from ordino.data.trec import read_scores
from ordino.given import split_off
from ordino.model_file import fingerprint, read_card

TABLE = ["--qid", "shop", "--label", "bought"]


@pytest.fixture
def table(tmp_path):
    """Oslo is what people buy; the code is a category written as a number."""
    path, rng = tmp_path / "table.csv", np.random.default_rng(0)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["shop", "bought", "price", "city", "code"])
        for row in range(400):
            city = rng.choice(["Bern", "Oslo", "Rome"])
            rows.writerow([row // 8, int(city == "Oslo"), f"{rng.random():.3f}", city, rng.integers(1, 4)])
    return path


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return end.value.code, said.out, said.err


def test_text_is_refused_with_what_to_type(table, tmp_path, capsys):
    out = tmp_path / "m.ordino"
    code, _, said = run(capsys, "train", table, "--ranker", "rank-svm", "--out", out, *TABLE)
    assert code == 1
    assert "column 'city' is text; name it in --categories, which LambdaMART can use and --one-hot turns into" in said
    code, _, said = run(capsys, "train", table, "-r", "rank-svm", "--out", out, *TABLE, "--categories", "city")
    assert code == 1
    assert "which RankSVM cannot use; train it with --one-hot, or use lambda-mart" in said
    code, _, said = run(capsys, "train", table, "-r", "rank-svm", "--out", out, *TABLE, "--drop", "city", "--one-hot")
    assert code == 1
    assert "--one-hot: the data has no categories; name their columns with --categories" in said
    code, _, said = run(capsys, "inspect", table, *TABLE, "--categories", "town")
    assert (code, "unknown column 'town'" in said) == (1, True)


@pytest.mark.parametrize("words", [["-r", "lambda-mart", "-p", "rounds=9"], ["-r", "rank-svm", "--one-hot"]])
def test_a_model_remembers_its_categories(words, table, tmp_path, capsys):
    model = tmp_path / "m.ordino"
    train = ["train", table, *words, "--valid", "0.2", "--out", model, *TABLE, "--categories", "city,code", "-q"]
    assert run(capsys, *train)[0] == 0
    whole = ordino.read_data(table, qid="shop", label="bought", categories=["city", "code"])
    card = read_card(model)  # tells of the data as it was given, before any column was made of a category
    assert [card[part]["fingerprint"] for part in ("data", "valid")] == list(map(fingerprint, split_off(whole, 0.2)))
    assert run(capsys, "rank", model, table, "--qid", "shop", "--out", tmp_path / "scores.txt")[0] == 0
    scores = read_scores(tmp_path / "scores.txt")
    oslo = whole.X[:, 1] == whole.categories["city"].index("Oslo")
    assert scores[oslo].min() > scores[~oslo].max()
    shop = whole.restore(whole.qid)
    a, b = next((i, j) for i in np.flatnonzero(oslo) for j in np.flatnonzero(~oslo) if shop[i] == shop[j])
    code, said, _ = run(capsys, "explain", model, table, *TABLE, "--why", str(a), str(b))
    assert (code, "city" in said) == (0, True)
    assert "map     0.9600" in run(capsys, "evaluate", model, table, *TABLE, "-m", "map")[1]  # 2 of 50 have no Oslo


def test_what_is_no_table_has_no_columns_to_name(tmp_path, capsys):
    ordino.write_letor(ordino.testing.easy_data(), tmp_path / "data.txt")
    code, _, said = run(capsys, "inspect", tmp_path / "data.txt", "--categories", "city")
    assert (code, "'city' cannot be made categorical in this format; give a table" in said) == (1, True)
