"""Trials kept in a folder, so that a fit that was stopped goes on where it was.

A trial is a file of plain arrays: its scores of unseen documents after every step, and what its rankers learned until
the step that all queries together choose. Its name says which version, data, folds, measure and kind it belongs to, and
its row whether the trial is whole or the clock cut it short.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.source import contents_hash, fingerprint
from ordino.ensemble.trials import Bench, Trial
from ordino.forms import Stump
from ordino.layers import Layer
from ordino.networks.training import Trained
from ordino.ranker import Ranker
from ordino.versions import __version__


@final
class Kept:
    """A folder of trials on one bench."""

    def __init__(self, folder: str, bench: Bench) -> None:
        self._folder, self._bench = Path(folder), bench
        self._folder.mkdir(parents=True, exist_ok=True)
        judge = bench.judge
        told = [__version__, fingerprint(bench.data), bench.n_folds, bench.seed]
        told += [str(judge.metric), str(judge.profile.name)]
        if bench.data.weights is not None:
            told.append(sha256(bench.data.weights.tobytes()).hexdigest()[:16])
        if bench.data.doc_ids is not None and judge.profile.ties == "docno":
            told.append(contents_hash(bench.data, by_id=True))
        self._bench_text = json.dumps(told)

    def _path(self, trial: Trial) -> Path:
        return self._folder / f"{sha256((self._bench_text + trial.kind.text).encode()).hexdigest()[:24]}.npz"

    def save(self, trial: Trial) -> None:
        """Write a trial that has all folds, unless there is one that went as far."""
        path, known = self._path(trial), self.row(trial)
        if known is not None and (known["whole"] or (not trial.is_whole and _reach(known) >= _reach(trial.row))):
            return
        arrays: dict[str, NDArray[Any]] = {"row": _bytes(json.dumps(trial.row | {"whole": trial.is_whole}))}
        rankers = trial.rankers(trial.best_step(np.full(self._bench.data.n_queries, True)))
        for fold, (scores, ranker) in enumerate(zip(trial.scores, rankers, strict=True)):
            arrays[f"{fold}.scores"] = scores[: trial.n_steps]
            arrays |= {f"{fold}.{name}": value for name, value in _arrays(ranker).items()}
        partial = path.with_suffix(".part.npz")
        np.savez_compressed(partial, **arrays)  # type: ignore[arg-type]
        partial.replace(path)

    def row(self, trial: Trial) -> dict[str, Any] | None:
        """What was kept of a trial, as a row of a plan that also says whether it is ``whole``; None if nothing was."""
        path = self._path(trial)
        if not path.exists():
            return None
        with np.load(path) as kept:
            return dict(json.loads(kept["row"].tobytes()))

    def load(self, trial: Trial) -> None:
        """Take over what was kept of a trial that has not begun."""
        with np.load(self._path(trial)) as kept:
            arrays = {name: kept[name] for name in kept.files}
        row = json.loads(arrays["row"].tobytes())
        trial.share, trial.shares, trial.seconds = row["share"], row.get("shares", []), row["seconds"]
        trial.is_cut = not row["whole"]
        trial.scores = [arrays[f"{fold}.scores"] for fold in range(self._bench.n_folds)]
        width = self._bench.views.width(trial.kind.features)
        trial.at = [_Again(trial, arrays, fold, width) for fold in range(self._bench.n_folds)]


@final
class _Again:
    """The ranker of a fold at the step that was chosen, made of the arrays of a file."""

    def __init__(self, trial: Trial, arrays: dict[str, NDArray[Any]], fold: int, width: int) -> None:
        self._trial, self._arrays, self._fold, self._width = trial, arrays, fold, width

    def __call__(self, step: int) -> Ranker:
        start = f"{self._fold}."
        found = {name[len(start) :]: value for name, value in self._arrays.items() if name.startswith(start)}
        ranker: Any = self._trial.bench.make(self._trial.kind)
        ranker.scaler_, ranker.n_features_in_ = None, self._width
        ranker.n_queries_in_, ranker.longest_query_in_ = (int(one) for one in found["seen"])
        if "model_" in found:
            ranker.model_, ranker.best_round_ = found["model_"].tobytes().decode(), int(found["best_round_"])
        if "coef_" in found:
            ranker.coef_ = found["coef_"]
        if "stumps_" in found:
            ranker.stumps_ = [Stump(int(j), float(at), float(alpha)) for j, at, alpha in found["stumps_"]]
        if "layers_.0.W" in found:
            n_layers = sum(name.endswith(".W") for name in found)
            layers = [Layer(found[f"layers_.{i}.W"], found[f"layers_.{i}.b"]) for i in range(n_layers)]
            ranker._keep(Trained(layers, [], step + 1))
        return ranker  # type: ignore[no-any-return]


def _arrays(ranker: Any) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {"seen": np.array([ranker.n_queries_in_, ranker.longest_query_in_])}
    if hasattr(ranker, "model_"):
        found |= {"model_": _bytes(ranker.model_), "best_round_": np.array(ranker.best_round_)}
    if hasattr(ranker, "coef_"):
        found["coef_"] = ranker.coef_
    if hasattr(ranker, "stumps_"):
        found["stumps_"] = np.array([tuple(stump) for stump in ranker.stumps_], np.float64).reshape(-1, 3)
    for i, (W, b) in enumerate(getattr(ranker, "layers_", ())):
        found |= {f"layers_.{i}.W": W, f"layers_.{i}.b": b}
    return found


def _reach(row: Mapping[str, Any]) -> float:
    """How far a trial went: steps, as if of all queries."""
    return float(row["share"] * row["steps"])


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
