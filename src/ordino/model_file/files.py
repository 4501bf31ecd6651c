"""``save`` and ``load``: a fitted ranker into one file and back, with the same scores to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordino.data.dataset import Dataset
from ordino.errors import ModelFileError, OrdinoError
from ordino.model_file.card import last_step, make_card
from ordino.model_file.check_model import check_model
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


def load(path: str | Path, *, rankers: Sequence[type] = ()) -> Any:
    """Read the ranker, or the pipeline, that :func:`save` wrote.

    Parameters
    ----------
    rankers
        Classes of your own that the file may name, beside Ordino's.
    """
    return loaded(Path(path), read_file(Path(path)), rankers)


def loaded(path: Path, contents: Contents, rankers: Sequence[type] = ()) -> Any:
    """Make the ranker of a file's contents."""
    with sentences_about(path):
        ranker = Decoder(contents.arrays, rankers).decode(contents.model)
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
