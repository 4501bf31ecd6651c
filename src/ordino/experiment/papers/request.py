"""What a person asks a reproduction for: the data it may use, whether it may be rough, and the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ordino.data.folds import Folds, read_folds
from ordino.errors import DataError


@final
@dataclass(frozen=True)
class Request:
    """The options that every target understands."""

    data: Path | None = None
    quick: bool = False
    """Run a small part of the work, to see that everything works; the numbers then mean nothing."""
    seed: int = 0

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
