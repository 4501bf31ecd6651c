"""The programs of the page about modules of torch run from top to bottom."""

import re
from pathlib import Path

import pytest

from ordino.networks.torch_ranker import OPTIMIZERS

PAGE = (Path(__file__).parents[2] / "docs" / "torch.md").read_text(encoding="utf-8")


def test_the_programs_run(tmp_path, capsys):
    pytest.importorskip("torch")
    names = {"home": tmp_path}
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(program, names)
    printed = capsys.readouterr().out.split("\n")
    assert float(printed[0].split()[0]) > 0.5
    assert printed[2] == "True"
    assert "[-0.1667,  0.0000,  0.1667]" in printed[3]  # a query of two, the mean of three pairs that pull with 1/2
    assert "[ 0.2500, -0.2500,  0.0000]" in printed[4]  # one pair, and padding


def test_the_page_names_every_optimizer():
    assert ", ".join([*OPTIMIZERS][:-1]) + f" or {[*OPTIMIZERS][-1]}" in " ".join(PAGE.split())
