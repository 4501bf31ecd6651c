"""Memory that a request gave back is kept for the next one.

The system's allocator gives the end of its heap back as soon as a few MB are free there, which they are after every
request; the next one then takes a page fault for every 4 KB of it again.
"""

import ctypes
import sys
from contextlib import suppress

TRIM, MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
KEPT = 1 << 26  # bytes at the end of the heap that stay with the process
LARGE = 1 << 25  # from which on bytes are mapped on their own, and given back at once; more is not allowed


def keep_freed_memory() -> None:
    """Let this process keep up to 64 MB of what it gave back; does nothing where the allocator is another one."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # only glibc has it
            allocator = ctypes.CDLL(None)
            allocator.mallopt(TRIM, KEPT)
            allocator.mallopt(MAP, LARGE)
