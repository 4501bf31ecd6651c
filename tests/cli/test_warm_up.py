"""``ordino warm-up``: what a ranker needs is compiled and kept, or a sentence says why it cannot be."""

import os
import subprocess
import sys

import pytest

from ordino import SingleFeature, compiled
from ordino.cli import warm_up
from ordino.errors import ParameterError
from shell import ordino

FIT = """
from numba.core import event
compiled = []
class Compiling(event.Listener):
    def on_start(self, started): compiled.append(started.data["dispatcher"].py_func.__name__)
    def on_end(self, ended): pass
event.register("numba:compile", Compiling())
import ordino
from ordino.testing import easy_data
ordino.RankSVM().fit(easy_data(), valid=easy_data(seed=1)).score(easy_data())
print(compiled)
"""


@pytest.fixture
def without_metrics(monkeypatch):
    monkeypatch.setattr(warm_up, "_measure_and_read", lambda: None)


def test_says_what_was_compiled_and_where_it_is_kept(without_metrics, capsys):
    assert ordino("warm-up", "single-feature") == 0
    assert f"kept in {compiled.kept_in()}" in capsys.readouterr().out


def test_every_choice_is_used(without_metrics, monkeypatch):
    used = []
    monkeypatch.setattr(warm_up, "_use", lambda ranker, _: used.append(ranker))
    ordino("warm-up", "ranknet", "--choices")
    assert {ranker.activation for ranker in used} == {"relu", "tanh", "sigmoid", "softplus", "identity"}
    assert any(ranker.rate == "halve" and ranker.batch == 1 for ranker in used)  # as published


def test_only_a_single_choice_may_fail(without_metrics, monkeypatch, capsys):
    def refuse(ranker, data, valid=None):
        if ranker.get_params() == SingleFeature(**failing).get_params() | {"feature": ranker.feature}:
            raise ParameterError("this setting does not work")
        return ranker

    monkeypatch.setattr(SingleFeature, "fit", refuse)
    monkeypatch.setattr(SingleFeature, "predict", lambda ranker, data: None)
    monkeypatch.setattr(warm_up, "_settings", lambda kind, choices: [(kind(), True), (kind(sign=-1), False)])
    failing = {"sign": -1}
    assert ordino("warm-up", "single-feature", "--choices") == 0
    failing = {}
    assert ordino("warm-up", "single-feature") == 1
    assert "this setting does not work" in capsys.readouterr().err


def test_without_a_place_for_compiled_code_it_fails_with_a_way_out(without_metrics, monkeypatch, capsys):
    monkeypatch.setattr(compiled._cache, "usable", False)
    assert ordino("warm-up", "single-feature") == 1
    assert "set NUMBA_CACHE_DIR to one that can" in capsys.readouterr().err


def test_an_unknown_ranker_is_answered_with_the_nearest(capsys):
    assert ordino("warm-up", "ranknett") == 1
    assert "ranknet" in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "ordino", "warm-up", "rank-svm"], env=environment, check=True)
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
