"""The files that the examples in the help texts name."""

import shutil

import pytest

from ordino import LinearRegressionRanker, RankNet, SortNet, save, synthetic, write_letor, write_shards
from ordino.experiment.store import Store
from trials import made_trials


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """The model files that the examples name."""
    place = tmp_path_factory.mktemp("models")
    train, _ = synthetic("mq", queries=8, seed=1).split(0.5)
    for name, ranker in {
        "model": RankNet(hidden=4, epochs=2),
        "linear": LinearRegressionRanker(scaling=None),
        "comparator": SortNet(hidden=4, epochs=1, max_iter=1),
    }.items():
        save(ranker.fit(train), place / f"{name}.ordino")
    return place


@pytest.fixture(scope="session")
def files(tmp_path_factory, models):
    """The files that the examples name; a test gets a copy."""
    place = tmp_path_factory.mktemp("files")
    for model in models.iterdir():
        shutil.copy(model, place)
    whole = synthetic("mq", queries=8, seed=1)
    train, test = whole.split(0.5)
    write_letor(whole, place / "all.txt")
    write_letor(train, place / "train.txt")
    write_letor(test, place / "test.txt")
    write_shards(test, place / "shards", 2)
    (place / "scores.txt").write_text("".join(f"{row.sum()}\n" for row in test.X))
    (place / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 2\n")
    (place / "run.txt").write_text("q1 Q0 c 1 9.0 me\nq1 Q0 b 2 8.0 me\nq1 Q0 a 3 7.0 me\n")
    (place / "other.txt").write_text("".join(f"{row[0]}\n" for row in test.X))
    (place / "other-run.txt").write_text("q1 Q0 b 1 9.0 me\nq1 Q0 c 2 8.0 me\nq1 Q0 a 3 7.0 me\n")
    (place / "ranklib.txt").write_text("## Coordinate Ascent\n## Restart = 1\n1:0.5 46:-0.25\n")
    with Store(place / "bench.sqlite") as store:
        store.add(*made_trials(["RankNet", "LambdaMART"]))
    return place


@pytest.fixture
def folder(tmp_path, monkeypatch, files):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return tmp_path
