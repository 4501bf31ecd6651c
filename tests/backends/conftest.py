"""A Ray cluster of two machines, made here."""

import os
import sys

import pytest

STORE = 150_000_000  # bytes of the object store of a machine


@pytest.fixture(scope="module")
def cluster(request):
    """A cluster of two machines with one processor each."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="clusters are tested with ray")
    os.environ["RAY_DISABLE_DOCKER_CPU_WARNING"] = "1"
    made = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False},
    )
    made.add_node(num_cpus=1, object_store_memory=STORE)
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    tests = sys.modules[request.module.__name__]
    cloudpickle.register_pickle_by_value(tests)  # workers cannot import a test's file
    yield made
    cloudpickle.unregister_pickle_by_value(tests)
    made.shutdown()
