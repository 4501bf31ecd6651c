"""Documents with their scores, as files: scores alone, a TREC run, or the input with rank and score beside it."""

from __future__ import annotations

import gzip
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.arrow import written_whole
from ordino.data.dataset import Dataset
from ordino.data.files import ENDINGS, write_table
from ordino.data.frames import to_frame
from ordino.data.trec import run_text
from ordino.errors import DataError, unknown_name

FORMATS = ("scores", "trec", "rows")


def ranks(data: Dataset, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each document in its query, from 1, in the caller's row order; equal scores keep row order.

    Examples
    --------
    >>> data = Dataset([[0.0]] * 4, [0] * 4, qid=["a", "b", "a", "b"])
    >>> ranks(data, np.array([1.0, 5.0, 2.0, 5.0])).tolist()
    [2, 1, 1, 2]
    """
    inside = scores if data.order is None else scores[data.order]
    query = np.repeat(np.arange(data.n_queries), data.counts)
    order = np.lexsort((-inside, query))
    found = np.empty(data.n_docs, np.int64)
    found[order] = np.arange(data.n_docs) - np.repeat(data.offsets[:-1], data.counts) + 1
    return data.restore(found)


def format_of(path: str) -> str:
    """What the ending of a file to write stands for; "-" and any other ending mean scores.

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

    Parameters
    ----------
    form
        ``scores`` (a number a line), ``trec`` (a run, best first) or ``rows`` (the input with rank and score); what the
        ending means if None.
    table
        The Arrow table that the data came from, if it did, so that ``rows`` keeps all its columns.
    """
    form = format_of(path) if form is None else form
    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
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
    else:
        content = (run_text(data, scores) if form == "trec" else _score_lines(scores)).encode()
    if path == "-":
        sys.stdout.buffer.write(content)
        return
    with written_whole(Path(path)) as part:
        part.write_bytes(gzip.compress(content, mtime=0) if path.lower().endswith(".gz") else content)


def _ending(path: str) -> str:
    """What the name ends in, ``.gz`` aside."""
    return Path(path.lower().removesuffix(".gz")).suffix


def _score_lines(scores: NDArray[np.float64]) -> str:
    return "\n".join(map(repr, scores.tolist())) + "\n" if len(scores) else ""


def _letor_lines(data: Dataset, scores: NDArray[np.float64]) -> bytes:
    """LETOR text whose comments tell rank and score."""
    from ordino.data.letor_write import write_letor

    text = BytesIO()
    write_letor(data, text)
    lines = text.getvalue().splitlines()
    return b"".join(
        b"%s%s rank = %d score = %r\n" % (line, b"" if b" #docid" in line else b" #", rank, score)
        for line, rank, score in zip(lines, ranks(data, scores).tolist(), scores.tolist(), strict=True)
    )
