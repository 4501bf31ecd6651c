"""What a writer gives: files, and what a person must know of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ordino.export.family import Odds

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, kw_only=True)
class Written:
    """The files of an export by name, and how the engine's scores relate to the ranker's."""

    files: Mapping[str, str | bytes]
    commands: tuple[str, ...]
    """How to upload and use them."""
    notes: tuple[str, ...] = ()
    shift: float = 0.0
    """A constant that the engine leaves out of every score; it changes no order."""
    squash: float | None = None
    """If set, the engine gives the logistic function of the score times this."""
    blurred: tuple[tuple[int, float, float], ...] = ()
    """(feature, low, high): numbers above low and up to high that the engine sends another way than the ranker."""

    odds: Odds | None = None
    """If set, the ranker's score is the expected level of these odds, and the engine gives the log-odds."""

    def of_ranker(self, scores: Floats) -> Floats:
        """The ranker's scores on the scale on which the two are compared."""
        shifted = scores if self.odds is not None else scores - self.shift
        return shifted if self.squash is None else np.asarray(expit(self.squash * shifted))

    def of_engine(self, scores: Floats) -> Floats:
        """The engine's scores on that scale."""
        if self.odds is None:
            return scores
        low, high, start = self.odds
        return np.asarray(low + (high - low) * expit(scores + start + self.shift))

    def rounding(self, scores: Floats, rounding: Floats) -> Floats:
        """How far rounding in the engine, of this much, and in the ranker may take the two apart on that scale."""
        steep = 1.0 if self.odds is None else abs(self.odds.high - self.odds.low) / 4
        own = 2.0**-23 * np.abs(scores) * (1.0 if self.squash is None else abs(self.squash) / 4)
        return np.asarray(rounding * steep + own)

    @property
    def relation(self) -> str:
        """How the engine's scores relate to the ranker's, in words."""
        if self.odds is not None:
            return "the engine gives log-odds, and the ranker the logistic function of these: the same order"
        if self.squash is not None:
            return f"the engine gives the logistic function of {self.squash:g} times the ranker's score"
        if self.shift:
            return f"the engine's scores are the ranker's less {self.shift:.6g}, the same for every document"
        return "the engine's scores are the ranker's"


def single(value: Any) -> float:
    """A number rounded to single precision, as the double that prints and reads back to it exactly."""
    return float(np.float32(value))


def all_different(names: Iterable[str]) -> list[str]:
    """Names, those that come again with a number behind.

    Examples
    --------
    >>> all_different(["a_b", "a_b", "ok"])
    ['a_b', 'a_b_2', 'ok']
    """
    made: list[str] = []
    for base in names:
        plain, number = base, 1
        while plain in made:
            number += 1
            plain = f"{base}_{number}"
        made.append(plain)
    return made


def size_note(text: str | bytes, limit: int, what: str) -> str:
    """How large a file is, and the limit that it must keep."""
    n_bytes = len(text.encode() if isinstance(text, str) else text)
    told = f"The model has {n_bytes:,} bytes; {what}."
    return told if n_bytes <= limit else f"{told} This one is larger."
