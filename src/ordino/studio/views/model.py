"""Model: the card, how it learned, the audit of a comparator, certificates of exports, and the file to take along."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.errors import OrdinoError
from ordino.experiment.report.curves import COUNTERS
from ordino.experiment.run.driver import documents_path, model_path
from ordino.experiment.store import TrialInfo
from ordino.order.audit import audit
from ordino.order.pairs import Pairs
from ordino.pages.numbers import fixed, measure_title, short
from ordino.pages.scales import Scale, span_of
from ordino.studio.ask import Ask, State, StateError, missing
from ordino.studio.shelf import loaded
from ordino.studio.sources import stamp
from ordino.studio.views.board import chosen_board, chosen_group

AUDITED = 12
"""Queries that an audit looks at."""
WEIGHED = 12
POINTS = 200


class Asked(NamedTuple):
    """The model that a page is about: its name, its file if there is one, and its trial if it has one."""

    name: str
    path: Path | None
    trial: TrialInfo | None
    names: list[str]
    folds: list[str]
    history: list[dict[str, Any]]
    weights: Mapping[str, float] | None
    documents: Path | None
    store: str


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    asked = _asked(studio, ask)
    card = _card(asked)
    return {
        "asked": asked,
        "card": card,
        "terms": _terms(asked, card),
        "finding": _finding(asked, card),
        "curve": _curve(asked.history),
        "history": _table(asked.history),
        "weights": _weights(asked.weights),
        "parameters": _parameters(asked, card),
        "audit": _audit(studio, asked, card, wanted=bool(ask.text("audit"))),
        "certificates": _certificates(asked.path, card),
        "size": asked.path.stat().st_size if asked.path else 0,
    }


def _asked(studio: Any, ask: Ask) -> Asked:
    if studio.sources.store is None:
        models = studio.sources.models_by_name
        if not models:
            raise StateError(State("There is no model here.", "Name one, or a store:", "ordino studio MODEL"))
        name = ask.choice("ranker", models, next(iter(models)))
        history = []
        with suppress(StateError, AttributeError, TypeError):
            history = [dict(row) for row in getattr(loaded(models[name], studio.memory), "history_", [])]
        return Asked(name, models[name], None, list(models), [], history, None, None, "")
    with studio.store() as opened:
        group, _ = chosen_group(opened, ask)
        board = chosen_board(opened, ask, group, only_lines=True)
        labels = [line.label for line in board.lines]
        label = ask.choice("ranker", labels, labels[0])
        trials = board.line(label).trials
        folds = list(dict.fromkeys(trial.fold for trial in trials))
        fold = ask.choice("fold", folds, folds[0])
        own = [trial for trial in trials if trial.fold == fold]
        trial = next((one for one in own if model_path(opened.models, one.key).is_file()), own[0])
        path = model_path(opened.models, trial.key)
        documents = documents_path(opened.models, trial.data)
        return Asked(
            label,
            path if path.is_file() else None,
            trial,
            labels,
            folds,
            opened.view.history(trial.key),
            opened.view.feature_weights(trial.key),
            documents if documents.is_file() else None,
            opened.path.name,
        )


def _card(asked: Asked) -> dict[str, Any] | None:
    if asked.path is None:
        return None
    from ordino.model_file import read_card

    try:
        return read_card(asked.path)
    except OrdinoError as error:
        raise StateError(State(str(error), kind="wrong", role="alert"), 400) from None


def _terms(asked: Asked, card: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What is known, as terms and values."""
    terms: list[tuple[str, Any]] = []
    trial = asked.trial
    if card is not None:
        terms += [
            ("ranker", card["ranker"]),
            ("scores by", card["form"]),
            ("features", f"{card['features']['count']:,}"),
            ("scaling", card.get("scaling") or "none"),
            ("seed", card.get("seed")),
        ]
        for name, value in (card.get("learned") or {}).items():
            if isinstance(value, int | float | str) and name not in ("n_features_in",):
                terms.append((name.replace("_", " "), short(value) if isinstance(value, float) else value))
        for part in ("data", "valid"):
            if card.get(part):
                told = card[part]
                terms.append((f"{part}, fingerprint", told["fingerprint"]))
    if trial is not None:
        terms += [
            ("trained on", f"{trial.dataset}, {trial.fold}"),
            ("training", f"{trial.train_seconds:.2f} s"),
            ("scoring", f"{trial.score_seconds:.3f} s"),
            ("started", trial.started.replace("T", " ")[:16] + " UTC" if trial.started else ""),
            ("chosen by", measure_title(trial.chosen_by)),
            ("fold’s fingerprint", trial.data),
        ]
        terms += [(f"{measure_title(name)} on test data", fixed(value)) for name, value in list(trial.test.items())[:6]]
    versions = (card or {}).get("versions") or (dict(trial.versions) if trial else {})
    terms.append(("made with", ", ".join(f"{name} {number}" for name, number in versions.items())))
    return [(name, str(value)) for name, value in terms if value not in (None, "")]


def _parameters(asked: Asked, card: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    """Every parameter, and whether it was set."""
    given = dict(asked.trial.params) if asked.trial is not None else {}
    every = (card or {}).get("parameters") or given
    return [(name, json.dumps(value), name in given) for name, value in every.items()]


def _finding(asked: Asked, card: dict[str, Any] | None) -> str:
    where = f" on {asked.trial.fold} of {asked.trial.dataset}" if asked.trial else ""
    if card is None:
        return f"The trial of {asked.name}{where} is known; its model was not kept."
    kinds = {
        "linear": "a weighted sum of",
        "trees": "trees over",
        "stumps": "stumps over",
        "network": "a network over",
        "pairs": "a comparator of pairs over",
    }
    told = f"{asked.name}{where} is {kinds.get(card['form'], 'a ranker of')} {card['features']['count']:,} features"
    return f"{told}, learned in {asked.trial.train_seconds:.2f} seconds." if asked.trial else f"{told}."


def _curve(history: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The metric on validation (else training) data, step by step, as a drawing."""
    for part in ("valid", "train"):
        known = [(i + 1, float(row[part])) for i, row in enumerate(history) if isinstance(row.get(part), int | float)]
        known = [(step, value) for step, value in known if np.isfinite(value)]
        if len({value for _, value in known}) > 1:
            break
    else:
        return None
    best = max(known, key=lambda one: one[1])
    known = known[:: max(1, len(known) // POINTS)]
    low, high = span_of(value for _, value in known)
    x, y = Scale(1, max(2, known[-1][0]), 5, 96), Scale(low, high, 150, 16)
    ends = [(x.percent(step), f"{y.at(value):.1f}") for step, value in known]
    lines = [(*ends[i], *ends[i + 1]) for i in range(len(ends) - 1)]
    grid = [(f"{y.at(float(text.replace('−', '-'))):.1f}", text) for _, text in Scale(low, high).ticks(4)]
    return {
        "lines": lines,
        "grid": grid,
        "ticks": x.ticks(5),
        "part": {"valid": "validation", "train": "training"}[part],
        "best": (x.percent(best[0]), f"{y.at(best[1]):.1f}", f"{best[1]:.4f} at {best[0]:,}", x.at(best[0]) > 70),
        "n": len(history),
    }


def _table(history: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A few rows of the history."""
    if not history:
        return None
    names = [name for name in history[-1] if name not in COUNTERS and isinstance(history[-1][name], int | float)][:6]
    places = sorted({int(i) for i in np.linspace(0, len(history) - 1, min(8, len(history)))})
    rows = [
        (
            i + 1,
            [short(history[i].get(name)) if isinstance(history[i].get(name), int | float) else "–" for name in names],
        )
        for i in places
    ]
    return {"names": names, "rows": rows} if names else None


def _weights(weights: Mapping[str, float] | None) -> list[tuple[str, float]]:
    return sorted((weights or {}).items(), key=lambda one: -abs(one[1]))[:WEIGHED]


def _audit(studio: Any, asked: Asked, card: dict[str, Any] | None, *, wanted: bool) -> dict[str, Any] | None:
    """How far a comparator is from an order, where it is one: asked for, or offered."""
    if card is None or card["form"] != "pairs" or asked.path is None:
        return None
    if asked.documents is None:
        return {"offered": False, "rows": [], "needs": True}
    if not wanted:
        return {"offered": True, "rows": [], "needs": False}
    path, documents = asked.path, asked.documents

    def make() -> list[tuple[str, str, str]]:
        ranker = loaded(path, studio.memory)
        data = Dataset.open(documents)
        some = ranker.prepared(data.select_queries(np.arange(min(AUDITED, data.n_queries))))
        form = ranker.form()
        assert isinstance(form, Pairs)
        found = audit(form.network, some, algorithm=getattr(ranker, "algorithm", "merge"))
        severity = "note" if found.cyclic_share < 0.001 else "warning"
        rows = [
            (
                severity,
                f"{100 * found.cyclic_share:.3g} % of triples are cyclic",
                f"counted in {found.n_queries:,} queries, {found.n_docs:,} documents",
            )
        ]
        for name, moved in found.moves.items():
            is_shuffled = name == "shuffles"
            otherwise = "if the rows come shuffled" if is_shuffled else f"if {name} orders them"
            rows.append(
                (
                    "warning" if is_shuffled and moved.docs else "note",
                    f"{moved.docs:.1f} of 1000 documents stand elsewhere {otherwise}",
                    f"by at most {moved.max:.1f} of 1000 places",
                )
            )
        return rows

    return {
        "offered": False,
        "needs": False,
        "rows": studio.memory.get(("audit", str(path), stamp(path, documents)), make),
    }


def _certificates(path: Path | None, card: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    """What `ordino export` has certified of such a model, in folders beside it."""
    if path is None or card is None:
        return []
    found = []
    for file in sorted(path.parent.glob("*/certificate.json")):
        with suppress(OSError, ValueError, AttributeError):
            told = json.loads(file.read_text(encoding="utf-8"))
            if (told.get("ranker"), told.get("features")) == (card["ranker"], card["features"]["count"]):
                passed = bool(told.get("passed"))
                what = "ranks as the model does" if passed else "ranks in another order"
                found.append(
                    ("note" if passed else "error", f"{told['engine']} {what}", f"{file.parent.name}/{file.name}")
                )
    return found


def download(studio: Any, ask: Ask) -> tuple[bytes, str, str]:
    """The model file."""
    asked = _asked(studio, ask)
    if asked.path is None:
        raise missing(f"The model of {asked.name} was not kept.")
    safe = "".join(one if one.isalnum() and one.isascii() else "-" for one in asked.name)[:60]
    return asked.path.read_bytes(), "application/octet-stream", f"{safe}.ordino"
