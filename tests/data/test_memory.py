"""What is free counts, not what the machine has; one long name or line does not take the memory of all."""

import os
import tracemalloc

import numpy as np
import pytest

from ordino.data.letor import read_letor
from ordino.data.letor_text import parse_line
from ordino.data.memory import UNKNOWN, free_memory
from ordino.errors import LetorFormatError


def test_the_least_of_machine_and_container_counts(tmp_path, monkeypatch):
    machine = tmp_path / "meminfo"
    machine.write_text("MemTotal: 100 kB\nMemFree: 2 kB\nMemAvailable: 50 kB\n")
    assert free_memory(machine, tmp_path) == 50 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert free_memory(machine, tmp_path) == 50 * 1024
    (tmp_path / "memory.max").write_text("9000\n")
    assert free_memory(machine, tmp_path) == 8000
    nothing = tmp_path / "nothing"
    assert 1 << 28 < free_memory(nothing, nothing) < 1 << 50
    monkeypatch.delattr(os, "sysconf")
    assert free_memory(nothing, nothing) == UNKNOWN


def most_memory(work):
    """The largest number of bytes that were taken at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bad_line_that_is_a_whole_file_takes_little_memory():
    line = b"1 qid:1 " + b"1:0.5 " * 300_000

    def refuse():
        with pytest.raises(LetorFormatError, match="feature 1 is given twice"):
            parse_line(line, "here:1")

    assert most_memory(refuse) < 3 * len(line)


def test_one_long_docid_does_not_lengthen_all(tmp_path):
    n = 80_000
    path = tmp_path / "a.txt"
    path.write_bytes(b"1 qid:1 1:1 #docid = d\n" * n + b"1 qid:1 1:1 #docid = " + b"x" * 254 + b"\n")
    kept = []
    assert most_memory(lambda: kept.append(read_letor(path, n_jobs=1).doc_ids)) < 60e6
    assert kept[0][0] == "d"
    assert kept[0][-1] == "x" * 254
    assert np.unique(kept[0]).tolist() == ["d", "x" * 254]
