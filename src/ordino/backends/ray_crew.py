"""A crew of Ray actors, one for each processor that is free; one that dies is replaced, and its step made again."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, final

from ordino.backends.crew import Bench, Crew
from ordino.backends.ray_cluster import RayCluster, with_files_here
from ordino.backends.seam import ONE_THREAD, Failure
from ordino.errors import DataError, OrdinoError
from ordino.threads import enter_worker

WAIT = 120.0  # seconds that a worker has to begin
SOON = 10.0  # seconds that the death of a worker takes to be noticed
DEATHS = 3  # of one worker in a row, after which it is given up


class _Worker:  # an actor
    """A bench on some machine of the cluster."""

    def __init__(self) -> None:
        from ray.util import get_node_ip_address

        self._bench = Bench(get_node_ip_address())  # type: ignore[no-untyped-call]

    def ready(self) -> None:
        """The worker has begun."""

    def do(self, function: Callable[..., Any], given: Sequence[Any], files: Any, job: str) -> Any:
        """The result of a call, or a failure that names the machine."""
        enter_worker()  # in whatever thread the call comes
        if files:
            try:
                given = [with_files_here(given[0], files, job), *given[1:]]
            except OSError as error:
                why = error.strerror or error
                return Failure(f"its shards cannot be written ({why}) (on {socket.gethostname()})")
        found = self._bench.do(function, given)
        return Failure(f"{found.sentence} (on {socket.gethostname()})") if isinstance(found, Failure) else found

    def clear(self) -> None:
        """Give back what the bench holds."""
        self._bench.clear()


@final
class RayCrew:
    """Actors of a Ray cluster."""

    def __init__(self, address: str, most: int, *, exactly: bool = False) -> None:
        self._cluster = RayCluster(address)
        self._ray, self._address = self._cluster.ray, address
        free = int(self._ray.available_resources().get("CPU", 1))
        self._actors: list[Any] = []
        try:
            n_workers, processors = (most, min(1.0, free / most)) if exactly else (max(1, min(free, most)), 1.0)
            self._actors = self._ready([self._hire(processors) for _ in range(n_workers)])
            if exactly and len(self) < most:
                raise OrdinoError(
                    f"--cluster {address}: {most} shards need as many workers, and only {len(self)} could begin; wait "
                    "for the work of others, or write fewer shards"
                )
        except BaseException:
            self.close()
            raise
        self._told: list[list[tuple[Any, ...]]] = [[] for _ in self._actors]  # lasting calls

    def __len__(self) -> int:
        return len(self._actors)

    def each(
        self, function: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None,
        among: Sequence[int] | None = None, lasting: bool = False, once: bool = False,
    ) -> list[Any]:  # fmt: skip
        """Results in the order of the workers."""
        numbers = list(range(len(self)) if among is None else among)
        calls = []
        for place, _ in enumerate(numbers):
            given = shared if own is None else (own[place], *shared)
            calls.append((function, given, self._cluster.shipped(given[0]) if own is not None else {}))
        under_way = [self._ask(number, call) for number, call in zip(numbers, calls, strict=True)]
        if once:
            self._watch(under_way)
        found = [self._result(*one) for one in zip(numbers, calls, under_way, strict=True)]
        for one in found:
            if isinstance(one, Failure):
                raise DataError(one.sentence)
        if lasting:
            for number, call in zip(numbers, calls, strict=True):
                self._told[number].append(call)
        return found

    def shrink(self, n_workers: int) -> None:
        """Let all but the first workers go."""
        for actor in self._actors[n_workers:]:
            self._ray.kill(actor)
        del self._actors[n_workers:], self._told[n_workers:]

    def close(self) -> None:
        """Let all workers go, and leave the cluster as it was."""
        if self._ray.is_initialized():
            with suppress(Exception):
                self._ray.get([actor.clear.remote() for actor in self._actors], timeout=5)
            for actor in self._actors:
                with suppress(Exception):
                    self._ray.kill(actor)
        self._cluster.close()

    def _watch(self, under_way: Sequence[Any]) -> None:
        """Wait for all, and end at once if one dies or fails, since the others would wait for it."""
        waiting = list(under_way)
        failure: Failure | None = None
        while waiting:
            # one that died may be the reason why another failed, and is heard of a little later
            done, waiting = self._ray.wait(waiting, num_returns=1, timeout=None if failure is None else SOON)
            if not done:
                break
            try:
                found = self._ray.get(done[0])
                failure = found if failure is None and isinstance(found, Failure) else failure
            except self._ray.exceptions.RayError as error:
                raise OrdinoError(
                    f"--cluster {self._address}: a worker died in the middle of a step that all make together "
                    f"({type(error).__name__}); run again"
                ) from None
        if failure is not None:
            raise DataError(failure.sentence)

    def _hire(self, processors: float) -> Any:
        how = {"env_vars": dict.fromkeys(ONE_THREAD, "1")}
        spread: Any = {"num_cpus": processors, "scheduling_strategy": "SPREAD", "runtime_env": how}
        return self._ray.remote(**spread)(_Worker).remote()

    def _ready(self, hired: list[Any]) -> list[Any]:
        """The workers that could begin; those that wait for a processor are let go."""
        answers = {actor.ready.remote(): actor for actor in hired}
        begun, waiting = self._ray.wait(list(answers), num_returns=len(answers), timeout=WAIT)
        for one in waiting:
            self._ray.kill(answers[one])
        if not begun:
            raise OrdinoError(
                f"--cluster {self._address}: no processor became free in {WAIT:g} seconds; wait for the work of others"
            )
        try:
            self._ray.get(begun)
        except self._ray.exceptions.RayError as error:
            raise OrdinoError(
                f"--cluster {self._address}: a worker could not begin ({type(error).__name__}); "
                "is Ordino installed there?"
            ) from None
        return [answers[one] for one in answers if one in begun]

    def _ask(self, number: int, call: tuple[Any, ...]) -> Any:
        return self._actors[number].do.remote(*call, self._cluster.job)

    def _result(self, number: int, call: tuple[Any, ...], reference: Any) -> Any:
        """What a call gave; from another worker, if this one died meanwhile."""
        again: list[Any] = []
        for _ in range(DEATHS):
            try:
                found = self._ray.get([*again, reference])
                return next((one for one in found if isinstance(one, Failure)), found[-1])
            except self._ray.exceptions.RayTaskError as error:
                return Failure(f"a worker could not begin ({type(error.cause).__name__}); is Ordino installed there?")
            except self._ray.exceptions.RayError:
                self._actors[number] = self._hire(0)  # beside another, since the processor may be gone with the machine
                again = [self._ask(number, told) for told in self._told[number]]  # worked on in this order
                reference = self._ask(number, call)
        raise OrdinoError(
            f"--cluster {self._address}: worker {number} died {DEATHS} times in a row, perhaps for lack of memory; "
            "give the cluster more machines, or write more shards, and run again"
        )


@contextmanager
def ray_crew(address: str, most: int, *, exactly: bool = False) -> Iterator[Crew]:
    """A crew of at most this many workers, or of exactly this many, while it is needed."""
    made = RayCrew(address, most, exactly=exactly)
    try:
        yield made
    finally:
        made.close()
