"""Structured log lines: one JSON object a line on standard error, with the id of the request."""

import itertools
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

import orjson

LEVELS = ("info", "error")
_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def make_log(quiet: bool, write: Callable[[str], object] | None = None) -> Callable[..., None]:
    """A function that writes a line about an event; if ``quiet``, errors only."""

    def log(event: str, *, level: str = "info", **facts: Any) -> None:
        if quiet and level == "info":
            return
        line = {"time": f"{datetime.now(UTC).isoformat(timespec='milliseconds')[:-6]}Z", "level": level, "event": event}
        (write or sys.stderr.write)(orjson.dumps(line | facts, default=str).decode() + "\n")

    return log


def make_ids() -> Callable[[str], str]:
    """A function that keeps the id which a client gave, if it is a plain one, and makes one otherwise."""
    start, numbers = token_hex(6), itertools.count(1)

    def id_of(given: str) -> str:
        return given if _ID.fullmatch(given) else f"{start}-{next(numbers):x}"

    return id_of
