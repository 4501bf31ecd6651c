"""What is found for a page: runs at work, the first repeat that was kept, documents, data among others, exports."""

import os
from contextlib import closing
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np

from ordino import Dataset, RankFusion
from ordino.experiment.report.board import make_boards
from ordino.experiment.store import Store
from ordino.experiment.store.kept import Kept, kept_path
from ordino.experiment.store.rankings import Listed
from ordino.studio.runs import is_alive
from ordino.studio.shelf import StoreShelf, names_of, parts_of
from ordino.studio.sources import Memory, OpenStore, Sources
from ordino.studio.views.compare import _unit
from ordino.studio.views.model import _certificates
from ordino.studio.what_if import _columns
from ordino.testing import easy_data
from studio_place import open_studio
from trials import made_trials


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


def test_a_test_over_trials_counts_those_of_each_ranker():
    trials = made_trials(["A", "B"], folds=1, seeds=(0, 1, 2))
    [board] = make_boards([one for one in trials if (one.label, one.seed) != ("B", 2)], test="welch")
    assert _unit(board, "A", "B") == " over the means of three and two trials"
    assert _unit(board, "B", "A") == " over the means of two and three trials"


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
