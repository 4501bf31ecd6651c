"""Who scores, and the queue in front of it.

A process has one thread for what takes long, while the loop goes on to take requests and to answer probes. What takes
milliseconds is done by the loop itself: to hand it over, and two threads that want Python's lock, would cost as much
again. More processors are used by more processes.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar, final

from ordino.serve.settings import Limits
from ordino.threads import thread_pool
from ordino.web.answers import RefusedError
from ordino.web.bodies import CLOSE

Result = TypeVar("Result")
AGAIN = {"retry-after": "1"}
SHORT = 1 << 20  # bytes of a body; the memory for longer ones would go back to the system after every request


class LaterError(Exception):
    """What was called at once takes long; it is to be called in the thread."""


@final
class Work:
    """What a process has taken on: requests and the bytes of their bodies."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = thread_pool(1)
        self.taken = 0
        self.bytes = 0

    @contextmanager
    def place(self, told: str) -> Iterator[None]:
        """A place in the queue for a body of this many bytes, before it is read; 503 if there is none."""
        size = min(int(told), self.limits.bytes) if told.isdecimal() and len(told) < 16 else self.limits.bytes
        if self.taken >= self.limits.queue or (self.taken and self.bytes + size > self.limits.waiting_bytes):
            raise RefusedError(503, "the server is busy; try again in a moment", {**AGAIN, **CLOSE})
        self.taken += 1
        self.bytes += size
        try:
            yield
        finally:
            self.taken -= 1
            self.bytes -= size

    async def do(self, work: Callable[[float | None], Result], *, is_quick: bool) -> Result:
        """Call a function: at once if it is quick; else in the thread, with the time until which it may take.

        The answer is 503 if it takes longer. What is called at once gets no time, and raises :class:`LaterError` if it
        finds out that it takes long.
        """
        seconds = self.limits.seconds
        until = time.monotonic() + seconds
        try:
            if is_quick:
                with suppress(LaterError):
                    return work(None)
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self.pool, work, until)
        except TimeoutError:
            raise RefusedError(
                503, f"the answer took more than {seconds:g} seconds; send fewer documents", AGAIN
            ) from None
        except MemoryError:
            raise RefusedError(
                503, "there is not enough memory for this request; send fewer documents", AGAIN
            ) from None

    def close(self) -> None:
        """Let the thread end."""
        self.pool.shutdown(wait=False, cancel_futures=True)
