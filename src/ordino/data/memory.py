"""How much memory a process may still take: what the machine has free, and what its container allows."""

import os
from contextlib import suppress
from pathlib import Path

UNKNOWN = 1 << 40
_CONTAINER = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def free_memory(machine: Path = Path("/proc/meminfo"), container: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be taken without swapping; where nobody tells, the memory of the machine."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        [line] = [line for line in machine.read_text().splitlines() if line.startswith("MemAvailable:")]
        found.append(int(line.split()[1]) * 1024)
    for limit, used in _CONTAINER:
        with suppress(OSError, ValueError):  # the limit is "max" where there is none
            found.append(int((container / limit).read_text()) - int((container / used).read_text()))
    if not found:
        with suppress(AttributeError, OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return max(min(found, default=UNKNOWN), 0)
