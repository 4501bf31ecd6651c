"""``save`` and ``load``: a fitted ranker into one file and back, with the same scores to the last bit.

``load_scorer`` scores with numpy alone where the model is a network: the class of a ranker brings scikit-learn with it,
whose import takes longer than scoring a quarter of a million documents. Networks behind other scalers than the
logarithm are loaded as rankers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import check_features, check_no_nan, symmetric_log
from ordino.data.dataset import Dataset
from ordino.errors import ModelFileError, OrdinoError
from ordino.forms import Network, require
from ordino.layers import ACTIVATIONS
from ordino.model_file.card import last_step, make_card, steps_of
from ordino.model_file.container import Contents, read_file, write_file
from ordino.model_file.values import Decoder, Encoder


def save(
    ranker: Any,
    path: str | Path,
    *,
    data: Dataset | None = None,
    valid: Dataset | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted ranker, or a scikit-learn pipeline that ends in one, to a file.

    The file takes its name only when all of it is on the disk. What a ranker keeps for going on with training under a
    private name (the state of an evolution) is not saved.

    Parameters
    ----------
    data, valid
        What the ranker learned from and was chosen on: their size, labels and fingerprint go on the card.
    notes
        What else the card shall say; values that JSON has.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ordino import SingleFeature
    >>> ranker = SingleFeature(feature=2).fit([[1.0, 5.0], [3.0, 4.0]], [0, 1])
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
        Classes of rankers of your own that the file may name.
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
        raise ModelFileError(f"{path}: the model in it cannot be put together ({reason}); get it again") from None


def read_card(path: str | Path) -> dict[str, Any]:
    """Read the card of a model file: ranker, parameters, features, data, measures, versions."""
    return read_file(Path(path)).card


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together: compiled loops trust sizes, so every part is asked first."""
    from ordino.ranker import Ranker

    if not isinstance(last_step(model), Ranker):
        raise ModelFileError("the file holds no ranker; get it again")
    for step in steps_of(model):
        check_part(step)


def check_part(part: Any) -> None:
    """Refuse a ranker or a scaler that is not whole."""
    from ordino.data.scaling import Scaler
    from ordino.ranker import Ranker

    n = getattr(part, "n_features_in_", None)
    require(isinstance(n, int) and not isinstance(n, bool) and n >= 0, "n_features_in_")
    names = getattr(part, "feature_names_in_", None)
    require(names is None or np.shape(names) == (n,), "feature_names_in_")
    if isinstance(part, Ranker):
        scaler = part.scaler_
        if scaler is not None:
            require(isinstance(scaler, Scaler) and scaler.n_features_in_ == n, "scaler_")
            check_part(scaler)
        part.form().check()
    elif isinstance(part, Scaler) and hasattr(part, "quantiles_"):
        q = part.quantiles_
        require(q.dtype == np.float64 and q.ndim == 2 and len(q) == n and q.shape[1] > 1, "quantiles_")


class Scoring(Protocol):
    """Whatever gives scores to the documents of a data set."""

    def predict(self, data: Dataset) -> NDArray[np.float64]:
        """Scores in the caller's row order."""


@final
class NetworkScorer:
    """The layers of a network, and the checks that its ranker would make."""

    def __init__(self, contents: Contents) -> None:
        decoder = Decoder(contents.arrays)
        learned = contents.model["learned"]
        self._name = contents.card["ranker"]
        self._names = decoder.decode(learned.get("feature_names_in_"))
        self._is_scaled = learned["scaler_"] is not None
        layers, activation = decoder.decode(learned["layers_"]), contents.model["params"]["activation"]
        self._form = Network(None, learned["n_features_in_"], layers, activation)
        self._form.check()
        require(self._names is None or np.shape(self._names) == (self._form.n_features,), "feature_names_in_")

    def predict(self, data: Dataset) -> NDArray[np.float64]:
        """The same scores as the ranker's own ``predict``, to the last bit."""
        check_features(data, self._form.n_features, self._names)
        check_no_nan(data, "X", self._name)
        scaled = data.replace(X=symmetric_log(data.X), feature_names=data.feature_names) if self._is_scaled else data
        scores: NDArray[np.float64] = data.restore(self._form.score_scaled(scaled))
        return scores


def load_scorer(path: str | Path) -> tuple[Scoring, dict[str, Any]]:
    """What scores as the model of a file does, and the model's card; the ranker itself unless layers are enough."""
    contents = read_file(Path(path))
    card, model = contents.card, contents.model
    with sentences_about(Path(path)):
        scaler = model["learned"]["scaler_"]
        has_plain_scaling = scaler is None or scaler["estimator"] == "SymmetricLog"
        if card["form"] == "network" and has_plain_scaling and model["params"]["activation"] in ACTIVATIONS:
            return NetworkScorer(contents), card
    return loaded(Path(path), contents), card
