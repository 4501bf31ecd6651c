"""Collections with the shape of LETOR's."""

import numpy as np
import pytest

from ordino import synthetic
from ordino.data.folds import make_folds, write_folds


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Folds with the shape of LETOR's, small: TD2003 and TD2004 with 44 features, MQ2008 with 46."""
    root = tmp_path_factory.mktemp("collections")
    for name, kind in (("TD2003", "td"), ("TD2004", "td"), ("MQ2008", "mq2008")):
        data = synthetic(kind, queries=10, docs=20, seed=3)
        best = np.argsort(-data.X[:, 1]) < 60  # scattered, and in every query
        write_folds(make_folds(data.replace(y=best.astype(float)), 5), root / name)
    return root
