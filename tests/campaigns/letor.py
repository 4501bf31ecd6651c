"""Mutated LETOR lines: the compiled reader against a slow parser that shares no code with it.

The text ends where readable memory ends, so that reading one byte too far ends the process. Each share of the lines is
read in a process of its own; a process that dies is a crash, a difference between the two parsers a wrong line.

    python tests/campaigns/letor.py [--long] [--record]
"""

import ctypes
import mmap
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns.ledger import Outcome, main
from data.test_letor_fuzz import fuzz_lines
from ordino.arrays import frozen

SHORT, LONG, SHARE = 20_000, 10_020_000, 20_000  # of which some are blank


class Cliff:
    """Memory whose last byte is followed by a page that may not be touched."""

    def __init__(self, size: int) -> None:
        self._size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self._memory = mmap.mmap(-1, self._size + mmap.PAGESIZE)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        if protect(ctypes.c_void_p(self._bytes.ctypes.data + self._size), ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def __call__(self, text: bytes) -> np.ndarray:
        """The text at the end of the memory."""
        room = self._bytes[self._size - len(text) : self._size]
        room[:] = np.frombuffer(text, np.uint8)
        return frozen(room)


def read_share(seed: int, n: int) -> tuple[int, int, str]:
    """Lines read, lines refused, and what went wrong."""
    try:
        return *fuzz_lines(n, seed, Cliff(1 << 22)), ""
    except AssertionError as error:
        return 0, 0, str(error)[:500]


def campaign(long: bool, seed: int = 0) -> Outcome:
    """Read the lines in as many processes as there are processors."""
    n = LONG if long else SHORT
    n_read, n_refused, crashes, wrong = 0, 0, 0, list[str]()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        shares = [pool.submit(read_share, seed * 1_000_000 + i, min(SHARE, n)) for i in range(max(n // SHARE, 1))]
        for share in as_completed(shares):
            try:
                read, refused, problem = share.result()
            except BrokenProcessPool:
                crashes += 1
                break
            n_read, n_refused = n_read + read, n_refused + refused
            if problem:
                wrong.append(problem)
    return Outcome(
        "LETOR reader",
        tried=f"{n_read + n_refused:,} mutated lines at the edge of readable memory ({n_read:,} valid)",
        failures={"crashes": crashes, "wrong": len(wrong)},
        problems=wrong,
    )


if __name__ == "__main__":
    main(campaign)
