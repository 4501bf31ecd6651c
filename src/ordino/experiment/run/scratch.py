"""A folder for the time of a run, in the place for temporary files.

A process that is killed cannot clean up, so the next run does it: each folder has a file that its owner keeps locked,
and the system takes the lock away from whoever dies.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

fcntl: Any = None
with suppress(ImportError):  # Windows has no such locks: there, what a killed run leaves behind stays
    fcntl = import_module("fcntl")

PREFIX = "ordino-run-"
_LOCK = "owner.lock"
SECONDS_TO_LOCK = 60  # after which a folder that nobody has locked is nobody's


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder that is removed at the end, or by the next run if this one is killed."""
    _remove_abandoned()
    with TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with (folder / f".{_LOCK}").open("wb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / f".{_LOCK}").rename(folder / _LOCK)  # nobody sees the file before it is locked
            yield folder


def _remove_abandoned() -> None:
    """Remove the folders of processes that are gone."""
    if fcntl is None:  # pragma: no cover
        return
    place = Path(gettempdir())
    for lock in place.glob(f"{PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("rb") as file:  # another user's, one in use, or one that is just going
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.stat().st_uid == os.getuid():
                shutil.rmtree(lock.parent, ignore_errors=True)
    for folder in place.glob(f"{PREFIX}*"):  # killed before it had its lock, or while it was being removed
        with suppress(OSError):
            found = folder.stat()
            is_old = time.time() - found.st_mtime > SECONDS_TO_LOCK
            if is_old and found.st_uid == os.getuid() and not (folder / _LOCK).exists():
                shutil.rmtree(folder, ignore_errors=True)
