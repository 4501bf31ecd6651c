"""Collections with the shape of LETOR's."""

import numpy as np
import pytest

from ordino import synthetic, write_letor
from ordino.data.folds import make_folds


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Folds with the shape of LETOR's, small: TD2003 and TD2004 with 44 features, MQ2008 with 46."""
    root = tmp_path_factory.mktemp("collections")
    for name, kind in (("TD2003", "td2003"), ("TD2004", "td2003"), ("MQ2008", "mq2008")):
        data = synthetic(kind, queries=10, docs=20, seed=3)
        best = np.argsort(-data.X[:, 5]) < 60  # scattered, and in every query
        for fold in make_folds(data.replace(y=best.astype(float)), 5):
            home = root / name / fold.name
            home.mkdir(parents=True)
            for part, rows in (("train", fold.train), ("vali", fold.valid), ("test", fold.test)):
                write_letor(rows, home / f"{part}.txt")
    return root
