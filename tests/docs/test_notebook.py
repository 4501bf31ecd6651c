"""The notebook in examples/ runs from top to bottom, shows what it promises, and is stored without outputs."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = json.loads((Path(__file__).parents[2] / "examples" / "first_hour.ipynb").read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def shown(source, names):
    """Run a cell as Jupyter does; the value of its last line, if that is an expression."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        before.append(last)
    exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if isinstance(last, ast.Expr) else None


def test_every_cell_runs_and_shows_its_table():
    names = {}
    values = [shown("".join(cell["source"]), names) for cell in CODE]
    tables = [type(value).__name__ for value in values if hasattr(value, "_repr_html_") and value._repr_html_()]
    assert tables == ["DataFrame", "Dataset", "Evaluation", "Comparisons", "Why", "Boards", "DataFrame"]
    evaluation, ranked = values[3], values[-1]
    assert evaluation["ndcg@10"] > 0.7
    assert len(ranked) == 3


@pytest.mark.parametrize("cell", CODE, ids=lambda cell: cell["id"])
def test_no_outputs_are_stored(cell):
    assert cell["outputs"] == []
    assert cell["execution_count"] is None
