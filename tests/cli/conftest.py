"""The files that the examples in the help texts name."""

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
        "linear": LinearRegressionRanker(),
        "comparator": SortNet(hidden=4, epochs=1, max_iter=1),
    }.items():
        save(ranker.fit(train), place / f"{name}.ordino")
    return place


@pytest.fixture
def folder(tmp_path, monkeypatch, models):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    for model in models.iterdir():
        (tmp_path / model.name).write_bytes(model.read_bytes())
    train, test = synthetic("mq", queries=8, seed=1).split(0.5)
    write_letor(synthetic("mq", queries=8, seed=1), "all.txt")
    write_letor(train, "train.txt")
    write_letor(test, "test.txt")
    write_shards(test, "shards", 2)
    (tmp_path / "scores.txt").write_text("".join(f"{row.sum()}\n" for row in test.X))
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 2\n")
    (tmp_path / "run.txt").write_text("q1 Q0 c 1 9.0 me\nq1 Q0 b 2 8.0 me\nq1 Q0 a 3 7.0 me\n")
    (tmp_path / "other.txt").write_text("".join(f"{row[0]}\n" for row in test.X))
    (tmp_path / "other-run.txt").write_text("q1 Q0 b 1 9.0 me\nq1 Q0 c 2 8.0 me\nq1 Q0 a 3 7.0 me\n")
    (tmp_path / "ranklib.txt").write_text("## Coordinate Ascent\n## Restart = 1\n1:0.5 46:-0.25\n")
    with Store("bench.sqlite") as store:
        for trial in made_trials(["RankNet", "LambdaMART"]):
            store.add(trial)
    return tmp_path
