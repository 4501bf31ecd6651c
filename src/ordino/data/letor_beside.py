"""What stands beside the features of LETOR text: sizes of queries in a file of their own, names in bare comments.

LightGBM and XGBoost keep the sizes of the queries, one per line, in ``train.txt.query`` and ``train.txt.group``.
RankLib's example has ``# P12`` at the end of each line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.letor_text import Text
from ordino.errors import DataError

SIZES = (".query", ".group")
"""How the name of a file of sizes continues that of the text."""


def read_sizes(texts: Sequence[tuple[str, int]]) -> NDArray[np.int64] | None:
    """The number of documents of each query of texts with these names and numbers of rows, if each has such a file."""
    sizes = [_sizes_beside(name, n_rows) for name, n_rows in texts]
    found = [one for one in sizes if one is not None]
    return np.concatenate(found) if len(found) == len(sizes) else None


def _sizes_beside(name: str, n_rows: int) -> NDArray[np.int64] | None:
    file = next((path for path in (Path(name + ending) for ending in SIZES) if path.is_file()), None)
    if file is None:
        return None
    try:
        sizes = [int(word) for word in file.read_text(encoding="ascii").split()]
    except ValueError:
        raise DataError(f"{file}: write one whole number per line, the size of each query") from None
    if min(sizes, default=1) < 1:
        raise DataError(f"{file}: a query has {min(sizes)} documents; write 1 or more")
    if sum(sizes) != n_rows:
        raise DataError(f"{file}: the sizes sum to {sum(sizes)}, but {name} has {n_rows} documents; write one for each")
    return np.array(sizes, np.int64)


def single_words(
    parts: Sequence[tuple[Text, int, int]], line_at: NDArray[np.int64], qid: NDArray[Any] | None
) -> NDArray[Any] | None:
    """The comments of all lines, if each is a single word that comes once in its query."""
    words: list[str] = []
    for text, start, stop in parts:
        for row in range(start, stop):
            comment = text.line(int(line_at[row])).partition(b"#")[2].split()
            if len(comment) != 1:
                return None
            words.append(comment[0].decode(errors="replace"))
    queries = [0] * len(words) if qid is None else qid.tolist()
    is_told_apart = len(words) > 1 and len(set(zip(queries, words, strict=True))) == len(words)
    return np.array(words) if is_told_apart else None
