"""``ordino reproduce`` as a person would type it."""

from dataclasses import replace

import pytest

from ordino.cli import main
from ordino.experiment.papers import catalogue
from ordino.experiment.papers.catalogue import TARGETS
from ordino.experiment.papers.claim import HEADER, Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import BRACKETS, RULE, Axes, Result


def ordino(*words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0


@pytest.fixture
def requests(monkeypatch):
    """Replace the work by a small result; what was asked for is kept."""
    asked = []

    def run(name, request):
        asked.append((name, request))
        axes = Axes("bars", "method", "quality") if name == "directranker.fig2a" else None
        numbers = [Number(("a",), 0.5, (0.75,)), Number(("b",), 0.4, (0.5, 0.5), same_data=False)]
        claims = [Claim(says="b beats a", better={"method": "b"}, worse={"method": "a"})]
        result = Result("a title", ("method",), numbers, "What was done.", axes=axes, notes=["seen"], claims=claims)
        return replace(result, target=name, seconds=3.0)

    monkeypatch.setattr(catalogue, "reproduce", run)
    return asked


def test_list_tells_every_target_with_data_and_time(capsys):
    assert ordino("reproduce", "--list") == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split("\t") == ["target", "what it shows", "data it needs", "takes about"]
    assert [line.split("\t")[0] for line in lines] == list(TARGETS)
    assert all(all(line.split("\t")) for line in lines)


def test_a_table_is_printed(requests, capsys, tmp_path):
    assert ordino("reproduce", "ranknet.table1", "rankde.table3", "--data", tmp_path, "--quick", "--seed", 3) == 0
    assert [(name, request.quick, request.seed) for name, request in requests] == [
        ("ranknet.table1", True, 3),
        ("rankde.table3", True, 3),
    ]
    assert requests[0][1].data == tmp_path
    assert requests[0][1].repeats is None
    assert capsys.readouterr().out.splitlines()[:12] == [
        "ranknet.table1: a title",
        "method\tpaper\tours ± standard deviation\tdifference",
        "a\t0.500\t0.750\t+0.250",
        "b\t(0.400)\t0.500 ± 0.000\t",
        "\t".join(HEADER),
        "b beats a\t\tin words\tno repeats\t\t\tcannot be told: power 0 %",
        BRACKETS,
        "± is the standard deviation over the repeats.",
        RULE,
        "Power, the probability that a claim which is true is found to be so: 0 %.",
        "seen",
        "1 number of the paper: ours are from +0.250 to +0.250 of them, +0.250 on average; 3 seconds",
    ]


def test_fewer_repeats_reach_the_work(requests):
    assert ordino("reproduce", "ranknet.table1", "--repeats", 3) == 0
    assert ordino("reproduce", "ranknet.table1", "--repeats", 0) == 2
    assert [request.repeats for _, request in requests] == [3]


def test_out_gets_table_and_figure(requests, capsys, tmp_path):
    assert ordino("reproduce", "ranknet.table1", "directranker.fig2a", "--out", tmp_path / "new") == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "directranker.fig2a.csv",
        "directranker.fig2a.json",
        "directranker.fig2a.md",
        "directranker.fig2a.png",
        "directranker.fig2a.svg",
        "ranknet.table1.csv",
        "ranknet.table1.json",
        "ranknet.table1.md",
    ]
    assert "ranknet.table1.md: written" in capsys.readouterr().err


def test_no_target_and_a_wrong_one(capsys):
    assert ordino("reproduce") == 2
    assert "name a target, for example ranknet.table1" in capsys.readouterr().err
    assert ordino("reproduce", "ranknet.tabel1") == 1
    assert "unknown target 'ranknet.tabel1'; did you mean 'ranknet.table1'?" in capsys.readouterr().err


def test_what_was_trained_is_kept_where_one_says(requests, tmp_path):
    assert ordino("reproduce", "rankde.table3", "--keep", tmp_path, "--n-jobs", 3) == 0
    assert ordino("reproduce", "rankde.table3", "--quick", "-q") == 0
    [(_, kept), (_, quick)] = requests
    assert (kept.kept, kept.n_jobs, kept.verbose) == (tmp_path, 3, True)
    assert (quick.kept.exists(), quick.n_jobs, quick.verbose) == (False, 1, False)  # a folder that is gone by now


@pytest.mark.parametrize("words", [[], ["--keep", "kept"]])
def test_ctrl_c_says_how_to_go_on(monkeypatch, capsys, words):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "reproduce", stopped)
    assert ordino("reproduce", "rankde.table3", *words) == 130
    rest = "; the same command goes on from what is in kept" if words else ""
    assert capsys.readouterr().err == f"ordino: rankde.table3 was stopped{rest}\n"
