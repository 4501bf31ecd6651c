"""What can be counted, for Prometheus: ``GET /metrics``.

Each process counts in a small file of its own that it has mapped; whoever is asked adds up the files of all. Those of
processes that are gone still count, so that no counter falls.
"""

import mmap
import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

ROUTES = ("rank", "rerank", "infer", "models", "metrics", "probe", "page", "openapi", "other")
STATUSES = (200, 303, 400, 401, 404, 405, 408, 413, 415, 421, 500, 503)
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
RELOADS = ("made", "failed")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@final
class Metrics:
    """The counters of one process, in a file that the others can add up."""

    def __init__(self, folder: Path, models: Sequence[str]) -> None:
        self.folder = folder
        self.models = tuple(models)
        sizes = {
            "requests": (len(ROUTES), len(STATUSES)),
            "buckets": (len(ROUTES), len(SECONDS) + 1),
            "seconds": (len(ROUTES),),
            "documents": (len(self.models),),
            "reloads": (len(self.models), len(RELOADS)),
            "taken": (1,),
        }
        path = folder / f"metrics.{os.getpid()}"
        self._size = sum(prod(shape) for shape in sizes.values())
        if not path.exists():
            path.write_bytes(bytes(8 * self._size))
        with path.open("r+b") as file:
            values = np.frombuffer(mmap.mmap(file.fileno(), 0), np.float64)
        self._sizes = sizes
        self.mine = self._parts(values)
        """The counters of this process."""

    def _parts(self, values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        parts, start = {}, 0
        for name, shape in self._sizes.items():
            size = prod(shape)
            parts[name] = values[start : start + size].reshape(shape)
            start += size
        return parts

    def note(self, route: str, status: int, seconds: float, model: str | None, documents: int) -> None:
        """Count a request that was answered."""
        mine = self.mine
        at = ROUTES.index(route)
        mine["requests"][at, STATUSES.index(status if status in STATUSES else 500)] += 1
        mine["buckets"][at, int(np.searchsorted(SECONDS, seconds))] += 1
        mine["seconds"][at] += seconds
        if model in self.models:
            mine["documents"][self.models.index(model)] += documents

    def note_reload(self, outcome: str, model: str) -> None:
        """Count a reload."""
        self.mine["reloads"][self.models.index(model), RELOADS.index(outcome)] += 1

    def note_taken(self, n: int) -> None:
        """The number of requests under way in this process."""
        self.mine["taken"][0] = n

    def total(self) -> dict[str, NDArray[np.float64]]:
        """The sums over all processes; those under way are counted in the living ones."""
        whole = np.zeros(self._size)
        taken = 0.0
        for path in self.folder.glob("metrics.*"):
            values = np.fromfile(path, np.float64)
            if values.size == self._size:
                whole += values
                taken += float(values[-1]) if _is_alive(int(path.suffix[1:])) else 0.0
        parts = self._parts(whole)
        parts["taken"][0] = taken
        return parts

    def text(self, versions: dict[str, str]) -> str:
        """All counters as Prometheus reads them."""
        found, lines = self.total(), list[str]()
        _head(lines, "ordino_requests_total", "counter", "Requests that were answered.")
        for i, route in enumerate(ROUTES):
            for j, status in enumerate(STATUSES):
                if n := found["requests"][i, j]:
                    lines.append(f'ordino_requests_total{{route="{route}",status="{status}"}} {n:.0f}')
        _head(lines, "ordino_request_seconds", "histogram", "Time from the first byte to the answer.")
        for i, route in enumerate(ROUTES):
            counts = np.cumsum(found["buckets"][i])
            for bound, n in zip([*map(str, SECONDS), "+Inf"], counts, strict=True):
                lines.append(f'ordino_request_seconds_bucket{{route="{route}",le="{bound}"}} {n:.0f}')
            lines.append(f'ordino_request_seconds_sum{{route="{route}"}} {found["seconds"][i]:.6f}')
            lines.append(f'ordino_request_seconds_count{{route="{route}"}} {counts[-1]:.0f}')
        _head(lines, "ordino_documents_total", "counter", "Documents that were scored.")
        for name, n in zip(self.models, found["documents"], strict=True):
            lines.append(f'ordino_documents_total{{model="{name}"}} {n:.0f}')
        _head(lines, "ordino_reloads_total", "counter", "Changed model files, by whether they could be loaded.")
        for name, row in zip(self.models, found["reloads"], strict=True):
            for outcome, n in zip(RELOADS, row, strict=True):
                lines.append(f'ordino_reloads_total{{model="{name}",outcome="{outcome}"}} {n:.0f}')
        _head(lines, "ordino_requests_under_way", "gauge", "Requests that are waiting or worked on.")
        lines.append(f"ordino_requests_under_way {found['taken'][0]:.0f}")
        _head(lines, "ordino_model_info", "gauge", "The version of each model in the process that answered.")
        lines += [f'ordino_model_info{{model="{name}",version="{told}"}} 1' for name, told in versions.items()]
        return "\n".join(lines) + "\n"


def _head(lines: list[str], name: str, kind: str, text: str) -> None:
    lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, but not ours
        return True
    return True
