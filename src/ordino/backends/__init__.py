"""Where tasks are worked on: this process, several of this machine, or a Ray cluster, all behind one seam."""

from contextlib import AbstractContextManager

from ordino.backends.crew import Crew
from ordino.backends.local import local_backend
from ordino.backends.seam import Backend, Failure


def open_backend(n_jobs: int, cluster: str | None = None) -> Backend:
    """The backend for this many jobs on this machine, or for a cluster at this address."""
    if cluster is None:
        return local_backend(n_jobs)
    from ordino.backends.ray_cluster import RayCluster

    return RayCluster(cluster)


def open_crew(cluster: str, most: int, *, exactly: bool = False) -> AbstractContextManager[Crew]:
    """A crew of at most this many workers on a cluster at this address, or of exactly this many."""
    from ordino.backends.ray_crew import ray_crew

    return ray_crew(cluster, most, exactly=exactly)


__all__ = ["Backend", "Crew", "Failure", "local_backend", "open_backend", "open_crew"]
