"""Where Ordino chooses otherwise than rax: the pages tell both values, of lists on which rax was asked once.

``record_rax.py`` asked it. Without what is chosen (equal labels, weights) both agree.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from ordino.losses import make_loss
from ordino.metrics import pairwise_accuracy

HERE = Path(__file__).parent
RAX = json.loads((HERE / "rax_values.json").read_text(encoding="utf-8"))
LOSSES = {
    "listmle": ("listmle", {}),
    "listmle of equal labels": ("listmle", {}),
    "listmle of equal labels, swapped": ("listmle", {}),
    "pairs": ("ranknet", {"average": "sum"}),
    "pairs with weights": ("ranknet", {"average": "sum"}),
    "softmax": ("softmax", {}),
    "softmax with weights": ("softmax", {}),
}


def ours(case):
    asked = RAX[case]
    weights = None if asked["weights"] is None else np.array(asked["weights"])
    if case not in LOSSES:
        return float(pairwise_accuracy(asked["labels"], asked["scores"])[0])
    name, options = LOSSES[case]
    scores, y = np.array(asked["scores"]), np.array(asked["labels"])
    return make_loss(name, **options).value_and_gradient(scores, y, np.array([0, len(y)]), weights=weights)[0]


@pytest.mark.parametrize("case", ["listmle", "pairs", "softmax"])
def test_without_what_is_chosen_both_agree(case):
    assert ours(case) == pytest.approx(RAX[case]["value"], rel=1e-12)


@pytest.mark.parametrize(
    ("page", "case", "what"),
    [
        ("metrics", "accuracy of equal labels", "`pairwise_accuracy`, labels 1, 1"),
        ("losses", "listmle of equal labels", "`listmle`, labels 1, 1, 0"),
        ("losses", "listmle of equal labels, swapped", "the same, scores 1, 2, 0.5"),
        ("losses", "pairs with weights", '`ranknet` with `average="sum"`, labels 1, 0, 0, weights 2, 1, 3'),
        ("losses", "softmax with weights", "`softmax`, labels 1, 2, 0, weights 2, 1, 3"),
    ],
)
def test_where_we_choose_otherwise_the_page_tells_both_values(page, case, what):
    text = (HERE.parents[1] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    found = ours(case)
    told = "NaN" if np.isnan(found) else f"{found:.4f}"
    row = f"| {what} | {told} | {RAX[case]['value']:.4f} |"
    assert row in text, f"docs/{page}.md needs the row:\n{row}"
    assert f"rax {RAX['version']}" in text
    assert told != f"{RAX[case]['value']:.4f}"
