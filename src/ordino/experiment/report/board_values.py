"""The values of queries that a board compares: by label one for each query, averaged over trials.

They come from the sums that a store keeps, where those are of the very trials that a board shows, and else from the
trials themselves, page by page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.experiment.compare.significance import Floats
from ordino.experiment.store.trial import TrialInfo, grouped
from ordino.experiment.store.view import Group, StoreView

Places = NDArray[np.intp]


def find_places(view: StoreView, group: Group, trials: Sequence[TrialInfo]) -> tuple[dict[Any, int], dict[str, Places]]:
    """The place of each query on the board, and by trial those of its queries, which trials of a fold share."""
    index: dict[Any, int] = {}
    places: dict[str, Places] = {}
    shared: dict[str, Places] = {}
    told = view.test_queries({trial.data for trial in trials if trial.data})
    if all(trial.data in told for trial in trials):
        for trial in trials:
            if trial.data not in shared:
                own = told[trial.data]
                shared[trial.data] = np.array([index.setdefault(query, len(index)) for query in own], np.intp)
            places[trial.key] = shared[trial.data]
        return index, places
    known: dict[int, Places] = {}
    keys = {trial.key for trial in trials}
    lists = []  # kept, so that no other list gets the number of one that is gone
    for key, queries in view.query_ids(group):
        if key in keys:
            if id(queries) not in known:
                lists.append(queries)
                known[id(queries)] = np.array([index.setdefault(query, len(index)) for query in queries], np.intp)
            places[key] = known[id(queries)]
    return index, places


def query_means(
    view: StoreView, trials: Sequence[TrialInfo], settings: Mapping[str, str], name: str, places: Mapping[str, Any],
    n_queries: int,
) -> dict[str, Floats]:  # fmt: skip
    """By label the value of each query, averaged over the trials: from sums where those are of these trials.

    ``settings`` has what :func:`~ordino.experiment.store.sums.setting_of` tells of each trial, by key.
    """
    own = [trial for trial in trials if name in trial.test]
    label_of = {trial.key: trial.label for trial in own}
    labels = dict.fromkeys(trial.label for trial in trials)
    total, count = ({label: np.zeros(n_queries) for label in labels} for _ in range(2))
    by_setting = grouped(((trial.label, settings[trial.key]), trial.key) for trial in own)
    sums = view.sums(name, {setting for _, setting in by_setting})
    missing: list[str] = []
    for (label, setting), keys in by_setting.items():
        found = sums.get(setting)
        if found is None or keys[: len(found.keys)] != found.keys or len(found.totals) != len(places[keys[0]]):
            missing += keys
            continue
        total[label][places[keys[0]]] += found.totals
        count[label][places[keys[0]]] += found.counts
        missing += keys[len(found.keys) :]
    for key, values in view.chosen(name, missing):
        there = ~np.isnan(values)
        place = places[key][there]
        total[label_of[key]][place] += values[there]
        count[label_of[key]][place] += 1
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: no value
        return {label: total[label] / count[label] for label in total}
