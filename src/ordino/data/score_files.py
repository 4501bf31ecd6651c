"""Scores of documents as files: one number per line in and out, a TREC run, or the input with rank and score."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice
from ordino.data.arrow import opened_whole
from ordino.data.dataset import Dataset
from ordino.data.files import ENDINGS, write_table
from ordino.data.frames import to_frame
from ordino.data.trec import run_text
from ordino.errors import DataError

FORMATS: Mapping[str, str] = MappingProxyType(
    {"scores": "one score per line", "trec": "a TREC run, best first", "rows": "the input with rank and score"}
)
"""What can be written, by name."""


def read_scores(path: str | Path, *, n_docs: int | None = None) -> NDArray[np.float64]:
    """Scores from a text file with one number per line; blank lines and lines that start with ``#`` are skipped.

    A line may hold more columns (RankLib writes ``qid  number  score``): the last one is the score. ``n_docs`` is the
    number of scores that there must be, if it is known.
    """
    scores: list[float] = []
    with Path(path).open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                score = float(words[-1])
            except ValueError:
                raise DataError(f"{path}:{number}: {words[-1]!r} is not a number; write one score per line") from None
            if math.isnan(score):
                raise DataError(f"{path}:{number}: NaN cannot be ranked; write a number")
            scores.append(score)
    if n_docs is not None and len(scores) != n_docs:
        raise DataError(f"{path}: {len(scores)} scores for {n_docs} documents; write one line for each document")
    return np.array(scores, dtype=np.float64)


def ranks(data: Dataset, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each document in its query, from 1, in the caller's row order; equal scores keep row order.

    Examples
    --------
    >>> data = Dataset([[0.0]] * 4, [0] * 4, qid=["a", "b", "a", "b"])
    >>> ranks(data, np.array([1.0, 5.0, 2.0, 5.0])).tolist()
    [2, 1, 1, 2]
    """
    inside = scores if data.order is None else scores[data.order]
    order = np.lexsort((-inside, data.query_number))
    found = np.empty(data.n_docs, np.int64)
    found[order] = np.arange(data.n_docs) - np.repeat(data.offsets[:-1], data.counts) + 1
    return data.restore(found)


def format_of(path: str) -> str:
    """The format that the ending of a file to write stands for; "-" and other endings mean scores.

    Examples
    --------
    >>> [format_of(path) for path in ("s.txt", "bm25.run", "ranked.csv", "ranked.letor", "-")]
    ['scores', 'trec', 'rows', 'rows', 'scores']
    """
    ending = _ending(path)
    if ending in (".run", ".trec"):
        return "trec"
    return "rows" if ending in ENDINGS and ending != ".txt" else "scores"


def write_ranked(
    data: Dataset, scores: NDArray[np.float64], path: str, *, form: str | None = None, table: Any = None
) -> None:
    """Write scores, given in the caller's row order, to a file or to standard output ("-").

    ``form`` is a name in :data:`FORMATS`, by default the format that the ending stands for. ``table`` is the Arrow
    table that the data came from, if it did, so that ``rows`` keeps all its columns.
    """
    form = format_of(path) if form is None else check_choice("format", form, FORMATS)
    is_table = ENDINGS.get(_ending(path), "letor") != "letor"
    if form == "rows" and (is_table or (table is not None and path == "-")):
        columns = to_frame(data, "pyarrow") if table is None else table
        for name, values in (("rank", ranks(data, scores)), ("score", scores)):
            if name in columns.column_names:
                raise DataError(f"there is a column {name!r} already; rename it, or write --format scores")
            columns = columns.append_column(name, [values])
        write_table(columns, path)
        return
    if form == "rows":
        content = _letor_lines(data, scores)
    elif form == "trec":
        content = run_text(data, scores).encode()
    else:
        content = "".join(f"{score!r}\n" for score in scores.tolist()).encode()
    with opened_whole(sys.stdout.buffer if path == "-" else path) as file:
        file.write(content)


def _ending(path: str) -> str:
    """The ending of the name, ``.gz`` aside."""
    return Path(path.lower().removesuffix(".gz")).suffix


def _letor_lines(data: Dataset, scores: NDArray[np.float64]) -> bytes:
    """LETOR text with rank and score in the comments."""
    from ordino.data.letor_write import write_letor

    text = BytesIO()
    write_letor(data, text)
    rows = zip(text.getvalue().splitlines(), ranks(data, scores).tolist(), scores.tolist(), strict=True)
    return b"".join(
        b"%s%s rank = %d score = %r\n" % (line, b"" if b" #docid" in line else b" #", rank, score)
        for line, rank, score in rows
    )
