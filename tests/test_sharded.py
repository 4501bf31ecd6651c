"""A model over shards: the same as over the whole, whoever works on which shard; what is done is not done again."""

from dataclasses import replace

import numpy as np
import pytest

import ordino
from ordino import RankNet, ShardedDataset, SingleFeature, sharded, synthetic, write_shards
from ordino.backends.local import InProcess
from ordino.cli import shards as cli_shards
from ordino.data.shards import read_shard
from ordino.data.source import canonical
from ordino.errors import DataError, OrdinoError
from ordino.sharded import evaluate_shards, rank_shards
from ordino.streams import spawn_seed
from shell import ordino as command


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("sharded")
    data = synthetic("mq", queries=20, seed=1)
    ranker = RankNet(hidden=4, epochs=2).fit(data)
    ordino.save(ranker, home / "model.ordino")
    return home, data, ranker, write_shards(data, home / "shards", 4)


def test_the_mean_is_that_of_the_whole_and_not_of_the_workers(made):
    home, data, ranker, shards = made
    whole = ordino.evaluate(canonical(data), ranker.predict(canonical(data)), metrics=["ndcg@10", "map"])
    one = evaluate_shards(home / "model.ordino", shards, ["ndcg@10", "map"], n_jobs=1)
    two = evaluate_shards(home / "model.ordino", shards, ["ndcg@10", "map"], n_jobs=2)
    for name in whole:
        assert one[name] == two[name] == whole[name]
        assert one.per_query[name].tobytes() == whole.per_query[name].tobytes()
    assert (one.n_empty, one.n_queries, one.n_short) == (whole.n_empty, whole.n_queries, whole.n_short)


def test_a_model_that_is_written_anew_under_its_name_is_read_anew(made, tmp_path):
    _, data, _, shards = made
    for feature in (1, 2):
        ranker = SingleFeature(feature=feature).fit(data)
        ordino.save(ranker, tmp_path / "model.ordino")
        found = evaluate_shards(tmp_path / "model.ordino", shards, ["map"], n_jobs=1)
        whole = ordino.evaluate(canonical(data), ranker.predict(canonical(data)), metrics="map")
        assert found.per_query["map"].tolist() == whole.per_query["map"].tolist()
        assert rank_shards(tmp_path / "model.ordino", shards, tmp_path / "ranked", n_jobs=1) == len(shards)
        first = np.loadtxt(tmp_path / "ranked" / f"{shards.files[0].stem}.txt")
        assert first.tolist() == pytest.approx(ranker.predict(read_shard(shards.files[0])).tolist())


def test_values_are_in_the_order_of_the_shards_whichever_is_ready_first(made, monkeypatch):
    home, data, ranker, shards = made

    class LastFirst(InProcess):
        def map(self, function, tasks):
            return reversed(list(super().map(function, tasks)))

    monkeypatch.setattr(sharded, "open_backend", lambda *_: LastFirst())
    found = evaluate_shards(home / "model.ordino", shards, ["map"])
    whole = ordino.evaluate(canonical(data), ranker.predict(canonical(data)), metrics="map")
    assert found.query_ids.tolist() == whole.query_ids.tolist()
    assert found.per_query["map"].tolist() == whole.per_query["map"].tolist()


def test_the_profile_is_that_which_is_asked_for_or_the_models(made, tmp_path):
    home, data, _, shards = made
    ordino.save(RankNet(hidden=4, epochs=1, profile="letor4").fit(data), tmp_path / "letor.ordino")
    for model, asked, profile in (
        (home / "model.ordino", None, "standard"),
        (home / "model.ordino", "sklearn", "sklearn"),
        (tmp_path / "letor.ordino", None, "letor4"),
        (tmp_path / "letor.ordino", "sklearn", "sklearn"),
    ):
        found = evaluate_shards(model, shards, ["ndcg@3"], asked, n_jobs=1)
        documents = canonical(data)
        expected = ordino.evaluate(documents, ordino.load(model).predict(documents), metrics="ndcg@3", profile=profile)
        assert (found.profile, found["ndcg@3"]) == (profile, pytest.approx(expected["ndcg@3"]))


def test_other_documents_under_the_same_name_are_ranked_again(made, tmp_path):
    for seed in (1, 2):
        shards = write_shards(synthetic("mq", queries=6, seed=seed), tmp_path / "s", 2)
        assert rank_shards(made[0] / "model.ordino", shards, tmp_path / "out", n_jobs=1) == 2


def test_ranks_of_shards_are_those_of_the_whole(made, tmp_path):
    home, data, ranker, shards = made
    assert rank_shards(home / "model.ordino", shards, tmp_path, n_jobs=1) == 4
    found = np.concatenate([np.loadtxt(tmp_path / f"shard-{i:05d}.txt", ndmin=1) for i in range(4)])
    assert found.tolist() == ranker.predict(canonical(data)).tolist()


def test_a_worker_that_does_not_see_the_folder_hands_its_ranking_back(made, tmp_path):
    home, _, _, shards = made
    rank_shards(home / "model.ordino", shards, tmp_path, n_jobs=1)
    task = next(iter(sharded._tasks(home / "model.ordino", shards)))
    away = sharded._ranked(replace(task, out=tmp_path / "nowhere" / "shard-00000.txt"))
    assert away == (tmp_path / "shard-00000.txt").read_bytes()
    assert not (tmp_path / "nowhere").exists()


def test_finished_shards_are_not_done_again(made, tmp_path):
    home, _, _, shards = made
    rank_shards(home / "model.ordino", shards, tmp_path, n_jobs=1)
    (tmp_path / "shard-00002.txt").unlink()
    assert rank_shards(home / "model.ordino", shards, tmp_path, n_jobs=1) == 1
    assert rank_shards(home / "model.ordino", shards, tmp_path, n_jobs=1) == 0
    assert rank_shards(home / "model.ordino", shards, tmp_path, form="trec", n_jobs=1) == 4
    ordino.save(RankNet(hidden=4, epochs=3).fit(made[1]), tmp_path / "other.ordino")
    assert rank_shards(tmp_path / "other.ordino", shards, tmp_path, form="trec", n_jobs=1) == 4


def test_a_shard_that_is_damaged_fails_alone(made, tmp_path):
    home, data, _, _ = made
    shards = write_shards(data, tmp_path / "s", 3)
    shards.files[1].write_bytes(b"\0" * shards.files[1].stat().st_size)
    with pytest.raises(OrdinoError, match=r"a shard failed, all others are done:\n- shard 1: "):
        rank_shards(home / "model.ordino", shards, tmp_path / "out", n_jobs=1)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.txt")) == ["shard-00000.txt", "shard-00002.txt"]


def test_a_model_of_other_features_is_refused_at_once(made, tmp_path):
    shards = write_shards(synthetic("mslr", queries=2, seed=1), tmp_path / "s", 1)
    with pytest.raises(DataError, match="136"):
        rank_shards(made[0] / "model.ordino", shards, tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rank", "model.ordino", "shards"], "shards are ranked into a folder; name one with --out"),
        (["rank", "model.ordino", "all.txt", "--cluster", "auto"], "a cluster works on shards"),
        (["train", "shards", "--ranker", "rank-svm", "--valid", "0.2", "--out", "m.ordino"], "shards are learned"),
        (["synth", "mq", "--shards", "2", "--out", "x"], "--shards needs --queries"),
        (["convert", "all.txt", "x", "--shards", "2", "--scaling", "minmax"], "--shards writes one folder, without"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence(made, monkeypatch, capsys, words, sentence):
    home, data, _, _ = made
    monkeypatch.chdir(home)
    ordino.write_letor(data, "all.txt")
    assert command(*words) != 0
    assert sentence in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_training_on_shards_from_the_command_line_is_training_on_the_file(made, monkeypatch, capsys):
    home, data, _, _ = made
    monkeypatch.chdir(home)
    canonical(data).save("whole.arrow")
    for source, out in (("whole.arrow", "one.ordino"), ("shards", "two.ordino")):
        assert command("train", source, "--ranker", "rank-svm", "--out", out) == 0
    one, two = (ordino.load(name).coef_.tobytes() for name in ("one.ordino", "two.ordino"))
    assert one == two
    assert ordino.load("two.ordino").n_queries_in_ == 20


def test_synthetic_shards_of_several_parts_have_every_query_once(tmp_path, monkeypatch):
    """Each part is drawn by a seed of its own, and its queries are numbered after those before it."""
    monkeypatch.setattr(cli_shards, "AT_A_TIME", 3)
    parts = list(cli_shards.synthetic_parts("mq", 8, 1))
    assert [part.query_ids.tolist() for part in parts] == [[1, 2, 3], [4, 5, 6], [7, 8]]
    for first, part in zip((0, 3, 6), parts, strict=True):
        drawn = synthetic("mq", queries=part.n_queries, seed=spawn_seed(1, "part", first))
        assert (part.X == drawn.X).all()
        assert (part.y == drawn.y).all()
    monkeypatch.chdir(tmp_path)
    assert command("synth", "mq", "--queries", "8", "--seed", "1", "--shards", "2", "--out", "many") == 0
    assert sorted(query for shard in ShardedDataset("many").parts() for query in shard.query_ids.tolist()) == list(
        range(1, 9)
    )
