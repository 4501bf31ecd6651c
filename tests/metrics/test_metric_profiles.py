"""The table of profiles, and the page that shows it."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest

from ordino.errors import ParameterError
from ordino.metrics import METRICS, PROFILES, Profile, find_profile, ndcg

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
NAMES = "standard letor3 letor4 trec sklearn lightgbm xgboost catboost ranklib directranker rankde"


def test_the_profiles_that_documents_rely_on_are_there() -> None:
    assert list(PROFILES) == NAMES.split()
    assert all(name == profile.name and profile.description.endswith(".") for name, profile in PROFILES.items())


def test_the_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PROFILES["mine"] = PROFILES["standard"]  # type: ignore[index]
    with pytest.raises(TypeError):
        METRICS["mine"] = METRICS["map"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        PROFILES["standard"].empty = 1.0  # type: ignore[misc]


def test_names_are_found_in_any_case_and_misspelled_ones_corrected() -> None:
    assert find_profile("LightGBM") is PROFILES["lightgbm"]
    with pytest.raises(ParameterError, match="unknown profile 'letor5'; did you mean 'letor"):
        find_profile("letor5")
    with pytest.raises(ParameterError, match="profile is 3; give a name such as 'standard', or a Profile"):
        find_profile(3)  # type: ignore[arg-type]


def test_a_profile_of_ones_own_works() -> None:
    empty_is_half = replace(PROFILES["standard"], name="mine", description="Mine.", empty=0.5)
    assert ndcg([0, 0], [2.0, 1.0], profile=empty_is_half).tolist() == [0.5]


def test_choices_tell_what_differs_from_the_defaults() -> None:
    assert dict(PROFILES["standard"].choices) == {}
    assert dict(PROFILES["directranker"].choices) == {
        "gain": "binary", "empty": "left out", "short_precision": "length", "err_max": "1",
    }  # fmt: skip


def test_every_profile_metric_and_choice_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, profile in PROFILES.items():
        told = "; ".join(f"{field}: {value}" for field, value in profile.choices.items()) or "the defaults"
        assert f"| `{name}` | {profile.description} | {told} |" in page
    for measure in METRICS.values():
        row = re.search(rf"^\| `{re.escape(measure.example)}` \|.*$", page, re.MULTILINE)
        assert row is not None, measure.example
        assert measure.description in row[0]
    for field in fields(Profile):
        if field.name not in ("name", "description"):
            assert f"`{field.name}`" in page


def test_page_examples_hold() -> None:
    """The page shows one list under every profile; the numbers are computed here again."""
    page = PAGE.read_text(encoding="utf-8")
    y, scores = [0, 2, 1], [0.5, 0.5, 0.1]
    for name in PROFILES:
        value = ndcg(y, scores, k=5, profile=name)[0]
        assert f"| `{name}` | {value:.4f} |" in page
    assert len({float(np.round(ndcg(y, scores, k=5, profile=name)[0], 4)) for name in PROFILES}) > 4
