"""``save`` and ``load`` a fitted ranker in one file, with the same scores to the last bit.

The card says what a model is, what it learned from and by which rules, for people and for other programs.

``load_scorer`` scores with numpy alone where the model is a network: the class of a ranker brings scikit-learn with it,
whose import takes longer than scoring a quarter of a million documents. Networks behind other scalers than the
logarithm are loaded as rankers.
"""

import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import check_features, check_no_nan, symmetric_log
from ordino.data.dataset import Dataset
from ordino.data.source import fingerprint
from ordino.errors import ModelFileError, OrdinoError
from ordino.forms import Network, require
from ordino.layers import ACTIVATIONS
from ordino.model_file.container import Contents, read_file, write_file
from ordino.model_file.values import Decoder, Encoder
from ordino.pipelines import first_step, is_idle, last_step, score_with, steps_of
from ordino.plain import as_json
from ordino.rankers import NAMES
from ordino.versions import installed_versions

Score = Callable[[Dataset], NDArray[np.float64]]
"""Gives scores to the documents of a data set, in the caller's row order."""

LEARNED_WITH: Mapping[str, frozenset[str]] = {
    "torch": frozenset({"torch"}), "lightgbm": frozenset({"lightgbm", "ordino.boosting.library"}),
}  # fmt: skip
"""Packages that a model may owe its numbers to, and the modules of which one is loaded where it does."""


def save(
    ranker: Any,
    path: str | Path,
    *,
    data: Dataset | None = None,
    valid: Dataset | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted ranker, or a scikit-learn pipeline that ends in one, to a file.

    The file appears under its name only when it is complete. Private state for continuing training (the state of an
    evolution) is not saved.

    Parameters
    ----------
    data, valid
        Training and validation data; the card records their size, labels and fingerprint.
    notes
        Anything else for the card, as JSON values.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ordino import SingleFeature
    >>> ranker = SingleFeature(feature=2).fit([[1.0, 5.0], [3.0, 4.0]], [0, 1], qid=[1] * 2)
    >>> with TemporaryDirectory() as folder:
    ...     save(ranker, Path(folder, "model.ordino"))
    ...     load(Path(folder, "model.ordino")).predict([[0.0, 8.0]]).tolist()
    [-8.0]
    """
    from ordino.ranker import Ranker

    last = last_step(ranker)
    if not isinstance(last, Ranker):
        raise ModelFileError(f"a {type(last).__name__} is not a ranker; only rankers and pipelines of them are saved")
    if not hasattr(last, "n_features_in_"):
        raise ModelFileError(f"this {type(last).__name__} is not fitted yet; call fit before save")
    encoder = Encoder()
    model = encoder.estimator(ranker, "")
    card = make_card(ranker, data=data, valid=valid, notes=notes)
    write_file(Path(path), Contents(card, model, encoder.arrays))


def load(path: str | Path, *, rankers: Sequence[type] = (), module: Any = None) -> Any:
    """Read the ranker, or the pipeline, that :func:`save` wrote.

    Parameters
    ----------
    rankers
        Your own classes of rankers that the file may use.
    module
        For a :class:`~ordino.TorchRanker`: the module, or the function that makes it, into which the weights of the
        file are loaded. A module is copied, never changed.
    """
    given = {} if module is None else {"module": module}
    return loaded(Path(path), read_file(Path(path)), rankers, given)


def loaded(path: Path, contents: Contents, rankers: Sequence[type] = (), given: Mapping[str, Any] | None = None) -> Any:
    """Make the ranker of a file's contents."""
    with sentences_about(path):
        decoder = Decoder(contents.arrays, rankers, given)
        ranker = decoder.decode(contents.model)
        for name in set(given or ()) - decoder.used:
            raise ModelFileError(f"the model needs no {name}; leave it out")
        check_model(ranker)
    return ranker


@contextmanager
def sentences_about(path: Path) -> Iterator[None]:
    """Say in one sentence about the file whatever goes wrong while its contents are put together."""
    try:
        yield
    except OrdinoError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"{path}: the model in it cannot be restored ({reason}); get it again") from None


def read_card(path: str | Path) -> dict[str, Any]:
    """Read the card of a model file: ranker, parameters, features, data, metrics, versions."""
    return read_file(Path(path)).card


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together: compiled loops trust sizes, so every part is asked first."""
    from ordino.ranker import Ranker

    if not isinstance(last_step(model), Ranker):
        raise ModelFileError("the file holds no ranker; get it again")
    for step in steps_of(model):
        if not is_idle(step):
            check_part(step)


def check_part(part: Any) -> None:
    """Refuse a ranker or a scaler that is not whole."""
    from ordino.data.filling import MedianFilled
    from ordino.data.one_hot import OneHot
    from ordino.data.query_features import Joined
    from ordino.data.scaling import Scaler
    from ordino.ranker import Ranker

    n = getattr(part, "n_features_in_", None)
    require(isinstance(n, int) and not isinstance(n, bool) and n >= 0, "n_features_in_")
    names = getattr(part, "feature_names_in_", None)
    require(names is None or np.shape(names) == (n,), "feature_names_in_")
    if isinstance(part, Ranker):
        _check_categories(getattr(part, "categories_in_", {}), names, "categories_in_")
        scaler = part.scaler_
        if scaler is not None:
            require(isinstance(scaler, Scaler) and scaler.n_features_in_ == n, "scaler_")
            check_part(scaler)
        part.form().check()
    elif isinstance(part, Scaler):
        if isinstance(part, MedianFilled):
            require(part.medians_.dtype == np.float32 and part.medians_.shape == (n,), "medians_")
            if part.inner is not None:
                require(isinstance(part.inner, Scaler) and part.inner.n_features_in_ == n, "inner")
                check_part(part.inner)
        elif isinstance(part, Joined):
            require(len(part.names) == len(part.parts), "names")
            for one in part.parts:
                require(isinstance(one, Scaler) and one.n_features_in_ == n, "parts")
                check_part(one)
        elif hasattr(part, "quantiles_"):
            q = part.quantiles_
            require(q.dtype == np.float64 and q.ndim == 2 and len(q) == n and q.shape[1] > 1, "quantiles_")
        with np.errstate(all="ignore"):  # whatever else it learned is tried on a document of zeros
            part.transform(Dataset(np.zeros((1, n), np.float32), [0.0], feature_names=names))
    elif isinstance(part, OneHot):
        _check_categories(part.categories_, names, "categories_")
    for inner in _inner_parts(part):
        check_part(inner)


def _check_categories(known: Any, names: Any, what: str) -> None:
    fits = isinstance(known, dict) and known.keys() <= set(() if names is None else map(str, names))
    texts = list(known.values()) if fits else []
    are_texts = all(isinstance(some, tuple) and all(isinstance(text, str) for text in some) for some in texts)
    require(fits and are_texts, what)


def _inner_parts(part: Any) -> list[Any]:
    """What stands inside a step of a pipeline: the steps of another one, or the transformers of columns."""
    if hasattr(part, "transformers_"):
        require(part.n_jobs in (None, 1, -1), "n_jobs")  # a forged number would start as many processes
        return [inner for _, inner, _ in part.transformers_ if not isinstance(inner, str)]
    return [step for step in steps_of(part) if not is_idle(step)] if hasattr(part, "steps") else []


def load_scorer(path: str | Path) -> tuple[Score, dict[str, Any]]:
    """What scores as the model of a file does, and the model's card; the ranker itself unless layers are enough."""
    contents = read_file(Path(path))
    return scorer_of(Path(path), contents), contents.card


def scorer_of(path: Path, contents: Contents) -> Score:
    """What scores as the model of a file's contents does."""
    card, model = contents.card, contents.model
    with sentences_about(path):
        check_card(card, model)
        if card["form"] == "network":
            scaler = model["learned"]["scaler_"]
            has_plain_scaling = scaler is None or scaler["estimator"] == "SymmetricLog"
            is_imported = model["estimator"] == "ImportedNetwork"  # whose output may be squashed
            if has_plain_scaling and not is_imported and _activation_of(model) in ACTIVATIONS:
                return _network_score(contents)
    ranker = loaded(path, contents)
    return ranker.predict if last_step(ranker) is ranker else partial(score_with, ranker)


def _activation_of(model: Mapping[str, Any]) -> Any:
    """The activation of a network: what it was learned with, which older files tell by the parameter alone."""
    return model["learned"].get("activation_", model["params"]["activation"])


def check_card(card: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Refuse a card without what commands read of it: a forged file can have any."""
    features, measure = card.get("features"), card.get("measure")
    count, names = (features.get("count"), features.get("names")) if isinstance(features, dict) else (None, None)
    require(isinstance(count, int) and not isinstance(count, bool) and count >= 0, "the card")
    require(names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names)), "the card")
    kinds = features.get("categories", []) if isinstance(features, dict) else []
    require(isinstance(kinds, list) and all(isinstance(name, str) for name in kinds), "the card")
    require(isinstance(measure, dict) and isinstance(card.get("form"), str), "the card")
    known = model.get("learned", {}).get("n_features_in_", count)
    require(known == count and (names is None or len(names) == count), "the card")


def _network_score(contents: Contents) -> Score:
    """What the layers of a network give, to the last bit, with the checks that its ranker would make."""
    decoder, learned = Decoder(contents.arrays), contents.model["learned"]
    names, is_scaled = decoder.decode(learned.get("feature_names_in_")), learned["scaler_"] is not None
    who = str(contents.card.get("ranker"))
    layers = decoder.decode(learned["layers_"])
    form = Network(None, learned["n_features_in_"], layers, _activation_of(contents.model))
    form.check()
    require(names is None or np.shape(names) == (form.n_features,), "feature_names_in_")

    def score(data: Dataset) -> NDArray[np.float64]:
        check_features(data, form.n_features, names, who)
        check_no_nan(data, "X", who)
        scaled = data.replace_features(symmetric_log(data.X), data.feature_names) if is_scaled else data
        return data.restore(form.score_scaled(scaled))

    return score


def make_card(
    ranker: Any, *, data: Dataset | None, valid: Dataset | None, notes: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Gather the card of a fitted ranker or of a pipeline that ends in one."""
    from ordino.data.filling import describe_scaling

    last = last_step(ranker)
    params = {key: as_json(value) for key, value in last.get_params(deep=False).items()}
    planned = params.get("plan") or {}  # what an ensemble carries out has the metric that it was chosen by
    scaler = getattr(last, "scaler_", None)
    used = (name for name, modules in LEARNED_WITH.items() if not modules.isdisjoint(sys.modules))
    packages = ["ordino", "numpy", "scikit-learn", *used]
    return {
        "ranker": type(last).__name__,
        "name": NAMES.get(type(last).__name__),
        "form": form_of(ranker),
        "steps": [type(step).__name__ for step in steps_of(ranker) if not is_idle(step)],
        "parameters": params,
        "features": features_of(ranker),
        "scaling": describe_scaling(scaler),
        "measure": {name: planned.get(name, params.get(name)) for name in ("metric", "profile")},
        "seed": params.get("seed"),
        "learned": _figures(last),
        "data": None if data is None else describe(data),
        "valid": None if valid is None else describe(valid),
        "notes": as_json(notes or {}),  # a measure of one query has no interval
        "versions": {"python": platform.python_version(), **installed_versions(packages)},
    }


def features_of(ranker: Any) -> dict[str, Any]:
    """How many features a ranker or a pipeline takes, their names if they have any, and which are categorical."""
    first, categories = first_step(ranker), categories_of(ranker)
    names = getattr(first, "feature_names_in_", None)
    kinds = {"categories": sorted(categories)} if categories else {}
    return {"count": int(first.n_features_in_), "names": None if names is None else [*map(str, names)], **kinds}


def categories_of(ranker: Any) -> Mapping[str, tuple[str, ...]]:
    """The categories by feature that a ranker, or the first step of a pipeline, knows from training."""
    first = first_step(ranker)
    known = getattr(first, "categories_in_", None) or getattr(first, "categories_", None)
    return known if isinstance(known, Mapping) else {}  # scikit-learn's encoders have lists


def form_of(ranker: Any) -> str:
    """How scores are computed: linear, stumps, trees, network, pairs (which are sorted), or other."""
    return "other" if hasattr(ranker, "steps") else str(ranker.form().kind)


def describe(data: Dataset) -> dict[str, Any]:
    """A description of a data set: its fingerprint, size and labels."""
    levels = np.unique(data.y)
    return {
        "fingerprint": fingerprint(data),
        "documents": data.n_docs,
        "queries": data.n_queries,
        "labels": {"smallest": float(levels[0]), "largest": float(levels[-1]), "levels": len(levels)},
    }


def _figures(ranker: Any) -> dict[str, Any]:
    """What training left behind that is one number or one short text, the last row of its history, and its summary."""
    figures = {
        key.removesuffix("_"): as_json(value)
        for key, value in vars(ranker).items()
        if key.endswith("_") and not key.startswith("_") and isinstance(value, bool | int | float | str | np.number)
        if not (isinstance(value, str) and len(value) > 2000)
    }
    history = getattr(ranker, "history_", None)
    if history:
        figures["last_history"] = as_json(history[-1])
    if hasattr(ranker, "summary"):  # of an ensemble: its members, what each adds, and which features count
        figures["summary"] = as_json(ranker.summary().to_dict())
    return figures
