"""Every ranker of the table keeps the contract and has its page."""

import doctest
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import CHECKS, check_learns_easy_data

# What makes a ranker quick, by the name of the parameter; those that it does not have are left out.
QUICK = {
    "rounds": 20,
    "generations": 40,
    "population": 20,
    "epochs": 30,
    "max_iter": 50,
    "restarts": 2,
    "sweeps": 5,
    "n_perceptrons": 20,
    "n_components": 30,
    "hidden": (8,),
    "min_leaf": 5,
}
SPECIAL = {
    **{name: {"learning_rate": 0.1} for name in ("LambdaMART", "McRank")},
    **{
        name: {"learning_rate": 0.02}
        for name in ("DirectRanker", "LambdaRank", "ListMLE", "ListNet", "RankCosine", "RankNet", "RankProp", "Scorer")
    },
    **{name: {"learning_rate": 0.02, "n_pairs": 1000} for name in ("DeepNet", "DenseComparator")},
    "SortNet": {"learning_rate": 0.02, "max_iter": 4},
    "AutoRanker": {"trials": 2, "folds": 2},
}
LEAST_NDCG = {"RandomRanker": 0.3, "RankFusion": 0.6}  # they learn nothing

PAGES = Path(__file__).parents[2] / "docs" / "rankers"
SECTIONS = ("Idea", "Formula", "Parameters", "Paper", "When to use it", "When not")


def quick(name: str) -> Ranker:
    cls = ranker_class(name)
    known = cls().get_params()
    chosen = {key: value for key, value in QUICK.items() if key in known}
    return cls(**(chosen | SPECIAL.get(cls.__name__, {})))


VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in RANKERS} | {
    "RankSVM, hinge": ("rank-svm", {"C": 1.0, "loss": "hinge"}),
    "PRank, quadratic": ("prank", {"quadratic": True}),
    "OAPBPM, steps": ("oap-bpm", {"averaging": "steps"}),
    "AdaRank-MAP of the paper": ("ada-rank", {"metric": "map", "reweighting": "sum"}),
    "RankDE, adaptive": ("rankde", {"self_adaptive": True, "metric": "ndcg@10"}),
    "LambdaMART, bags": ("lambda-mart", {"bags": 2, "query_share": 0.5, "feature_share": 0.5}),
    "McRank, ordinal": ("mc-rank", {"classification": "ordinal", "value": "exponential"}),
    "Scorer, linear": ("scorer", {"loss": "fidelity", "model": "linear"}),
    "Scorer, trees": ("scorer", {"loss": "approx-ndcg", "model": "trees", "learning_rate": 0.1}),
    "DirectRanker, tanh": ("directranker", {"output": "tanh"}),
    "DenseComparator, asked once": ("dense-comparator", {"asked": "once"}),
    "aggregation of a list": (
        "rank-aggregation", {"ranker": ["linear-regression-ranker", "rank-svm"], "method": "score_mean"},
    ),
    "aggregation, resampled": (
        "rank-aggregation", {"ranker": "linear-regression-ranker", "n": 3, "resample": "documents", "method": "kemeny"},
    ),
    "RankFusion, combmnz": ("rank-fusion", {"method": "combmnz", "features": ("f1", "f2")}),
    "nested, several": ("nested-ranker", {"ranker": ["linear-regression-ranker", "rank-svm"], "sizes": (None, 8)}),
}  # fmt: skip
"""Every ranker, and its forms that take another way through the code: loss, model, output, base ranker."""


@cache
def made(variant: str) -> Ranker:
    """The ranker of a variant, the same for all checks, which share what it learns."""
    name, changes = VARIANTS[variant]
    return quick(name).set_params(**changes)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_contract(variant: str, check: str):
    name, _ = VARIANTS[variant]
    run = CHECKS[check]
    if check == "learns_easy_data":
        run = partial(check_learns_easy_data, least_ndcg=LEAST_NDCG.get(RANKERS[name].cls, 0.8))
    run(made(variant))


@pytest.mark.parametrize("name", RANKERS)
def test_the_table_tells_the_truth(name: str):
    entry = RANKERS[name]
    cls = ranker_class(name)
    assert cls is ranker_class(entry.cls)
    assert (cls.__name__, cls.__module__) == (entry.cls, entry.module)
    assert getattr(cls, "__final__", False), f"{entry.cls} is not final"
    assert entry.description
    assert "\n" not in entry.description


def ours(classes: Sequence[type]) -> list[type]:
    return [one for one in classes if one.__module__.startswith("ordino.")]


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_its_family_and_the_contract_are_all_there_is_to_read(name: str):
    """At most three classes, one after the other: none of them has two of ours to inherit from."""
    read = ours(ranker_class(name).__mro__)
    assert len(read) <= 3
    assert read[-1] is Ranker
    assert [ours(cls.__bases__) for cls in read] == [[one] for one in read[1:]] + [[]]


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_has_its_page(name: str):
    page = PAGES / f"{name}.md"
    assert page.exists(), f"docs/rankers/{name}.md is missing"
    headings = [line.lstrip("# ").strip() for line in page.read_text().splitlines() if line.startswith("#")]
    assert headings[0] == RANKERS[name].cls
    assert [heading for heading in headings if heading in SECTIONS] == list(SECTIONS)


@pytest.mark.parametrize("name", RANKERS)
def test_every_page_names_every_parameter(name: str):
    words = set(re.findall(r"\w+", (PAGES / f"{name}.md").read_text()))
    missing = [key for key in ranker_class(name)().get_params() if key not in words]
    assert not missing, f"docs/rankers/{name}.md does not mention {', '.join(missing)}"


def test_there_is_no_page_without_a_ranker():
    strangers = {page.stem for page in PAGES.glob("*.md")} - set(RANKERS) - {"index", "README"}
    assert not RANKERS or not strangers


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_examples_run(page: Path):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
