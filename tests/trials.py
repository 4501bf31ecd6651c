"""Trials that nobody ran: values by a formula, so that tests of reports need no training."""

import numpy as np

from ordino.experiment.store import Trial

MEASURES = ("ndcg@10", "map", "p@10", "ndcg@1", "ndcg@5", "pairwise_error")


def made_trials(labels, *, folds=2, queries=30, seeds=(0,), dataset="letters", profile="standard", empty=2):
    """Each label ranks a little worse than the one before it; the first ``empty`` queries of all are worth nothing."""
    rng = np.random.default_rng(7)
    hardness = rng.uniform(0.3, 0.8, queries)
    made = []
    for place, label in enumerate(labels):
        for fold in range(folds):
            for seed in seeds:
                ids = np.arange(fold, queries, folds)
                values = {}
                for measure in MEASURES:
                    shift = place * (0.04 if measure == "pairwise_error" else -0.04)
                    values[measure] = np.clip(hardness[ids] + shift + rng.normal(0, 0.03, len(ids)), 0.01, 1)
                    values[measure][ids < empty] = 0.0
                made.append(
                    Trial(
                        key=f"{dataset}/{profile}/{label}/{fold}/{seed}",
                        dataset=dataset,
                        fold=f"Fold{fold + 1}",
                        ranker="ranknet",
                        label=label,
                        params={},
                        seed=seed,
                        profile=profile,
                        train_seconds=1.5,
                        test={measure: float(column.mean()) for measure, column in values.items()},
                        per_query=values,
                        query_ids=ids,
                        history=[{"epoch": e, "loss": 1 / (e + 1), "valid": 0.5 - 0.1 / (e + 1)} for e in range(9)],
                        feature_weights={"bm25": 2.0 - place, "pagerank": -1.0, "length": 0.25},
                    )
                )
    return made


def interrupted_at(number, real):
    """A function like ``real`` that Ctrl-C stops in its call of this number, and the list of its arguments."""
    calls = []

    def function(task):
        calls.append(task)
        if len(calls) == number:
            raise KeyboardInterrupt
        return real(task)

    return function, calls
