"""The page of losses says what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordino.losses import LOSSES

PAGE = (Path(__file__).parents[2] / "docs" / "losses.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_its_row(name):
    entry = LOSSES[name]
    parameters = ", ".join(f"`{key}={value!r}`" for key, value in entry.parameters.items()) or "none"
    assert f"| `{name}` | $`{entry.formula}`$ | {entry.description} | {parameters} |" in PAGE.splitlines()


def test_no_row_is_of_a_loss_that_is_gone():
    table = PAGE.partition("| loss |")[2].partition("\n\n")[0]
    rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert rows == list(LOSSES)


def test_every_parameter_is_explained():
    explained = "\n".join(line for line in PAGE.splitlines() if line.startswith("- `"))
    for entry in LOSSES.values():
        assert all(f"`{key}`" in explained for key in entry.parameters)
