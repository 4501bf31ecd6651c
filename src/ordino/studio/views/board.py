"""Board: which ranker is best on which data, by how much, and whether that is more than chance."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from ordino.errors import ParameterError
from ordino.experiment.compare.significance import TESTS
from ordino.experiment.report import made, text
from ordino.experiment.report.board import Board
from ordino.experiment.report.board_view import MOST_PAIRED, BoardView, view_board, view_pairs
from ordino.experiment.report.page import file_stems
from ordino.experiment.store.kept import RunRecord
from ordino.experiment.store.view import Group
from ordino.pages.numbers import listed, spelled
from ordino.plain import count_of
from ordino.studio.ask import Ask, State, StateError, missing
from ordino.studio.runs import done_trials, is_alive
from ordino.studio.sources import OpenStore

BEST = "the best of each column"
AT_ONCE = 1_000_000
"""Pairs times queries up to which the matrix is drawn without being asked for."""
MOST_LACKING = 3
"""Rankers without all folds that are named at the top; the notes name all of them."""
FORMATS = MappingProxyType(
    {
        "md": (text.markdown, "text/markdown; charset=utf-8", "Markdown"),
        "tex": (text.latex, "application/x-tex; charset=utf-8", "LaTeX"),
        "csv": (text.comma_separated, "text/csv; charset=utf-8", "CSV"),
    }
)
"""What a board can be taken away as."""


def chosen_group(opened: OpenStore, ask: Ask) -> tuple[Group, list[Group]]:
    """The data set and profile that a page is about, and all there are."""
    groups = opened.groups()
    name = opened.path.name
    if not groups and opened.damage:
        raise StateError(_damaged(name, opened.damage[1]))
    if not groups:
        code = f"ordino bench DATA --rankers ranknet,lambda-mart --out {name}"
        raise StateError(State(f"There are no trials in {name} yet.", "Make some:", code))
    datasets = list(dict.fromkeys(group.dataset for group in groups))
    dataset = ask.choice("data", datasets, datasets[0])
    profiles = [group.profile for group in groups if group.dataset == dataset]
    profile = ask.text("profile", profiles[0])
    profile = profile if profile in profiles else profiles[0]
    return next(one for one in groups if (one.dataset, one.profile) == (dataset, profile)), groups


def _damaged(name: str, reason: str) -> State:
    then = f"No trial could be read ({reason}). To keep what can be:"
    return State(
        f"{name} cannot be read: the file is damaged.", then, f'sqlite3 {name} ".recover" | sqlite3 saved.sqlite',
        kind="wrong", role="alert",
    )  # fmt: skip


def chosen_board(opened: OpenStore, ask: Ask, group: Group, *, every: bool = False, only_lines: bool = False) -> Board:
    """The board that a page is about: its measures, what they are held against, and the test.

    With ``only_lines``, its lines and their order are known, and values by the first measure alone.
    """
    test = ask.choice("test", TESTS, "wilcoxon")
    against = ask.text("against")
    measures = ask.several("measures") or None
    baseline = None if against in ("", BEST) else against
    try:
        return opened.board(group, measures, baseline, test, every=every, only_first=only_lines)
    except ParameterError as error:
        if baseline is None or "baseline" not in str(error):
            raise
        raise missing(f"There is no ranker “{against}” on this board.", "", [(BEST, ask.here(against=None))]) from None


def _lacking(board: Board) -> list[State]:
    """Rankers that lack folds, told before their means are read."""
    folds = list(dict.fromkeys(trial.fold for line in board.lines for trial in line.trials))
    states = []
    for line in board.lines:
        own = {trial.fold for trial in line.trials}
        if lacking := [fold for fold in folds if fold not in own]:
            means = f"its means are over {spelled(len(own))} {'fold' if len(own) == 1 else 'folds'} and carry no marks."
            then = "The run was stopped, or a trial failed. The same command goes on from there."
            states.append(State(f"{line.label} lacks {listed(lacking)}; {means}", then, kind="late"))
    return states[:MOST_LACKING]


def _under_way(runs: Sequence[RunRecord], opened: OpenStore) -> State | None:
    """What a board of a run under way shows."""
    if not runs or not is_alive(runs[0]):
        return None
    done, tasks = done_trials(opened, runs[0]), runs[0].tasks
    n_done = sum((task["dataset"], task["fold"], task["label"]) in done for task in tasks)
    told = f"{n_done:,} of {count_of(len(tasks), 'trial')} {'is' if len(tasks) == 1 else 'are'} done"
    return State(f"{told}; the table shows these.", "Load the page again for more, or watch the", role="status")


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with studio.store() as opened:
        group, groups = chosen_group(opened, ask)
        board = chosen_board(opened, ask, group)
        with opened.kept() as kept:
            runs = [] if kept is None else kept.runs()
        under_way = _under_way(runs, opened)
        stored = opened.remembered("measures", lambda: _measures(opened, group), group.dataset, group.profile)
        sort, turned, containing = ask.text("sort"), ask.text("order") == "turned", ask.text("containing")
        of = (group.dataset, group.profile, tuple(board.measures), ask.text("against"), board.test)
        table: BoardView = opened.remembered(
            "table",
            lambda: view_board(board, sort=sort, turned=turned, containing=containing),
            *of,
            sort,
            turned,
            containing,
        )
        n_paired = min(len(board.lines), MOST_PAIRED)
        is_light = n_paired * (n_paired - 1) // 2 * len(board.query_ids) <= AT_ONCE
        pairs = None
        if is_light or ask.text("pairs"):
            pairs = opened.remembered("pairs", lambda: view_pairs(board, table.drawn), *of, table.drawn)
    return {
        "groups": groups, "group": group, "board": board, "table": table, "pairs": pairs, "tests": TESTS, "best": BEST,
        "against": ask.text("against", BEST), "spread": bool(ask.text("spread")), "finding": made.finding(board),
        "asks_for_pairs": not is_light and len(board.lines) > 2 and pairs is None, "stored": stored,
        "lacking": _lacking(board), "under_way": under_way, "formats": FORMATS,
        "containing": containing, "damage": opened.damage,
        "commands": [run.command for run in runs if run.command][:1], "settings": made.settings_of(board),
        "versions": made.versions_of(board), "dates": made.dates_of(board), "sort": sort,
        "is_baseline": bool(ask.text("against")) and ask.text("against") != BEST,
    }  # fmt: skip


def _measures(opened: OpenStore, group: Group) -> list[str]:
    return list(dict.fromkeys(name for trial in opened.view.trials(group, limit=50) for name in trial.test))


def exporter(kind: str) -> Callable[[Any, Ask], tuple[str, str, str]]:
    """A function that writes the board in a format."""
    write, content_type, _ = FORMATS[kind]

    def export(studio: Any, ask: Ask) -> tuple[str, str, str]:
        with studio.store() as opened:
            group, _ = chosen_group(opened, ask)
            board = chosen_board(opened, ask, group, every=True)
        return write([board]), content_type, f"{file_stems([board])[0]}.{kind}"

    return export
