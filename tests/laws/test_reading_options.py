"""Law 3 for how data is read: every reading option of every command arrives at every file that the command reads.

Each option has a file that is refused only with it, or only without it; the other files of a command are taken either
way. An option that is added to all commands fails here until ``REFUSED`` has a line for it, and so does a command until
``WORDS`` has one.
"""

import re
import shutil
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from laws.test_options import COMMANDS
from ordino import Dataset, LinearRegressionRanker, SortNet, save
from ordino.cli.options import _COLUMNS as OPTIONS
from shell import ordino


class Refused(NamedTuple):
    """A file that is refused, in which sentence, without an option or with it."""

    file: str
    sentence: str
    without: str
    with_it: str


REFUSED = {
    **{
        name: Refused("poor.csv", "unknown column 'extra'", "", f"--{name.replace('_', '-')} extra")
        for name in ("qid", "label", "doc_id", "weight", "features", "categories")
    },
    "drop": Refused("text.csv", "'link'|X has 4", "--features f1,f2,f3,link", "--features f1,f2,f3,link --drop link"),
    "one_list": Refused("flat.csv", "no column 'qid'|no row has a query", "", "--one-list"),
    "zero_based": Refused("zero.txt", "feature 0|feature number 0", "", "--zero-based"),
}
BENCH = "-r single-feature --folds 3 --n-jobs 1 -m map"
SEARCH = "-r prank --trials 1 --space epochs=1..2 --folds 3 --n-jobs 1 -m map"
WORDS = {
    "inspect": ["inspect {}", "inspect comparator --audit {}"],
    "doctor": ["doctor {}", "doctor whole.csv {}"],
    "convert": ["convert {} o.parquet", "convert {} o --shards 2"],
    "train": ["train {} -r prank -o m", "train whole.csv -r prank -o m --valid {}"],
    "rank": ["rank linear {} -o o"],
    "evaluate": ["evaluate linear {}", "evaluate {} scores.txt"],
    "explain": ["explain linear {} --repeats 1", "explain linear {} --why 0 1"],
    "bench": [f"bench {{}} {BENCH}", f"bench folds/{{}} {BENCH}"],
    "search": [f"search {{}} {SEARCH}"],
    "compare": ["compare linear linear --data {}", "compare scores.txt scores.txt --data {}"],
    "export": ["export linear --to solr -o o --data {}"],
    "distill": [
        "distill linear --into rank-svm --data {} -o m",
        "distill linear --into rank-svm --data whole.csv --test {} -o m",
    ],
}
"""By command that reads data: words for each file that it reads, each way in which it does."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Files that are alike but for a column of text, one that is missing, and numbers from 0."""
    place = tmp_path_factory.mktemp("shelf")
    with chdir(place):
        write_files()
    return place


@pytest.fixture
def shop(shelf, tmp_path, monkeypatch):
    """A folder with these files."""
    shutil.copytree(shelf, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def write_files() -> None:
    rng = np.random.default_rng(0)
    data = Dataset(
        rng.random((24, 3)), np.tile([0, 1, 0, 2], 6), np.repeat(np.arange(6), 4), feature_names=("f1", "f2", "f3")
    )
    whole = pl.DataFrame(
        {"qid": data.qid, "label": data.y, "f1": data.X[:, 0], "f2": data.X[:, 1], "f3": data.X[:, 2]}
    ).with_columns(extra=pl.Series(np.arange(24) // 4), link=pl.Series(rng.random(24)))
    poor = whole.drop("extra", "link")
    made = {
        "whole.csv": whole, "poor.csv": poor, "flat.csv": poor.drop("qid"),
        "text.csv": whole.with_columns(link=pl.lit("http://")),
    }  # fmt: skip
    texts = {name: frame.write_csv() for name, frame in made.items()}
    texts["zero.txt"] = "".join(
        f"{y:g} qid:{qid} 0:{a} 1:{b} 2:{c}\n" for y, qid, (a, b, c) in zip(data.y, data.qid, data.X, strict=True)
    )
    for name, text in texts.items():
        Path(name).write_text(text)
        for part in ("train", "test"):
            folder = Path("folds", name, "Fold1")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{part}{Path(name).suffix}").write_text(text)
    Path("scores.txt").write_text("0.5\n" * 24)
    save(LinearRegressionRanker(scaling=None).fit(data), "linear")
    save(SortNet(hidden=2, epochs=1, max_iter=1).fit(data), "comparator")


def test_every_command_that_reads_data_has_words():
    assert set(WORDS) == {name for name, one in COMMANDS.items() if "one_list" in {own.name for own in one.params}}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("words", [words for several in WORDS.values() for words in several])
def test_every_reading_option_arrives(words, option, shop, capsys):
    refused = REFUSED[option]

    def is_refused(more):
        capsys.readouterr()
        ordino(*words.format(refused.file).split(), *more.split())
        said = capsys.readouterr()
        return re.search(refused.sentence, said.out + said.err) is not None

    assert is_refused(refused.without) != is_refused(refused.with_it)
