"""What a reader must know to trust a board: profile, empty queries, folds and seeds, which test against whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ordino.experiment.significance import Floats, find_test
from ordino.experiment.trial import Trial
from ordino.metrics import find_profile

ALPHA = 0.05
"""A difference is marked if chance alone makes it less often than this."""
BETTER, WORSE = "▲", "▼"


def count_empty(profile: str, values: Sequence[Mapping[str, Floats]]) -> int | None:
    """Queries without a relevant document, seen by a measure that is above 0 for every other query."""
    if np.isnan(find_profile(profile).empty):
        return int(np.isnan([column for line in values for column in line.values()]).all(axis=0).sum())
    if find_profile(profile).empty == 0:
        for name in ("map", "mrr", "ndcg"):
            columns = [np.nan_to_num(line[name], nan=0.0) for line in values if name in line]
            if columns:
                return int((np.array(columns) == 0).all(axis=0).sum())
    return None


def board_notes(
    by_label: Mapping[str, list[Trial]],
    baseline: str | None,
    test: str,
    n_queries: int,
    n_empty: int | None,
    shown: Sequence[str],
    stored: Sequence[str],
) -> list[str]:
    """The sentences under a table, for the trials of each label."""
    trials = [trial for group in by_label.values() for trial in group]
    folds, seeds = {trial.fold for trial in trials}, {trial.seed for trial in trials}
    profile = find_profile(trials[0].profile)
    empty = "empty queries are left out" if np.isnan(profile.empty) else f"an empty query counts {profile.empty:g}"
    queries = _count(n_queries, "query", "queries") + ("" if n_empty is None else f", {n_empty:,} of them empty")
    notes = [
        f"Profile {profile.name}: {empty}; {queries}.",
        "Means of one trial each."
        if len(trials) == len(by_label)
        else f"Mean ± standard deviation between trials ({_count(len(folds), 'fold')}, {_count(len(seeds), 'seed')}).",
    ]
    if len(by_label) > 1:
        against = f"the baseline {baseline}" if baseline in by_label else "the best of each column"
        unit = "over queries" if find_test(test).is_paired else "over trials"
        notes.append(
            f"{BETTER} better, {WORSE} worse than {against} at p < {ALPHA:g}: {find_test(test).title} {unit}, "
            f"Holm-corrected for {_count(len(by_label) - 1, 'comparison')}."
        )
    for label, group in by_label.items():
        missing = len(folds) - len({trial.fold for trial in group})
        if missing:
            notes.append(f"{label} lacks {_count(missing, 'fold')}: its means are of other queries than the rest.")
    if len(shown) < len(stored):
        notes.append(f"Also in the store: {', '.join(name for name in stored if name not in shown)}.")
    return notes


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"
