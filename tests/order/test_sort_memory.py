"""Memory that compiled loops take is seen from outside alone: each case has a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="peak memory is read through the resource module")

RUN = """
import numpy as np
from resource import RUSAGE_SELF, getrusage
from comparators import random_network
from ordino.order import order_queries, tournament

n = {n}
X = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
network = random_network(8, (20,))

def order(rows, work):
    if work == "tournament":
        return np.argsort(-tournament(network, rows, [0, len(rows)]))
    return order_queries(network, rows, [0, len(rows)], algorithm=work)

order(X[:10], "merge"), order(X[:10], "borda")
before = getrusage(RUSAGE_SELF).ru_maxrss
for work in {works}:
    assert np.array_equal(np.sort(order(X, work)), np.arange(n))
print((getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize(("works", "n"), [(["merge", "quick", "heap", "copeland"], 60_000), (["tournament"], 4000)])
def test_memory_grows_with_documents_and_not_with_pairs(works: list[str], n: int) -> None:
    result = subprocess.run(
        [sys.executable, "-c", RUN.format(works=works, n=n)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parent,
    )  # fmt: skip
    # documents take 128 bytes here, so 8 MB or less; one byte for each pair would be 16 MB of 4,000, 3.6 GB of 60,000
    assert float(result.stdout) < (40 if n == 60_000 else 12)
