"""A process that serves keeps the memory that requests give back."""

import subprocess
import sys

import pytest

from ordino.serve import app, start

REQUESTS = """
import resource, sys
import numpy as np
from ordino.serve.allocation import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()

def requests():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):  # bodies of megabytes, which live together for a while
        some = [np.ones(300_000) for _ in range(4)]
        del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

requests()
print(requests())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's allocator can be told")
def test_what_a_request_gave_back_is_there_for_the_next():
    def faults(how):
        done = subprocess.run([sys.executable, "-c", REQUESTS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert faults("keep") < 1000 < faults("plain")


def test_every_process_that_serves_keeps_it(monkeypatch):
    done = []
    monkeypatch.setattr(start, "keep_freed_memory", lambda: done.append("kept"))
    monkeypatch.setattr(app, "make_app", lambda setup: done.append(setup) or "the app")
    assert start.app_of_process("some setup") == "the app"
    assert done == ["kept", "some setup"]
