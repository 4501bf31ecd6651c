"""What an ensemble under way shows: a table that is redrawn on a terminal, a line after each trial elsewhere."""

import sys
from types import TracebackType
from typing import Any, Self, final

import numpy as np

from ordino.ensemble.clock import Clock
from ordino.ensemble.trials import Bench, Trial


@final
class Board:
    """Shows trials as they are done, on standard error, if ``verbose``."""

    def __init__(self, bench: Bench, clock: Clock, most_trials: int | None, *, verbose: bool) -> None:
        self._bench, self._clock, self._most_trials, self._verbose = bench, clock, most_trials, verbose
        self._rows: list[tuple[str, str, str, str]] = []
        self._now = ""
        self._live: Any = None

    def __enter__(self) -> Self:
        if self._verbose and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(get_renderable=self._table, console=Console(stderr=True), transient=True)
            self._live.start()
        return self

    def tell(self, text: str, trial: Trial | None) -> None:
        """A trial begins, or is done."""
        if not self._verbose:
            return
        self._now = text
        if trial is not None:
            values = trial.curve()[trial.best_step(np.full(self._bench.data.n_queries, True))]
            measure = self._bench.judge.metric
            reached = measure.quality(float(np.nanmean(values))) if np.isfinite(values).any() else 0.0
            row = (trial.kind.ranker, trial.kind.features, f"{reached:.4f}", f"{trial.seconds:.1f} s")
            self._rows.append(row)
            if self._live is None:
                name, features, figure, seconds = row
                sys.stderr.write(f"AutoRanker: {name} on {features}, {measure} {figure} out of fold, {seconds}\n")
                sys.stderr.flush()

    def _table(self) -> Any:
        from rich.table import Table

        used = f"{self._clock.used:.0f} s"
        whole = f"{self._most_trials} trials" if self._clock.seconds is None else f"{self._clock.seconds:.0f} s"
        table = Table(title=f"AutoRanker, {used} of {whole}", caption=self._now or None)
        for name in ("member", "features", f"{self._bench.judge.metric}", "time"):
            table.add_column(name)
        for row in self._rows[-20:]:
            table.add_row(*row)
        return table

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
