"""The same tasks on a Ray cluster: plain Ray tasks, one processor each, and nothing else of Ray.

Files that tasks read stay where they are if every machine sees their folder. If not, they go to Ray's object store
once, when the first task that names them is handed out, and a machine that lacks them keeps a copy for all its workers.
A task whose worker or machine dies is run once more elsewhere.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, final

from ordino.backends.seam import ONE_THREAD, Failure, R, T, attempt
from ordino.data.arrow import write_whole
from ordino.errors import OrdinoError, import_extra
from ordino.threads import enter_worker

RETRIES = 1  # of a task whose worker died
PATIENCE = 5.0  # seconds that an address has to answer
TOGETHER = 1000  # tasks that are handed out before the first is done
MUST_AGREE = ("ordino", "numpy", "scipy", "numba", "lightgbm")
"""Packages whose versions decide what a trial gives, down to the last bit."""


@final
class RayCluster:
    """A Ray cluster, at ``host:port`` or, for "auto", the one that this machine belongs to."""

    def __init__(self, address: str) -> None:
        self.ray: Any = import_extra("ray", extra="cluster", purpose=f"--cluster {address}")
        self._address = address
        self._is_ours = not self.ray.is_initialized()
        if self._is_ours:
            self._connect()
        self._files: dict[Path, Any] = {}  # in the object store
        self._is_shared: dict[Path, bool] = {}  # folders, and whether every machine sees them
        self._under_way: dict[Any, int] = {}
        self.job = self.ray.get_runtime_context().get_job_id()
        try:
            self._check_nodes()
        except BaseException:
            self.close()
            raise
        one_thread = {"env_vars": dict.fromkeys(ONE_THREAD, "1")}
        self._work = self.ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=one_thread)(_work)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The results as they come."""
        number, under_way = 0, self._under_way
        while number < len(tasks) or under_way:
            while number < len(tasks) and len(under_way) < TOGETHER:
                task = tasks[number]
                under_way[self._work.remote(function, task, self.shipped(task), self.job)] = number
                number += 1
            done, _ = self.ray.wait(list(under_way), num_returns=1)
            for reference in done:
                finished = under_way.pop(reference)
                yield finished, self._result(reference, tasks[finished])

    def close(self) -> None:
        """Stop what is under way, and leave the cluster as it was."""
        ray = self.ray
        if not ray.is_initialized():
            return
        for reference in self._under_way:
            with suppress(Exception):
                ray.cancel(reference, force=True)
        if self._files:
            with suppress(Exception):  # a node that is gone has nothing to clean up
                removed = [one.remote(self.job) for one in self._on_every_node(_forget).values()]
                ray.get(removed, timeout=PATIENCE)
        self._files.clear()
        if self._is_ours:
            ray.shutdown()

    def _connect(self) -> None:
        where = f"--cluster {self._address}"
        if self._address != "auto":
            _knock(self._address, where)
        try:
            self.ray.init(self._address, log_to_driver=False, logging_level="ERROR", namespace="ordino")
        except ConnectionError:
            raise OrdinoError(f"{where}: no Ray cluster runs there; start one with `ray start --head`") from None
        except Exception as error:
            reason = " ".join(str(error).split())
            raise OrdinoError(f"{where}: Ray does not let us in ({reason}); check its version and address") from None

    def _check_nodes(self) -> None:
        """Refuse machines on which the same task could give something else, before anything runs."""
        ours, found = _versions(), self._on_every_node(_versions)
        if not found:
            raise OrdinoError(f"--cluster {self._address}: no machine of the cluster is alive; start one")
        for name, probe in found.items():
            try:
                theirs: Mapping[str, str] = self.ray.get(probe.remote(), timeout=60)
            except Exception as error:
                if name not in self._on_every_node(_versions):
                    continue  # it died meanwhile; others will do its work
                raise OrdinoError(
                    f"--cluster {self._address}: machine {name} cannot run Ordino ({type(error).__name__}); "
                    "install the same version there"
                ) from None
            if theirs != ours:
                differ = ", ".join(f"{one} {theirs.get(one)} there, {ours[one]} here" for one in ours
                                   if theirs.get(one) != ours[one])  # fmt: skip
                raise OrdinoError(
                    f"--cluster {self._address}: machine {name} has {differ}; results would not be the same: "
                    "install the same versions"
                )

    def _on_every_node(self, function: Callable[..., Any]) -> dict[str, Any]:
        """A task for each machine that is alive, by the machine's name."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {
            f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})": self.ray.remote(
                num_cpus=0,
                max_retries=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )(function)
            for node in self.ray.nodes()
            if node["Alive"]
        }

    def shipped(self, task: Any) -> dict[Path, Any]:
        """The files of a task that some machine does not see, as objects of the cluster; each goes there once."""
        paths = [Path(path) for path in getattr(task, "files", {}).values()]
        for folder in {path.parent for path in paths} - self._is_shared.keys():
            seen = [probe.remote(folder) for probe in self._on_every_node(_sees).values()]
            self._is_shared[folder] = all(self.ray.get(seen))
        missing = [path for path in paths if not self._is_shared[path.parent]]
        for path in missing:
            if path not in self._files:
                self._files[path] = self.ray.put(path.read_bytes())
        return {path: self._files[path] for path in missing}

    def _result(self, reference: Any, task: object) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:  # what the task itself raises comes back as a failure
            return Failure(
                f"{task}: a worker could not begin it ({type(error.cause).__name__}); is Ordino installed there?"
            )
        except self.ray.exceptions.RayError as error:
            why = f"its worker died twice ({type(error).__name__}), perhaps for lack of memory"
            return Failure(f"{task}: {why}; run again to try it once more")


def _work(function: Callable[[Any], Any], task: Any, files: Mapping[Path, Any], job: str) -> Any:
    """In a worker: the result of a task, or a failure that names the machine."""
    enter_worker()
    try:
        task = with_files_here(task, files, job)
    except OSError as error:
        return Failure(f"{task}: its data cannot be written on {socket.gethostname()} ({error.strerror or error})")
    found = attempt(function, task)
    return Failure(f"{found.sentence} (on {socket.gethostname()})") if isinstance(found, Failure) else found


def with_files_here(task: Any, files: Mapping[Path, Any], job: str) -> Any:
    """The task with paths that this machine has; what is missing comes from the object store, once for all workers."""
    missing = [path for path in files if not path.exists()]
    if not missing:
        return task
    import ray

    folder = _folder(job)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    here: dict[Path, Path] = {}
    for path in missing:
        here[path] = folder / f"{files[path].hex()}{path.suffix}"
        if not here[path].exists():
            write_whole(here[path], ray.get(files[path]))
    return replace(task, files={part: here.get(Path(path), path) for part, path in task.files.items()})


def _sees(folder: Path) -> bool:
    """In a worker: whether this machine has a folder."""
    return folder.is_dir()


def _forget(job: str) -> None:
    """In a worker: remove what this machine kept for a job."""
    shutil.rmtree(_folder(job), ignore_errors=True)


def _folder(job: str) -> Path:
    return Path(tempfile.gettempdir(), f"ordino-cluster-{os.getuid()}-{job}")


def _versions() -> dict[str, str]:
    """What decides results on this machine."""
    return {"python": python_version()} | {name: version(name) for name in MUST_AGREE}


def _knock(address: str, where: str) -> None:
    """Refuse an address at which nobody listens, since Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        raise OrdinoError(f"{where}: an address is HOST:PORT, or auto for the cluster of this machine")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise OrdinoError(
            f"{where}: nobody answers there ({error.strerror or error}); start one with `ray start --head`"
        ) from None
