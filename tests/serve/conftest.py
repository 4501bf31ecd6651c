"""A service with a few small models."""

from pathlib import Path

import pytest

import ordino
from ordino import LambdaMART, LinearRegressionRanker
from serving import NAMES, network, service, small_data


@pytest.fixture(scope="session")
def model_files(tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("models"), small_data()
    rankers = {
        "linear": LinearRegressionRanker().fit(data),
        "trees": LambdaMART(rounds=3, min_leaf=2, seed=0).fit(data),
        "net": network(3, [4, 2], NAMES),
        "unnamed": LinearRegressionRanker().fit(small_data(names=None)),
    }
    for name, ranker in rankers.items():
        ordino.save(ranker, folder / f"{name}.ordino")
    return {name: Path(folder, f"{name}.ordino") for name in rankers}


@pytest.fixture(scope="module")
def served(tmp_path_factory, model_files):
    with service(tmp_path_factory.mktemp("service"), model_files) as found:
        yield found


@pytest.fixture(scope="module")
def client(served):
    return served.client
