"""Run an application with uvicorn: in one process or several, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ordino.errors import OrdinoError, import_extra
from ordino.web.address import BACKLOG
from ordino.web.answers import App

GRACE = 30  # seconds that requests under way have after a signal to stop
LOOK = 1.0  # seconds between two looks for the process that started this one


def check_extra(extra: str, purpose: str, *packages: str) -> None:
    """Refuse in one sentence to start without the packages of an extra."""
    for package in ("starlette", "uvicorn", *packages):
        import_extra(package, extra=extra, purpose=purpose)


def run(make_app: Callable[[], App], listening: socket.socket, *, processes: int = 1, grace: int = GRACE) -> None:
    """Answer requests until a signal comes; those under way are finished, for ``grace`` seconds at most.

    With several processes, ``make_app`` is called in each, so that it must be a function of a module, or a
    ``functools.partial`` of one. A process that dies is started anew.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    class Server(uvicorn.Server):
        """One process; the signal that ended it is not raised again, because it did what it should."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            with super().capture_signals():
                yield
                self._captured_signals.clear()

    settings: dict[str, Any] = {
        "factory": True,
        "workers": processes,
        "backlog": BACKLOG,
        "log_config": None,
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "ws": "none",
        "lifespan": "on",
        "timeout_keep_alive": 75,
        "timeout_graceful_shutdown": grace,
        "timeout_worker_healthcheck": 60,  # of a process that is busy, or still loads its models
        "h11_max_incomplete_event_size": 64 << 10,
    }
    if processes == 1:
        server = Server(uvicorn.Config(make_app, **settings))
        server.run(sockets=[listening])
        if not server.started:
            raise OrdinoError("the server could not start; see the line above")
        return
    followed = partial(_followed, make_app, os.getpid())
    Multiprocess(uvicorn.Config(followed, **settings), sockets=[listening]).run()


def _followed(make_app: Callable[[], App], parent: int) -> App:
    """Make the application in a process that ends when the one that started it is gone."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=look, daemon=True, name="parent").start()
    return make_app()
