"""What a reader must know to trust a board: profile, empty queries, folds and seeds, which test against whom."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ordino.experiment.compare.significance import Floats, find_test
from ordino.experiment.store.trial import QUERY_COUNTS, TrialInfo, grouped
from ordino.metrics import find_profile
from ordino.pages.numbers import count as count_text
from ordino.plain import count_of

ALPHA = 0.05
"""A difference is marked if chance alone makes it less often than this."""
BETTER, WORSE = "▲", "▼"
TIES: Mapping[str, str] = MappingProxyType(
    {
        "stable": "they keep the order of the rows",
        "pessimistic": "the lowest label comes first",
        "averaged": "the mean over all orders counts",
        "docno": "document ids decide",
    }
)
"""What a profile does with equal scores, in words."""


NOT_TRAINED = ("model-file", "score-file")
"""What trials call contestants that came as files."""


def count_queries(trials: Sequence[TrialInfo], sizes: Mapping[str, int], n_queries: int) -> dict[str, int]:
    """How many queries of a board are empty, short or left out, fold by fold as its trials counted them.

    ``sizes`` has the number of queries of each fold. Nothing where a trial does not say (it was stored before they were
    counted), or where folds share queries.
    """
    by_fold = grouped((trial.fold, trial) for trial in trials)
    if not all(trial.query_counts for trial in trials) or sum(sizes[fold] for fold in by_fold) != n_queries:
        return {}
    return {
        name: sum(max(trial.query_counts[name] for trial in group) for group in by_fold.values())
        for name in QUERY_COUNTS
        if name != "n_tied"  # of a ranker, not of the queries
    }


def count_tied(trials: Sequence[TrialInfo]) -> float | None:
    """Queries in which a ranker's equal scores have different labels: of all folds, the mean over the seeds."""
    if not all(trial.query_counts for trial in trials):
        return None
    by_fold = grouped((trial.fold, trial.query_counts["n_tied"]) for trial in trials)
    return float(sum(np.mean(counts) for counts in by_fold.values()))


def count_empty(profile: str, values: Sequence[Mapping[str, Floats]]) -> dict[str, int]:
    """Queries without a relevant document, seen by a metric that is above 0 for every other query; or nothing."""
    if np.isnan(find_profile(profile).empty):
        return {"n_empty": int(np.isnan([column for line in values for column in line.values()]).all(axis=0).sum())}
    for name in ("map", "mrr", "ndcg") if find_profile(profile).empty == 0 else ():
        columns = [np.nan_to_num(line[name], nan=0.0) for line in values if name in line]
        if columns:
            return {"n_empty": int((np.array(columns) == 0).all(axis=0).sum())}
    return {}


def whole_labels(by_label: Mapping[str, Sequence[TrialInfo]], metric: str) -> set[str]:
    """The labels that have the metric on every fold that any of them has it on: their means are of the same queries."""
    folds = {label: {trial.fold for trial in own if metric in trial.test} for label, own in by_label.items()}
    every = set().union(*folds.values())
    return {label for label, own in folds.items() if own == every}


def _what_chose(by_label: Mapping[str, list[TrialInfo]]) -> str:
    """Which metric chose models on validation data, as far as the store says."""
    chosen = grouped(
        (trial.chosen_by, label) for label, group in by_label.items() for trial in group if trial.chosen_by
    )
    if not chosen:
        return ""
    whose = (f"{metric} for {', '.join(dict.fromkeys(labels))}" for metric, labels in chosen.items())
    named = "; ".join(whose) if len(chosen) > 1 or set(*chosen.values()) < by_label.keys() else next(iter(chosen))
    return f"Rounds, epochs and settings were chosen on validation data by {named}."


def board_notes(
    by_label: Mapping[str, list[TrialInfo]],
    baseline: str | None,
    test: str,
    n_queries: int,
    counts: Mapping[str, int],
    shown: Sequence[str],
    stored: Sequence[str],
) -> list[str]:
    """The sentences under a table, for the trials of each label."""
    trials = [trial for group in by_label.values() for trial in group]
    folds, seeds = {trial.fold for trial in trials}, {trial.seed for trial in trials}
    profile = find_profile(trials[0].profile)
    empty = "empty queries are left out" if np.isnan(profile.empty) else f"an empty query counts as {profile.empty:g}"
    words_of = {"n_empty": "of them empty", "n_short": "shorter than the largest k", "n_left_out": "left out of a mean"}
    counted = [f"{counts[name]:,} {words}" for name, words in words_of.items() if name in counts]
    queries = ", ".join([count_of(n_queries, "query", "queries"), *counted])
    repeats = f"{count_of(len(folds), 'fold')}, {count_of(len(seeds), 'seed')}"
    notes = [
        f"Profile {profile.name}: {empty}; {queries}.",
        "Each mean is of one trial."
        if len(trials) == len(by_label)
        else f"Mean ± standard deviation over trials ({repeats}).",
    ]
    if chosen := _what_chose(by_label):
        notes.append(chosen)
    if given := [label for label, group in by_label.items() if group[0].ranker in NOT_TRAINED]:
        notes.append(f"Not trained here, so nobody knows which queries they have seen: {', '.join(given)}.")
    tied = {label: count_tied(group) for label, group in by_label.items()}
    if any(tied.values()):
        ranked = ", ".join(f"{label} {count_text(count)}" for label, count in tied.items() if count)
        notes.append(
            f"Queries in which equal scores have different labels: {ranked}; profile {profile.name}: "
            f"{TIES[profile.ties]}."
        )
    elif None not in tied.values():
        notes.append("In no query do equal scores have different labels.")
    if len(by_label) > 1:
        against = f"the baseline {baseline}" if baseline in by_label else "the best of each column"
        unit = "over queries" if find_test(test).is_paired else "over trials"
        notes.append(
            f"{BETTER} better, {WORSE} worse than {against} at p < {ALPHA:g}: {find_test(test).title} {unit}, "
            f"Holm-corrected for {count_of(len(by_label) - 1, 'comparison')}."
        )
    repeated = any(len(group) > len({trial.fold for trial in group}) for group in by_label.values())
    settled = [label for label, group in by_label.items() if not any(trial.is_random for trial in group)]
    if repeated and settled:
        notes.append(f"No randomness in {', '.join(settled)}: one trial on each fold.")
    whole = {name: whole_labels(by_label, name) for name in shown}
    for label, group in by_label.items():
        known = {name for trial in group for name in trial.test}
        missing = len(folds) - len({trial.fold for trial in group})
        if missing:
            notes.append(
                f"{label} is missing {count_of(missing, 'fold')}: its means cover fewer queries and carry no marks."
            )
        elif some := [name for name in shown if name in known and label not in whole[name]]:
            notes.append(f"{label} has {', '.join(some)} on fewer folds than others: such means carry no marks.")
    if len(shown) < len(stored):
        notes.append(f"Also in the store: {', '.join(name for name in stored if name not in shown)}.")
    return notes
