"""Score files: one number a line, in the order of the documents they belong to."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ordino.errors import DataError


def read_scores(path: str | Path, *, n_docs: int | None = None) -> NDArray[np.float64]:
    """Scores from a text file with one number a line; blank lines and lines that start with ``#`` are passed over.

    A line may hold more columns (RankLib writes ``qid  number  score``): the last one is the score.

    Parameters
    ----------
    n_docs
        How many scores there must be, if that is known.
    """
    scores: list[float] = []
    with Path(path).open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            scores.append(_score(words[-1], f"{path}:{number}"))
    if n_docs is not None and len(scores) != n_docs:
        raise DataError(f"{path}: {len(scores)} scores for {n_docs} documents; write one line for each document")
    return np.array(scores, dtype=np.float64)


def write_scores(scores: NDArray[np.float64], path: str | Path) -> None:
    """Write one score a line, with as many digits as it takes to read the same numbers back."""
    Path(path).write_text("".join(f"{score!r}\n" for score in scores.tolist()), encoding="ascii")


def _score(word: str, where: str) -> float:
    try:
        score = float(word)
    except ValueError:
        raise DataError(f"{where}: {word!r} is not a number; write one score a line") from None
    if math.isnan(score):
        raise DataError(f"{where}: NaN cannot be ranked; write a number")
    return score
