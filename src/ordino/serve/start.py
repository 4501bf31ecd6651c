"""Start the service: check everything first, then serve until a signal comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ordino.serve.allocation import keep_freed_memory
from ordino.serve.settings import Limits
from ordino.web.address import Address, open_port, url_of
from ordino.web.running import check_extra, run

if TYPE_CHECKING:
    from ordino.serve.app import Setup
    from ordino.web.answers import App

PACKAGES = ("orjson", "simdjson", "msgpack", "httptools")


def check_packages() -> None:
    """Refuse in one sentence to start without the packages of the extra."""
    check_extra("serve", "ordino serve", *PACKAGES)


def serve(
    files: Mapping[str, Path],
    address: Address,
    *,
    limits: Limits,
    processes: int,
    quiet: bool,
    say: Callable[[str], None],
    only_check: bool = False,
) -> None:
    """Serve models until SIGTERM or Ctrl-C; with ``only_check``, load them and stop."""
    check_packages()
    from ordino.serve.app import Setup
    from ordino.serve.log import make_log
    from ordino.serve.metrics import Metrics
    from ordino.serve.spool import Spool

    with TemporaryDirectory(prefix="ordino-serve-") as name:
        folder = Path(name)
        metrics = Metrics(folder, tuple(files))
        spool = Spool(folder, files, make_log(quiet), metrics.note_reload)
        spool.fill()
        for model, entry in spool.index.items():
            say(f"{model}: {files[model]}, version {entry['version']}")
        if only_check:
            return
        with open_port(address) as listening:
            setup = Setup(folder, tuple(files), limits, address.hosts, address.token, quiet)
            many = "one process" if processes == 1 else f"{processes} processes"
            say(f"serving on {url_of(listening)} with {many}; stop with Ctrl-C")
            end = spool.watch()
            try:
                run(partial(app_of_process, setup), listening, processes=processes)
            finally:
                end()


def app_of_process(setup: Setup) -> App:
    """The application, in the process that serves it."""
    from ordino.serve.app import make_app

    keep_freed_memory()
    return make_app(setup)
