"""Training for the papers' tables: each ranker once, kept, stopped and gone on with, the same on one core and two."""

import pytest

from ordino.errors import OrdinoError
from ordino.experiment.papers import directranker, ranknet_search, training
from ordino.experiment.papers.catalogue import reproduce
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.training import Repeats, fit_seeds
from ordino.experiment.papers.trials import Protocol, Setting, ranker, run_setting


def test_what_two_targets_need_is_trained_once(folder, monkeypatch):
    from ordino.rankers.baselines import RandomRanker

    fits = []
    fit = RandomRanker.fit
    monkeypatch.setattr(RandomRanker, "fit", lambda self, *args, **named: fits.append(1) or fit(self, *args, **named))
    folds = Request(folder).collections(("TD2003",))["TD2003"][:2]
    request, setting = Request(seed=3), Setting("m", ranker("random-ranker"), repeats=2)
    first = run_setting(setting, folds, Protocol(("map",)), request)
    second = run_setting(setting, folds, Protocol(("ndcg@5",)), request)
    assert len(fits) == 4  # two folds, two seeds
    assert first.rankers == second.rankers
    assert first.seconds == second.seconds == tuple(one.seconds / 2 for one in request.trained.repeats.values())
    assert len(request.trained.used) == 4  # two folds, twice
    run_setting(setting._replace(repeats=1), folds, Protocol(("map",)), request)
    assert len(fits) == 6  # other seeds are other rankers


def test_only_the_same_is_not_trained_again(folder):
    fold = Request(folder).collections(("TD2003",))["TD2003"][0]
    request, net = Request(), {"hidden": (), "epochs": 1}
    trained = [
        fit_seeds(ranker(name, **params)(request), some, [seed], request)
        for name, params, some, seed in (
            ("listnet", net, fold, 0),
            ("rankcosine", net, fold, 0),
            ("listnet", net | {"epochs": 2}, fold, 0),
            ("listnet", net, fold._replace(train=fold.test), 0),
            ("listnet", net, fold._replace(valid=fold.test), 0),
            ("listnet", net, fold._replace(valid=None), 0),
            ("listnet", net, fold, 1),
        )
    ]
    assert len(request.trained.repeats) == len({id(one) for one in trained}) == 7
    assert fit_seeds(ranker("listnet", **net)(request), fold._replace(test=fold.train), [0], request) is trained[0]


def test_seconds_count_what_another_target_has_trained_but_nothing_twice(folder, monkeypatch):
    monkeypatch.setattr(training, "Repeats", lambda rankers, seconds: Repeats(rankers, 1000.0))
    request = Request(folder, quick=True)
    first = reproduce("directranker.table1", request)  # which asks for the settings it chose again
    assert len(request.trained.used) > len(request.trained.repeats)
    again = reproduce("directranker.table1", request)
    for result in (first, again):
        assert 0 <= result.seconds - 1000 * len(request.trained.repeats) < 1000


def test_kept_models_are_not_trained_again(folder, tmp_path, monkeypatch):
    first = reproduce("sortnet.fig3", Request(folder, quick=True, kept=tmp_path / "kept"))
    monkeypatch.setattr(training, "train", None)
    again = reproduce("sortnet.fig3", Request(folder, quick=True, kept=tmp_path / "kept"))
    assert again.cells == first.cells
    with pytest.raises(OrdinoError, match=r"training failed:\n- SortNet on Fold1: TypeError"):
        reproduce("sortnet.fig3", Request(folder, quick=True, kept=tmp_path / "kept", seed=1))


def test_a_stopped_run_goes_on(folder, tmp_path, monkeypatch):
    calls = []

    def stopped(task):
        calls.append(task)
        if len(calls) == 3:
            raise KeyboardInterrupt
        train(task)

    train = training.train
    monkeypatch.setattr(training, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce("sortnet.fig2", Request(folder, quick=True, kept=tmp_path))
    n_kept = len(list(tmp_path.rglob("*.ordino")))
    assert n_kept == 2
    resumed = reproduce("sortnet.fig2", Request(folder, quick=True, kept=tmp_path))
    assert len(calls) == 3 + len(list(tmp_path.rglob("*.ordino"))) - n_kept
    assert resumed.cells == reproduce("sortnet.fig2", Request(folder, quick=True)).cells


def test_processes_give_the_same_numbers(folder):
    here = reproduce("deepnet.table4.2", Request(folder, quick=True))
    assert reproduce("deepnet.table4.2", Request(folder, quick=True, n_jobs=2)).cells == here.cells


@pytest.mark.parametrize(
    ("module", "target", "data"),
    [(directranker, "directranker.table2", "."), (ranknet_search, "ranknet.table6", "MQ2008")],
)
def test_training_times_are_taken_alone(folder, tmp_path, monkeypatch, module, target, data):
    asked = []
    monkeypatch.setattr(module, "train_ahead", lambda several, request: asked.append(request))
    request = Request(folder / data, quick=True, kept=tmp_path, n_jobs=2)
    reproduce(target, request)
    assert {(one.kept, one.n_jobs) for one in asked} == {(None, 1)}
    assert request.trained.repeats == {}
