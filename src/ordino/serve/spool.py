"""Copies of the model files that nobody else writes to, watched and published by the first process.

A model file may be replaced, or overwritten in place, at any time. So each version that loads and scores is copied into
a private folder, under a name that is never used again; all processes map this copy, whose memory they share. The index
names the newest copy of each model and is replaced in one step. A file that does not load changes nothing but the log.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import orjson

from ordino.errors import OrdinoError
from ordino.serve.model import load_model

INDEX = "index.json"
EVERY = 0.5  # seconds between two looks at the files
KEPT = 2  # copies of a model: the newest, and the one that a process may be about to open
Log = Callable[..., None]


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file was written: time, size and number; None if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@final
@dataclass
class Spool:
    """The folder of copies."""

    folder: Path
    files: Mapping[str, Path]
    log: Log
    counted: Callable[[str, str], None]
    """Counts a reload that was made or failed, by model."""
    index: dict[str, Any] = field(default_factory=dict)
    stamps: dict[str, Any] = field(default_factory=dict)
    copies: int = 0

    def fill(self) -> None:
        """Copy every model for the first time; one that does not load is an error."""
        for name in self.files:
            self.stamps[name] = stamp_of(self.files[name])
            self._take(name)
        self._publish()

    def look(self) -> None:
        """Take what has changed."""
        for name, path in self.files.items():
            stamp = stamp_of(path)
            if stamp is None or stamp == self.stamps[name]:
                continue
            self.stamps[name] = stamp
            try:
                is_new = self._take(name)
            except (OrdinoError, OSError) as error:
                self.log("reload failed", level="error", model=name, error=str(error))
                self.counted("failed", name)
                continue
            if is_new:
                self._publish()
                self.log("reload", model=name, version=self.index[name]["version"])
                self.counted("made", name)

    def _take(self, name: str) -> bool:
        """Copy a file and try the copy; whether it is another model than before."""
        content = _read(self.files[name])
        version = sha256(content).hexdigest()[:12]
        if version == self.index.get(name, {}).get("version"):
            return False
        self.copies += 1
        copy = self.folder / f"{name}.{self.copies}.ordino"
        copy.write_bytes(content)
        copy.chmod(0o400)
        when = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        try:
            load_model(name, copy, version, when)
        except OrdinoError as error:
            copy.unlink()
            raise OrdinoError(str(error).replace(str(copy), str(self.files[name]))) from None
        before = self.index.get(name, {}).get("copies", [])
        for old in before[: 1 - KEPT]:
            (self.folder / old).unlink(missing_ok=True)
        copies = [*before[1 - KEPT :], copy.name]
        self.index[name] = {"file": copy.name, "version": version, "loaded": when, "copies": copies}
        return True

    def _publish(self) -> None:
        part = self.folder / f".{INDEX}"
        part.write_bytes(orjson.dumps(self.index))
        part.replace(self.folder / INDEX)

    def watch(self) -> Callable[[], None]:
        """Look at the files again and again in a thread of its own; the function that ends it."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.wait(EVERY):
                self.look()

        thread = threading.Thread(target=run, daemon=True, name="spool")
        thread.start()

        def end() -> None:
            is_over.set()
            thread.join(timeout=10)

        return end


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OrdinoError(f"{path}: the file cannot be read ({error.strerror}); check its path") from None
