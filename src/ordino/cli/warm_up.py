"""``ordino warm-up``: compile now what would be compiled on first use, for a container image or an offline machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli.options import SHARED

if TYPE_CHECKING:
    from ordino.ranker import Ranker


def warm_up(
    rankers: Annotated[list[str] | None, typer.Argument(help="Names of rankers; all of them by default.")] = None,
    choices: Annotated[
        bool, typer.Option("--choices", help="Also compile every choice of every parameter: losses, activations ...")
    ] = False,
) -> None:
    """Compile the kernels of rankers and metrics and keep them, so that no first use has to wait.

    Each ranker is fitted briefly on a few made-up queries, with its defaults and with the settings of its paper.
    Without names, this is done for all rankers.

    Example: ordino warm-up ranknet sortnet
    """
    import time
    import warnings

    from ordino.compiled import kept_in
    from ordino.errors import OrdinoError
    from ordino.progress import Steps
    from ordino.rankers import RANKERS, ranker_class

    start = time.perf_counter()
    settings = [setting for name in rankers or RANKERS for setting in _settings(ranker_class(name), choices)]
    with warnings.catch_warnings(), Steps("warm-up", len(settings) + 1, verbose=not SHARED.get().quiet) as steps:
        warnings.simplefilter("ignore")
        for number in steps:
            if number:
                _use(*settings[number - 1])
            else:
                _measure_and_read()
    folder = kept_in()
    if folder is None:
        raise OrdinoError(
            "compiled code cannot be kept, so every process will compile anew: no folder can be written; "
            "set NUMBA_CACHE_DIR to one that can, and run this again"
        )
    if not steps.interrupted and not SHARED.get().quiet:
        seconds = time.perf_counter() - start
        print(f"Compiled what {len(settings)} settings use in {seconds:.0f} seconds; kept in {folder}")


def _settings(kind: type[Ranker], choices: bool) -> Iterator[tuple[Ranker, bool]]:
    """The ranker as it comes and as published; if asked for, every choice of a parameter, one at a time.

    With each comes whether it must work: a single choice may need another one beside it.
    """
    from ordino.parameters import parameters_of

    yield kind(), True
    if kind.published:
        yield kind.as_published(), True
    for name, known in parameters_of(kind).items() if choices else ():
        yield from ((kind(**{name: choice}), False) for choice in known.choices or ())


def _use(ranker: Ranker, must_work: bool) -> None:
    """Fit the ranker briefly, with validation data, and let it score."""
    from contextlib import nullcontext, suppress

    from ordino.errors import OrdinoError
    from ordino.experiment.run.task import brief_params
    from ordino.testing import easy_data

    data = easy_data()
    with nullcontext() if must_work else suppress(OrdinoError):
        ranker.set_params(**brief_params(ranker)).fit(data, valid=easy_data(seed=1)).predict(data)


def _measure_and_read() -> None:
    """Every metric, and LETOR lines written and read."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import ordino
    from ordino.metrics import METRICS
    from ordino.testing import easy_data

    data: Any = easy_data()
    ordino.evaluate(data, data.X[:, 0], metrics=[one.example for one in METRICS.values()])
    with TemporaryDirectory() as folder:
        ordino.write_letor(data, Path(folder) / "some.txt")
        ordino.read_letor(Path(folder) / "some.txt")
