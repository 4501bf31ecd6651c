"""What a person asks a reproduction for: the data it may use, whether it may be rough, how many repeats, the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, final

from ordino.data.folds import Folds, read_folds
from ordino.errors import DataError
from ordino.experiment.papers.training import Trained


@final
@dataclass(frozen=True)
class Request:
    """The options that every target understands."""

    data: Path | None = None
    quick: bool = False
    """Run a small part of the work, to see that everything works; the numbers then mean nothing."""
    seed: int = 0
    repeats: int | None = None
    """Seeds of each setting, where the paper's number takes too long; None is the target's own number."""
    kept: Path | None = field(default=None, compare=False)
    """Folder for what was trained, from which a stopped run goes on; None keeps nothing."""
    n_jobs: int = field(default=1, compare=False)
    """Worker processes that train."""
    verbose: bool = field(default=False, compare=False)
    """Show progress on a terminal."""
    trained: Trained = field(default_factory=Trained, compare=False)
    """What was trained for this request so far: targets that ask for the same networks share them."""

    def alone(self) -> Self:
        """The same for training times: one ranker after the other, whatever was trained for other targets."""
        return replace(self, kept=None, n_jobs=1, trained=Trained())

    def at_most(self, n_repeats: int) -> int:
        """How many repeats to make where the paper makes so many."""
        return min(n_repeats, 2 if self.quick else n_repeats, self.repeats or n_repeats)

    def collections(self, names: Sequence[str]) -> dict[str, Folds]:
        """The folds of each named collection that the data folder has.

        The folder may hold the collections by name (``TD2003/Fold1``), or it may itself be one collection of any name,
        which then stands in for them under its own name: the paper has no numbers for it.
        """
        wanted = " or ".join(names)
        if self.data is None:
            raise DataError(f"this needs {wanted}; name the folder that holds it with --data")
        found = {name: read_folds(self.data / name) for name in names if (self.data / name).is_dir()}
        if not found and not self.data.is_dir():
            raise DataError(f"{self.data}: there is no such directory; name the one that holds {wanted}")
        found = found or {self.data.resolve().name: read_folds(self.data)}
        return {name: folds[: 2 if self.quick else None] for name, folds in found.items()}
