"""Judgments and runs in TREC's two text formats, joined the way trec_eval joins them.

``qid 0 docno relevance`` is a line of judgments (qrels), ``qid Q0 docno rank score tag`` a line of a run. Both become
dictionaries ``{qid: {docno: value}}``, the form that pytrec_eval, ir_measures and ranx use too.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.arrow import opened_whole
from ordino.data.columns import as_column
from ordino.data.dataset import Dataset
from ordino.errors import DataError

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Value = TypeVar("Value", int, float)


class Judged(NamedTuple):
    """A run with its judgments, row by row: what ``evaluate`` takes. Score -inf means: judged but not retrieved."""

    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]


def read_qrels(path: str | Path) -> Qrels:
    """Read judgments: lines ``qid 0 docno relevance``, plain or gzipped.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "qrels.txt")
    ...     _ = file.write_text("301 0 d7 2" + chr(10) + "301 0 d9 0")
    ...     read_qrels(file)
    {'301': {'d7': 2, 'd9': 0}}
    """
    return _read(path, "qid 0 docno relevance", 3, int, "a whole number")


def read_run(path: str | Path) -> Run:
    """Read a run: lines ``qid Q0 docno rank score tag``, plain or gzipped.

    Only the score orders the documents, as in trec_eval; the rank is ignored.
    """
    return _read(path, "qid Q0 docno rank score tag", 4, _finite, "a finite number")


def join_run(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]], *, complete: bool = False
) -> Judged:
    """Join a run with its judgments by the conventions of trec_eval.

    - A retrieved document without a judgment has label 0; so has one judged below 0 (spam).
    - A judged document that was not retrieved is appended with score ``-inf``: ``evaluate`` counts it among the
      relevant ones (recall, average precision, the ideal order) but gives it no rank.
    - Queries without judgments are left out, and so are judged queries that the run does not have, unless
      ``complete`` (trec_eval's ``-c``): then they have unretrieved documents only, and every measure is 0.
    - The rows of a query are sorted by score, in single precision as trec_eval has it, then by docno. trec_eval takes
      the last docno first among equal scores, and so does the profile "trec".

    Examples
    --------
    >>> judged = join_run({"q": {"a": 1, "b": 2}}, {"q": {"a": 0.5, "c": 0.75}})
    >>> judged.doc_ids.tolist(), judged.y.tolist(), judged.scores.tolist()
    (['c', 'a', 'b'], [0.0, 1.0, 2.0], [0.75, 0.5, -inf])
    """
    wanted = [qid for qid in qrels if complete or qid in run]
    if not wanted:
        raise DataError("the run has none of the judged queries; compare the query ids of the two files")
    rows: list[tuple[str, str, float, float]] = []  # qid, docno, score, label
    for qid in wanted:
        judged, retrieved = qrels[qid], run.get(qid, {})
        single = dict(zip(retrieved, np.array(list(retrieved.values()), np.float32).tolist(), strict=True))
        ranked = sorted(single, key=lambda docno: (-single[docno], docno))
        rows += [(qid, docno, retrieved[docno], max(judged.get(docno, 0), 0)) for docno in ranked]
        rows += [(qid, docno, -math.inf, max(label, 0)) for docno, label in judged.items() if docno not in retrieved]
    qids, docnos, scores, labels = zip(*rows, strict=True)
    return Judged(np.array(labels, np.float64), np.array(scores), np.array(qids), np.array(docnos))


def write_run(dataset: Dataset, scores: ArrayLike, path: str | Path, tag: str = "ordino") -> None:
    """Write scores, in the caller's row order, as a TREC run, each query best first; equal scores keep their row order.

    Without document ids a document is called by its row number in the caller's order, from 0. An ending ``.gz``
    compresses. ``tag`` is the name of the run, one word.
    """
    with opened_whole(path) as file:
        file.write(run_text(dataset, scores, tag).encode())


def run_text(dataset: Dataset, scores: ArrayLike, tag: str = "ordino") -> str:
    """The lines that :func:`write_run` writes."""
    rows = np.arange(dataset.n_docs) if dataset.order is None else dataset.order
    values = as_column("scores", scores, dataset.n_docs, "score")[rows]
    docnos = rows if dataset.doc_ids is None else dataset.doc_ids
    lines: list[str] = []
    for q, (start, stop) in enumerate(pairwise(dataset.offsets)):
        qid = _word("query id", dataset.query_ids[q])
        for rank, row in enumerate(start + np.argsort(-values[start:stop], kind="stable"), 1):
            docno = _word("document id", docnos[row])
            lines.append(f"{qid} Q0 {docno} {rank} {float(values[row])!r} {_word('tag', tag)}\n")
    return "".join(lines)


def _word(kind: str, value: object) -> str:
    text = str(value)
    if len(text.split()) != 1 or text != text.strip():
        raise DataError(f"the {kind} {text!r} is not one word; a TREC run has words between spaces")
    return text


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError
    return value


def _read(
    path: str | Path, form: str, at: int, convert: Callable[[str], Value], kind: str
) -> dict[str, dict[str, Value]]:
    """The values at one place of the lines, by query and document."""
    table: dict[str, dict[str, Value]] = {}
    for where, words in _lines(path, form):
        documents, docno = table.setdefault(words[0], {}), words[2]
        if docno in documents:
            raise DataError(f"{where}: query {words[0]} has document {docno} already; keep one of the two lines")
        try:
            documents[docno] = convert(words[at])
        except ValueError:
            raise DataError(f"{where}: {form.split()[at]} {words[at]!r} is not {kind}") from None
    return table


def _lines(path: str | Path, form: str) -> Iterator[tuple[str, list[str]]]:
    """Each line that is not blank as ``file:line`` and its words, which must be those of the form."""
    path = Path(path)
    n_words = len(form.split())
    try:
        with path.open("rb") as probe:
            zipped = probe.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                words = line.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split()
                if words and len(words) != n_words:
                    raise DataError(f"{path}:{number}: {len(words)} words instead of {n_words}; write: {form}")
                if words:
                    yield f"{path}:{number}", words
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error}); check that it is complete") from None
