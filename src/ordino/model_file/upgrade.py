"""What earlier versions wrote under other names: parameters, values, and histories of other shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def present_params(cls: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an old file under their present names and with their present values."""
    renamed: Mapping[str, str] = getattr(cls, "renamed", {})
    values: Mapping[str, Mapping[str, str]] = getattr(cls, "renamed_values", {})
    kept = {name: value for name, value in params.items() if name not in getattr(cls, "dropped", ())}
    present = {renamed[name]: value for name, value in kept.items() if name in renamed}
    present |= {name: value for name, value in kept.items() if name not in renamed}
    for name, changed in values.items():
        if isinstance(present.get(name), str):
            present[name] = changed.get(present[name], present[name])
    return present


def present_learned(learned: Mapping[str, Any]) -> dict[str, Any]:
    """What a ranker learned, with its history as a list of dicts.

    Examples
    --------
    >>> present_learned({"coef_": 1, "valid_history_": [0.5, 0.75]})
    {'coef_': 1, 'history_': [{'round': 1, 'valid': 0.5}, {'round': 2, 'valid': 0.75}]}
    """
    present = {name: value for name, value in learned.items() if name not in _OLD_HISTORIES}
    rows = [dict(row) if isinstance(row, dict) else row for row in present.get("history_", [])]
    if rows and isinstance(rows[0], list):  # coordinate ascent: by restart the metric after each sweep
        rows = [
            {"restart": restart, "sweep": sweep, "train": value}
            for restart, values in enumerate(rows)
            for sweep, value in enumerate(values)
        ]
    elif rows and set(rows[0]) == {"best", "mean", "valid"}:  # generations were not numbered
        rows = [{"generation": number} | row for number, row in enumerate(rows)]
    for name, (counter, column, first) in _OLD_HISTORIES.items():
        for number, value in enumerate(learned.get(name, []), first):
            row = next((row for row in rows if row.get(counter) == number), None)
            if row is None:
                rows.append(row := {counter: number})
            row |= value if isinstance(value, dict) else {column: value}
    if rows:
        present["history_"] = [
            {("valid" if key == "reached" else key): value for key, value in row.items() if not _is_nan(value)}
            for row in rows
        ]
    return present


_OLD_HISTORIES = {
    "loss_history_": ("round", "loss", 0),
    "path_": ("step", "objective", 1),
    "mistakes_": ("epoch", "mistakes", 1),
    "stage_values_": ("stage", "valid", 1),
    "valid_history_": ("round", "valid", 1),
}
"""Lists of numbers that are now columns of ``history_``: what counts the rows, the column's name, the first number."""


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
