"""``ordino.import_model``: a model file of another tool as a ranker of ours."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ordino.checks import check_choice, check_int
from ordino.errors import ModelFileError, OrdinoError
from ordino.imports.lightgbm import from_lightgbm
from ordino.imports.ranklib import from_ranklib
from ordino.imports.xgboost import from_xgboost

LARGEST = 2_000_000_000  # bytes of a file

SOURCES: Mapping[str, Callable[[str, int | None], Any]] = MappingProxyType(
    {"ranklib": from_ranklib, "lightgbm": from_lightgbm, "xgboost": from_xgboost}
)
"""Tools whose models are read, by name: RankLib's text, LightGBM's text, XGBoost's JSON."""


def import_model(path: str | Path, source: str, *, n_features: int | None = None) -> Any:
    r"""Read a model of RankLib, LightGBM or XGBoost as a ranker that predicts, explains, and is saved and exported.

    Parameters
    ----------
    path
        RankLib's text model, LightGBM's model text, or XGBoost's JSON (``save_model``, or a dump). A dump has neither
        the base score nor the weights that the booster dart gives its trees, and does not tell: give what it saved.
    source
        The tool that wrote it: ranklib, lightgbm or xgboost.
    n_features
        How many features documents have, where the file does not say: RankLib and dumps of XGBoost name only those
        that the model asks for.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "ca.txt")
    ...     _ = file.write_text("## Coordinate Ascent\n1:0.5 2:-1.0\n")
    ...     import_model(file, "ranklib").predict([[4.0, 1.0]]).tolist()
    [1.0]
    """
    read = SOURCES[check_choice("source", source, SOURCES)]
    if n_features is not None:
        check_int("n_features", n_features, low=1, high=1_000_000)
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file}: this is a folder; name a file in it")
    if not file.is_file():
        raise ModelFileError(f"{file}: there is no such file")
    if file.stat().st_size > LARGEST:
        raise ModelFileError(f"{file}: it is larger than {LARGEST:,} bytes; no such model is read")
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError:
        fix = "; save it as JSON with Booster.save_model('model.json')" if source == "xgboost" else "; get it again"
        raise ModelFileError(f"{file}: this is no text{fix}") from None
    try:
        return read(text, n_features)
    except OrdinoError as error:
        raise type(error)(f"{file}: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise ModelFileError(
            f"{file}: this is no model of {source} ({type(error).__name__}: {reason}); get it again"
        ) from None
