"""A Ray that only pretends: its machines are this process, so that what we do with Ray is tested without a cluster.

Work is done when somebody waits for it, the last that was handed out first. Machines of ``nodes`` are alive or not, and
an actor dies where a test says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ordino.backends import ray_cluster, ray_crew


class RayError(Exception):
    """A worker died."""


class RayTaskError(RayError):
    """A worker could not begin."""

    cause = ImportError("no ordino")


class Reference:
    """What will be done, or a value in the object store."""

    def __init__(self, number: int, work: Callable[[], Any]) -> None:
        self._number, self._work, self._done = number, work, list[Any]()

    def hex(self) -> str:
        return f"{self._number:04x}"

    def get(self) -> Any:
        if not self._done:
            self._done.append(self._work())
        return self._done[0]


class Ray(ModuleType):
    """The functions of Ray that we call."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.machines = [("first", True), ("second", True), ("gone", False)]
        self.asked: list[tuple[str, str]] = []
        """Machine and function, of work for one machine."""
        self.free = 2.0
        self.handed_out = 0
        self.before_work: Callable[[], None] = lambda: None
        self.deaths: list[int] = []
        """By the number of its call, counted over all actors: an actor that dies in it."""
        self.calls = 0

    def is_initialized(self) -> bool:
        return True

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_job_id=lambda: "pretended")

    def available_resources(self) -> dict[str, float]:
        return {"CPU": self.free}

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeManagerHostname": name, "NodeID": f"id-{name}", "Alive": alive} for name, alive in self.machines]

    def _reference(self, work: Callable[[], Any]) -> Reference:
        self.handed_out += 1
        return Reference(self.handed_out, work)

    def put(self, value: Any) -> Reference:
        return self._reference(lambda: value)

    def get(self, asked: Any, timeout: float | None = None) -> Any:
        self.before_work()
        return [one.get() for one in asked] if isinstance(asked, list) else asked.get()

    def wait(self, asked: list[Any], num_returns: int = 1, timeout: float | None = None) -> tuple[list[Any], list[Any]]:
        self.before_work()
        return asked[-num_returns:][::-1], asked[:-num_returns]

    def kill(self, actor: Any) -> None:
        actor.die()

    def remote(self, **how: Any) -> Callable[[Any], Any]:
        def made(what: Any) -> Any:
            if isinstance(what, type):
                return SimpleNamespace(remote=lambda: Actor(self, what()))
            machine = getattr(how.get("scheduling_strategy"), "machine", "")

            def hand_out(*given: Any) -> Reference:
                if machine:
                    self.asked.append((machine, what.__name__))
                return self._reference(lambda: what(*given))

            return SimpleNamespace(remote=hand_out)

        return made


class Actor:
    """A worker that stays, until it dies."""

    def __init__(self, ray: Ray, worker: Any) -> None:
        self._ray, self._worker, self.is_dead = ray, worker, False

    def die(self) -> None:
        """Everything that it had is gone."""
        if not self.is_dead:
            self._worker.clear()
        self.is_dead = True

    def __getattr__(self, name: str) -> Any:
        def work(*given: Any) -> Any:
            if name == "do":
                self._ray.calls += 1
                if self._ray.calls in self._ray.deaths:
                    self.die()
            if self.is_dead:
                raise RayError
            return getattr(self._worker, name)(*given)

        return SimpleNamespace(remote=lambda *given: self._ray._reference(lambda: work(*given)))


def pretend(monkeypatch: pytest.MonkeyPatch) -> Ray:
    """From now on Ray is this process."""
    pretended, util, strategies = Ray(), ModuleType("ray.util"), ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda node, soft: SimpleNamespace(machine=node)  # type: ignore[attr-defined]
    util.get_node_ip_address = lambda: "127.0.0.1"  # type: ignore[attr-defined]
    for module in (pretended, util, strategies):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for ours in (ray_cluster, ray_crew):
        monkeypatch.setattr(ours, "enter_worker", lambda: None)
    return pretended
