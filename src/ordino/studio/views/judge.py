"""Judge: grade the documents of a query with the keyboard; each grade is on disk before the next document comes.

The studio writes only here, and only to the file that it was given with ``--judge``: one line of TREC judgments a
grade, appended and flushed to disk. Of several lines for a document the last one counts, so undoing appends too.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.pages.numbers import spelled
from ordino.studio.ask import Ask, State, StateError, missing, refused
from ordino.studio.shelf import names_of
from ordino.studio.views.data import open_parts

GRADES = (0, 1, 2, 3, 4)
UNDONE = -1
"""Stands in the file where a grade was taken back."""
LISTED = 200
FOLDED = 40
"""Features that are listed."""


def read_grades(path: Path) -> dict[tuple[str, str], int]:
    r"""By query and document the last grade in a file; a line that was cut off by a crash is left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "judged.qrels")
    ...     _ = file.write_text("7 0 d1 3\n7 0 d2 1\n7 0 d1 -1\n7 0 d")
    ...     read_grades(file)
    {('7', 'd2'): 1}
    """
    found: dict[tuple[str, str], int] = {}
    if not path.is_file():
        return found
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        pieces = line.split()
        if len(pieces) == 4 and pieces[3].removeprefix("-").isdecimal():
            key, grade = (pieces[0], pieces[2]), int(pieces[3])
            found.pop(key, None)
            if grade != UNDONE:
                found[key] = grade
    return found


def append_grade(path: Path, query: str, doc: str, grade: int) -> None:
    """Write one line and wait until it is on disk; a line that a crash cut off is ended first."""
    with path.open("a+b") as file:
        file.seek(0, os.SEEK_END)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(f"{query} 0 {doc} {grade}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    path = _file(studio)
    data, name = _data(studio, ask)
    queries = [str(one) for one in data.query_ids.tolist()]
    grades = read_grades(path)
    query = ask.text("query") or next((one for one in queries if _left(data, queries, one, grades)), queries[0])
    if query not in queries:
        raise missing(
            f"There is no query {query}; the last is {queries[-1]}.", "", [(queries[0], ask.here(query=queries[0]))]
        )
    number = queries.index(query)
    one = data[number]
    ids = _ids(data, number)
    skipped = set(ask.several("skip"))
    field = _word(query)
    open_docs = [doc for doc in ids if (field, doc) not in grades]
    doc = ask.text("doc") or next(
        (each for each in open_docs if each not in skipped), open_docs[0] if open_docs else ""
    )
    if doc and doc not in ids:
        raise missing(f"There is no document {doc} in query {query}.")
    trail = [(each, grades[field, each]) for each in ids if (field, each) in grades]
    last = next((key for key in reversed(grades) if key[0] == field), None)
    values = [] if not doc else list(zip(_names(data), one.X[ids.index(doc)].tolist(), strict=True))
    return {
        "file": path.name, "queries": queries if len(queries) <= LISTED else [], "query": query, "doc": doc, "ids": ids,
        "trail": trail, "n_open": len(open_docs), "grades": GRADES, "part": name, "last": last[1] if last else "",
        "values": values[:FOLDED], "n_values": len(values), "stored": None if not doc else float(one.y[ids.index(doc)]),
        "after": queries[number + 1] if number + 1 < len(queries) else None, "n_graded": len(grades),
        "before": queries[number - 1] if number else None, "skipped": "\n".join([*skipped, doc]),
        "finding": _finding(query, len(open_docs), len(ids), doc), "given": grades.get((field, doc)),
    }  # fmt: skip


def _finding(query: str, n_open: int, n_docs: int, doc: str) -> str:
    if not n_open:
        return f"All {spelled(n_docs)} documents of query {query} are graded."
    done = n_docs - n_open
    told = f"{spelled(done).capitalize() if done else 'None'} of {spelled(n_docs)} documents of query {query}"
    return f"{told} {'is' if done == 1 else 'are'} graded; {doc} is next."


def _file(studio: Any) -> Path:
    path: Path | None = studio.sources.judged
    if path is None:
        then = "The studio writes only to a file that it was given for this:"
        raise StateError(
            State("There is no file to judge into.", then, f"{studio.sources.command} --judge judged.qrels")
        )
    return path


def _data(studio: Any, ask: Ask) -> tuple[Dataset, str]:
    parts: Mapping[str, Dataset] = open_parts(studio, ask)
    name = ask.choice("part", parts, next(iter(parts)))
    return parts[name], name


def _ids(data: Dataset, number: int) -> list[str]:
    one = data[number]
    given = None if one.doc_ids is None else [str(each) for each in one.doc_ids.tolist()]
    return [_word(name) for name in names_of(len(one.y), given)]


def _word(name: str) -> str:
    """A name as it stands in the file, where a blank would end the field."""
    return "_".join(name.split()) or "_"


def _names(data: Dataset) -> list[str]:
    return list(data.feature_names or (f"f{j + 1}" for j in range(data.n_features)))


def _left(data: Dataset, queries: list[str], query: str, grades: Mapping[tuple[str, str], int]) -> bool:
    return any((_word(query), doc) not in grades for doc in _ids(data, queries.index(query)))


def write_grade(studio: Any, ask: Ask) -> str:
    """Write a grade, or take the last one back; where to go on."""
    path = _file(studio)
    data, name = _data(studio, ask)
    query, doc, grade = ask.text("query"), ask.text("doc"), ask.text("grade")
    queries = [str(one) for one in data.query_ids.tolist()]
    if query not in queries or doc not in _ids(data, queries.index(query)):
        raise missing(f"There is no document {doc} in query {query}.")
    if grade not in (*map(str, GRADES), "undo"):
        raise refused(f"A grade is a number from 0 to {GRADES[-1]}; it is “{grade}”.", "Nothing was written.")
    try:
        append_grade(path, _word(query), doc, UNDONE if grade == "undo" else int(grade))
    except OSError as error:
        raise StateError(
            State(
                f"{path.name} cannot be written: {error.strerror}.",
                "The grade was not kept.",
                kind="wrong",
                role="alert",
            ),
            500,
        ) from None
    return ask.link("judge", query=query, part=name, doc=doc if grade == "undo" else None)


def letor(studio: Any, ask: Ask) -> tuple[str, str, str]:
    """The judged documents with their features, as LETOR text."""
    from io import BytesIO

    from ordino.data.letor import write_letor

    path = _file(studio)
    data, _ = _data(studio, ask)
    grades = read_grades(path)
    queries = [str(one) for one in data.query_ids.tolist()]
    found = [grades.get((_word(query), doc), -1) for i, query in enumerate(queries) for doc in _ids(data, i)]
    labels = np.array(found, float)
    keep = labels >= 0
    if not keep.any():
        raise StateError(State("Nothing is graded yet.", "Grade a document first."))
    out = BytesIO()
    write_letor(data.replace(y=labels).select_docs(keep), out)
    return out.getvalue().decode(), "text/plain; charset=utf-8", f"{path.stem}.txt"
