"""A service in this process, with small models."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from starlette.testclient import TestClient

from ordino import Dataset, RankNet
from ordino.layers import Layer
from ordino.serve.app import Setup, make_app
from ordino.serve.log import make_log
from ordino.serve.metrics import Metrics
from ordino.serve.settings import Limits
from ordino.serve.spool import Spool
from ordino.web.address import Address

NAMES = ["bm25", "age", "clicks"]
LOCAL = "http://127.0.0.1:8080"


def small_data(n_features=3, names=NAMES):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, n_features)).astype(np.float32)
    y = (X[:, 0] > X[:, -1]).astype(float) + (X[:, 0] > 1)
    return Dataset(X, y, np.repeat(np.arange(6), 10), feature_names=names)


def network(n_features, hidden, names=None, seed=0):
    """A network with any weights: nothing is compiled for it."""
    rng, widths = np.random.default_rng(seed), [n_features, *hidden, 1]
    ranker = RankNet(hidden=tuple(hidden), scaling=None)
    ranker.scaler_, ranker.n_features_in_, ranker.n_queries_in_, ranker.longest_query_in_ = None, n_features, 1, 100
    if names is not None:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    ranker.layers_ = [
        Layer(rng.normal(size=(m, n)).astype(np.float32) / m, rng.normal(size=n).astype(np.float32))
        for m, n in pairwise(widths)
    ]
    return ranker


class Served:
    """A service in this process: its client, its log, and the spool, which looks at the files when it is told to."""

    def __init__(self, folder, files, **settings):
        self.lines = []
        spooled = folder / "spool"
        spooled.mkdir()
        self.metrics = Metrics(spooled, tuple(files))
        log = make_log(False, self.lines.append)
        self.spool = Spool(spooled, files, log, self.metrics.note_reload)
        self.spool.fill()
        setup = {"limits": Limits(), "hosts": Address().hosts, "quiet": True, **settings}
        self.app = make_app(Setup(spooled, tuple(files), **setup))
        self.client = TestClient(self.app, base_url=LOCAL, raise_server_exceptions=False)


@contextmanager
def service(folder, files, **settings):
    served = Served(folder, files, **settings)
    with served.client:
        yield served
