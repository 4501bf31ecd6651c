"""Scores and judgments as files: TREC's two text formats, one score per line, and documents with rank and score.

``qid 0 docno relevance`` is a line of judgments (qrels), ``qid Q0 docno rank score tag`` a line of a run. Both become
dictionaries ``{qid: {docno: value}}``, the form that pytrec_eval, ir_measures and ranx use too, and are joined the way
trec_eval joins them.
"""

import lzma
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice
from ordino.data import compressed
from ordino.data.arrow import opened_whole
from ordino.data.columns import as_column
from ordino.data.dataframes import to_frame
from ordino.data.dataset import Dataset
from ordino.data.files import ENDINGS, write_table
from ordino.errors import DataError

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Value = TypeVar("Value", int, float)

_RUN = "qid Q0 docno rank score tag"
FORMATS: Mapping[str, str] = MappingProxyType(
    {"scores": "one score per line", "trec": "a TREC run, best first", "rows": "the input with rank and score"}
)
"""What :func:`write_ranked` can write, by name."""


class Judged(NamedTuple):
    """A run with its judgments, row by row, for ``evaluate``. A score of -inf means judged but not retrieved."""

    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]


def read_qrels(path: str | Path) -> Qrels:
    """Read judgments: lines ``qid 0 docno relevance``, plain or compressed; lines that start with ``#`` are skipped.

    The line ``301 0 d7 2`` becomes ``{"301": {"d7": 2}}``.
    """
    return _read_table(path, "qid 0 docno relevance", 3, int, "a whole number")


def read_run(path: str | Path) -> Run:
    """Read a run: lines ``qid Q0 docno rank score tag``, plain or compressed; lines that start with ``#`` are skipped.

    As in trec_eval, only the score orders the documents; the rank, and words after the tag, are ignored.
    """
    return _read_table(path, _RUN, 4, float, "a finite number", has_more=True)


def is_run(path: str | Path) -> bool:
    """Whether a file looks like a run: ``Q0`` is the second of six words or more in its first line."""
    first = next((words for _, words in _lines(path) if not words[0].startswith("#")), [])
    return len(first) >= 6 and first[1].upper() == "Q0"


def run_lines(path: str | Path) -> Iterator[tuple[str, str, float]]:
    """Query, document and score of each line of a run, one line in memory at a time."""
    names = _RUN.split()
    for where, words in _lines(path):
        if not words[0].startswith("#"):
            yield words[0], words[2], _value(where, words, names, 4, float, "a finite number", has_more=True)


def join_run(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]], *, complete: bool = False
) -> Judged:
    """Join a run with its judgments, as trec_eval does.

    - A retrieved document without a judgment has label 0; so has one judged below 0 (spam).
    - A judged document that was not retrieved is appended with score ``-inf``: ``evaluate`` counts it among the
      relevant ones (recall, average precision, the ideal order) but gives it no rank.
    - Queries without judgments are left out, and so are judged queries that the run does not have, unless
      ``complete`` (trec_eval's ``-c``): then they have only unretrieved documents, and every metric is 0.
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


def read_scores(path: str | Path, *, n_docs: int | None = None) -> NDArray[np.float64]:
    """Read scores from a text file with one per line, ``n_docs`` if given; lines that start with ``#`` are skipped.

    A line may hold more columns (RankLib writes ``qid  number  score``): the last one is the score.
    """
    scores: list[float] = []
    for where, words in _lines(path):
        if words[0].startswith("#"):
            continue
        try:
            scores.append(float(_as_number(words[-1])))
        except ValueError:
            raise DataError(f"{where}: {words[-1][:40]!r} is not a number; write one score per line") from None
        if math.isnan(scores[-1]):
            raise DataError(f"{where}: NaN cannot be ranked; write a number")
    if n_docs is not None and len(scores) != n_docs:
        raise DataError(f"{path}: {len(scores)} scores for {n_docs} documents; write one line for each document")
    return np.array(scores, dtype=np.float64)


def write_run(dataset: Dataset, scores: ArrayLike, path: str | Path | BinaryIO, tag: str = "ordino") -> None:
    """Write scores, in the caller's row order, as a TREC run, each query best first; equal scores keep their row order.

    Without document ids, the id is the row number in the caller's order, starting at 0. A name in ``.gz`` is
    compressed.
    """
    values = as_column("scores", scores, dataset.n_docs, "score")
    callers_row = np.arange(dataset.n_docs) if dataset.order is None else dataset.order
    docnos = callers_row if dataset.doc_ids is None else dataset.doc_ids
    qids = [_word("query id", query) for query in dataset.query_ids]
    lines: list[str] = []
    for q, row, rank in zip(dataset.query_number, *_best_first(dataset, values), strict=True):
        docno, score = _word("document id", docnos[row]), float(values[callers_row[row]])
        lines.append(f"{qids[q]} Q0 {docno} {rank} {score!r} {_word('tag', tag)}\n")
    with opened_whole(path) as file:
        file.write("".join(lines).encode())


def ranks(data: Dataset, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each document in its query, from 1, in the caller's row order; equal scores keep row order."""
    rows, ranked = _best_first(data, scores)
    found = np.empty(data.n_docs, np.int64)
    found[rows] = ranked
    return data.restore(found)


def _best_first(data: Dataset, scores: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The rows query by query, each best first, and their ranks; scores are in the caller's row order."""
    rows = np.lexsort((-scores if data.order is None else -scores[data.order], data.query_number))
    return rows, np.arange(data.n_docs) - np.repeat(data.offsets[:-1], data.counts) + 1


def format_of(path: str) -> str:
    """The format that the ending of a file to write stands for; "-" and other endings mean scores.

    Examples
    --------
    >>> [format_of(path) for path in ("s.txt", "bm25.run", "ranked.csv", "ranked.letor", "-")]
    ['scores', 'trec', 'rows', 'rows', 'scores']
    """
    if (ending := _ending(path)) in (".run", ".trec"):
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
    target: Any = sys.stdout.buffer if path == "-" else path
    is_table = ENDINGS.get(_ending(path), "letor") != "letor"
    if form == "trec":
        write_run(data, scores, target)
    elif form == "rows" and (is_table or (table is not None and path == "-")):
        columns = to_frame(data, "pyarrow") if table is None else table
        for name, values in (("rank", ranks(data, scores)), ("score", scores)):
            if name in columns.column_names:
                raise DataError(f"there is already a column {name!r}; rename it, or write --format scores")
            columns = columns.append_column(name, [values])
        write_table(columns, path)
    else:
        plain = "".join(f"{score!r}\n" for score in scores.tolist()).encode()
        content = _letor_lines(data, scores) if form == "rows" else plain
        with opened_whole(target) as file:
            file.write(content)


def _ending(path: str) -> str:
    """The ending of the name, ``.gz`` aside."""
    return Path(path.lower().removesuffix(".gz")).suffix


def _letor_lines(data: Dataset, scores: NDArray[np.float64]) -> bytes:
    """LETOR text with rank and score in the comments."""
    from ordino.data.letor import write_letor

    text = BytesIO()
    write_letor(data, text)
    rows = zip(text.getvalue().splitlines(), ranks(data, scores).tolist(), scores.tolist(), strict=True)
    return b"".join(
        b"%s%s rank = %d score = %r\n" % (line, b"" if b" #docid" in line else b" #", rank, score)
        for line, rank, score in rows
    )


def _word(kind: str, value: object) -> str:
    text = str(value)
    if len(text.split()) != 1 or text != text.strip():
        raise DataError(f"the {kind} {text!r} is not one word; a TREC run needs words without blanks")
    return text


def _read_table(
    path: str | Path, form: str, at: int, convert: Callable[[str], Value], kind: str, *, has_more: bool = False
) -> dict[str, dict[str, Value]]:
    """The values at one place of the lines, which have the words of ``form``, by query and document."""
    table: dict[str, dict[str, Value]] = {}
    names = form.split()
    for where, words in _lines(path):
        if words[0].startswith("#"):  # a comment, as trec_eval takes it
            continue
        value = _value(where, words, names, at, convert, kind, has_more=has_more)
        documents, docno = table.setdefault(words[0], {}), words[2]
        if docno in documents:
            raise DataError(f"{where}: query {words[0]} already has document {docno}; keep one of the two lines")
        documents[docno] = value
    return table


def _value(
    where: str, words: list[str], names: list[str], at: int, convert: Callable[[str], Value], kind: str, *,
    has_more: bool,
) -> Value:  # fmt: skip
    """The value at one place of a line that has these words, and perhaps more."""
    if len(words) < len(names) or (len(words) > len(names) and not has_more):
        raise DataError(f"{where}: {len(words)} words instead of {len(names)}; write: {' '.join(names)}")
    try:
        value = convert(_as_number(words[at]))
        if not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise DataError(f"{where}: {names[at]} {words[at]!r} is not {kind}") from None
    return value


def _as_number(word: str) -> str:
    """A word that may be a number: Python would take ``1_0`` for 10, and digits of every script."""
    if "_" in word or not word.isascii():
        raise ValueError
    return word


def _lines(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Each line of a file, plain or gzipped, that is not blank: ``file:line`` and its words."""
    try:
        with Path(path).open("rb") as packed:
            start = packed.read(compressed.LONGEST)
            packed.seek(0)
            text = TextIOWrapper(compressed.plain(packed, start), encoding="utf-8", errors="surrogateescape")
            for number, line in enumerate(text, 1):
                if words := line.removeprefix("\ufeff").split():
                    yield f"{path}:{number}", words
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read ({error}); check that it is complete") from None
