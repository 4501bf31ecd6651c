"""Pages of libraries that a process has no more use for are given back."""

import mmap
import sys
from pathlib import Path

import pytest

from ordino.data.on_disk import page_out

SIZE = 1 << 22


def resident(path):
    """Bytes of a file that this process holds."""
    pages, is_found = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        is_found = str(path) in line if "-" in line.split()[0] else is_found
        pages += 1024 * int(line.split()[1]) if is_found and line.startswith("Rss:") else 0
    return pages


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes pages back on request")
def test_pages_of_a_folder_are_given_back_and_read_again(tmp_path):
    given = bytes(range(256)) * (SIZE // 256)
    files = [tmp_path / folder / "library.so" for folder in ("wanted", "other")]
    for file in files:
        file.parent.mkdir()
        file.write_bytes(given)
    with files[0].open("rb") as first, files[1].open("rb") as second:
        wanted, other = (mmap.mmap(one.fileno(), SIZE, prot=mmap.PROT_READ) for one in (first, second))
        assert wanted[:] == other[:] == given
        assert min(map(resident, files)) == SIZE
        page_out("wanted")
        assert resident(files[0]) < SIZE / 4
        assert resident(files[1]) == SIZE
        assert wanted[:] == given
