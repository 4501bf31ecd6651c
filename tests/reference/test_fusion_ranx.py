"""ranx beside Ordino: reciprocal ranks, inverse square ranks, CombSUM and CombMNZ of lists that lack documents."""

import numpy as np
import pytest

from ordino import Dataset, RankFusion

pytestmark = [
    pytest.mark.slow,  # ranx compiles each of its rules for half a minute
    pytest.mark.filterwarnings("ignore:.*unsafe cast:Warning"),  # of its compiled code
]
METHODS = {"rrf": "rrf", "isr": "isr", "combsum": "sum", "combmnz": "mnz"}


@pytest.fixture(scope="module")
def runs():
    """Two lists of each of five queries without ties, which share some documents."""
    rng = np.random.default_rng(3)
    scores = [float(score) for score in rng.permutation(80).astype(np.float32) / 64]

    def listed(first):
        return {f"d{d}": scores[first + j] for j, d in enumerate(rng.permutation(12)[:8])}

    return {name: {f"q{q}": listed(8 * q + 40 * i) for q in range(5)} for i, name in enumerate(("bm25", "dense"))}


@pytest.mark.parametrize("method", METHODS)
def test_ranx(method, runs):
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    norm = "min-max" if method.startswith("comb") else None
    theirs = ranx.fuse([ranx.Run(run) for run in runs.values()], norm=norm, method=METHODS[method]).to_dict()
    data = Dataset.from_runs(runs)
    ours = RankFusion(method=method).fit(data.replace(y=np.arange(data.n_docs))).predict(data)
    expected = [theirs[q][d] for q, d in zip(data.qid.tolist(), data.doc_ids.tolist(), strict=True)]
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)
