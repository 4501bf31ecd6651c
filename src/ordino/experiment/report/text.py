"""Boards as text: for the terminal, Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import isnan
from typing import NamedTuple

from ordino.experiment.report.board import Board, Cell
from ordino.experiment.report.notes import BETTER, WORSE
from ordino.experiment.store.trial import QUERY_COUNTS
from ordino.pages.numbers import chance_is
from ordino.plain import plain

MARKS = {BETTER: "green", WORSE: "red"}
WIDE = 240  # columns where nobody's window limits them
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    BETTER: r"$\blacktriangle$",
    WORSE: r"$\blacktriangledown$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


class TableCell(NamedTuple):
    """A cell of a board's table, in every format; deviation and mark stand behind a mean."""

    value: str | float
    """What the page sorts by."""
    text: str
    deviation: str = ""
    is_best: bool = False
    mark: str | None = None
    told: str = ""
    """What the page shows under the pointer."""
    is_whole: bool = True
    """Whether it covers all folds; without a mark it is within chance only then."""


def table_rows(board: Board) -> list[list[TableCell]]:
    """The table of a board, a row for each line."""
    return [
        [
            TableCell(line.label, line.label),
            TableCell(line.n_trials, str(line.n_trials)),
            *(mean_cell(line.cells[name], board.references[name], board.n_comparisons) for name in board.measures),
            TableCell(line.train_seconds, f"{line.train_seconds:.2f}"),
        ]
        for line in board.lines
    ]


def mean_cell(cell: Cell, reference: str, n_comparisons: int = 1) -> TableCell:
    """The mean with its deviation, and how it stands against the reference.

    Examples
    --------
    >>> mean_cell(Cell(mean=0.51, deviation=0.02, p=0.3, mark="", is_best=False), "RankNet")[:3]
    (0.51, '0.5100', ' ± 0.0200')
    """
    family = ", the only comparison" if n_comparisons == 1 else f", corrected for {n_comparisons} comparisons"
    told = "the reference" if isnan(cell.p) else f"{chance_is(cell.p)} against {reference}{family}"
    if isnan(cell.mean):
        return TableCell("", "–", "", cell.is_best, cell.mark, told, cell.is_whole)
    deviation = "" if isnan(cell.deviation) else f" ± {cell.deviation:.4f}"
    return TableCell(cell.mean, f"{cell.mean:.4f}", deviation, cell.is_best, cell.mark, told, cell.is_whole)


def terminal(boards: Sequence[Board], *, styled: bool | None = None) -> str:
    """Tables with colors if standard output is a terminal (or ``styled`` says so), plain and wide ones elsewhere."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(force_terminal=styled)
    if not console.is_terminal:
        console = Console(force_terminal=False, width=WIDE)

    def shown(cell: TableCell) -> Text:
        mark = ("", "") if cell.mark is None else (f" {cell.mark or ' '}", MARKS.get(cell.mark, ""))
        return Text.assemble((plain(cell.text + cell.deviation), "bold" if cell.is_best else ""), mark)

    with console.capture() as captured:
        for board in boards:
            table = Table(title=Text(plain(board.dataset), style="bold"), title_justify="left", header_style="bold")
            for place, name in enumerate(header(board)):
                table.add_column(Text(name), justify="left" if place == 0 else "right")
            for row in table_rows(board):
                table.add_row(*map(shown, row))
            console.print(table)
            for note in board.notes:
                console.print(Text(plain(note), style="dim"))
            console.print()
    return captured.get()


def plain_text(boards: Sequence[Board]) -> str:
    """The same tables for a file."""
    return terminal(boards, styled=False)


def markdown(boards: Sequence[Board]) -> str:
    """Tables as GitHub and most tools read them; the best of each column is bold."""
    parts = []
    for board in boards:
        table = markdown_table(header(board), _written(board, _markdown_text, "**{}**"))
        notes = "\n".join(f"- {_markdown_text(note)}" for note in board.notes)
        parts.append(f"## {_markdown_text(board.dataset)}\n\n{table}\n\n{notes}\n")
    return "\n".join(parts)


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, n_text: int = 1) -> str:
    """A table whose first columns hold text and the others numbers.

    Examples
    --------
    >>> print(markdown_table(["ranker", "map"], [["RankNet", "0.5"]]))
    | ranker | map |
    | --- | ---: |
    | RankNet | 0.5 |
    """
    rule = ["---"] * n_text + ["---:"] * (len(columns) - n_text)
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *rows))


def latex(boards: Sequence[Board]) -> str:
    """Floating tables for booktabs, made smaller where they are wider than the text; the notes stand in the caption.

    pdfLaTeX knows Latin letters; names in other scripts need XeLaTeX or LuaLaTeX and a font that has them.
    """
    parts = ["% needs \\usepackage{booktabs,amssymb,graphicx}"]
    for board in boards:
        columns = header(board)
        parts += [
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{latex_text(' '.join([board.dataset + '.', *board.notes]))}}}",
            "\\medskip",
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
            f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
            "\\toprule",
            " & ".join(map(latex_text, columns)) + r" \\",
            "\\midrule",
            *(" & ".join(row) + r" \\" for row in _written(board, latex_text, r"\textbf{{{}}}")),
            "\\bottomrule",
            "\\end{tabular}}",
            "\\end{table}",
        ]
    return "\n".join(parts) + "\n"


def _written(board: Board, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """The rows of a table in a markup language."""

    def written(cell: TableCell) -> str:
        text = (bold if cell.is_best else "{}").format(escape(cell.text + cell.deviation))
        return f"{text} {escape(cell.mark)}" if cell.mark else text

    return [[written(cell) for cell in row] for row in table_rows(board)]


def comma_separated(boards: Sequence[Board]) -> str:
    """One row for each label and metric, with all metrics, in full precision."""
    rows = []
    for board in boards:
        for line in board.lines:
            counts = {**board.counts, "n_tied": line.n_tied}
            score_seconds = sum(trial.score_seconds for trial in line.trials) / len(line.trials)
            for name in board.all_measures:
                cell = line.cells[name]
                numbers = [None if isnan(value) else value for value in (cell.mean, cell.deviation, cell.p)]
                who = [board.dataset, board.profile, line.label, line.n_trials, len(board.query_ids)]
                family = None if isnan(cell.p) else board.n_comparisons
                how = [family, cell.mark, board.references[name], board.test, line.train_seconds, score_seconds]
                rows.append([*who, name, *numbers, *how, *map(counts.get, QUERY_COUNTS)])
    columns = "dataset profile label trials queries measure mean deviation p comparisons mark reference test"
    return csv_text([*columns.split(), "train_seconds", "score_seconds", *QUERY_COUNTS], rows)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as comma-separated values; None becomes an empty cell.

    A text that a spreadsheet would take for a formula starts with an apostrophe, which spreadsheets do not show.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *(map(_cell, row) for row in rows)])
    return out.getvalue()


def _cell(value: object) -> object:
    """A cell that no spreadsheet runs; numbers stay as they are.

    Examples
    --------
    >>> _cell("=1+1"), _cell("-0.5"), _cell(-0.5), _cell("RankNet")
    ("'=1+1", '-0.5', -0.5, 'RankNet')
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return f"'{value}"


def header(board: Board) -> list[str]:
    """The names of a table's columns."""
    return ["ranker", "trials", *board.measures, "training s"]


def latex_text(text: str) -> str:
    r"""Text with everything escaped that LaTeX takes for a command.

    Examples
    --------
    >>> print(latex_text("50% of R&D_2"))
    50\% of R\&D\_2
    """
    return "".join(_LATEX.get(character, character) for character in plain(text))


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", plain(text)).replace("&", "&amp;")
