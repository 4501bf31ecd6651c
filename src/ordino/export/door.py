"""``ordino.export_model``: files for an engine, with their certificate beside them."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ordino.checks import check_choice
from ordino.data.arrow import written_whole
from ordino.data.dataset import Dataset
from ordino.errors import ExportError, ParameterError, import_extra
from ordino.export.assemble import assemble
from ordino.export.certificate import Certificate, certify
from ordino.export.family import PlainTrees
from ordino.export.page import certificate_page
from ordino.export.targets import TARGETS, fitted_to
from ordino.plain import as_json


class Exported(NamedTuple):
    """What was exported."""

    files: Mapping[str, str | bytes]
    """Texts (or bytes) by the names of the files, the certificate among them."""
    certificate: Certificate
    commands: tuple[str, ...]
    """How to upload the files, and to use the model."""


def export_model(
    ranker: Any, to: str, out: str | Path | None = None, *, data: Dataset | None = None, name: str = "ordino",
    lift: bool = False,
) -> Exported:  # fmt: skip
    """Write a fitted ranker for a search engine, and hold what was written to the ranker.

    The certificate (``certificate.json``, ``certificate.html``) says what came out; look at ``certificate.passed``.

    Parameters
    ----------
    ranker
        A fitted ranker, or a scikit-learn pipeline that ends in one.
    to
        A name in :data:`~ordino.export.TARGETS`: solr, elasticsearch, opensearch, elastic, vespa, ranklib, lightgbm,
        onnx.
    out
        The folder to write to, which is made if needed; None writes nothing.
    data
        Documents on which the order must be the same, besides rows that are made for the model.
    name
        What the engine shall call the model.
    lift
        Add a constant to the trees, so that no score is negative (elasticsearch, opensearch, elastic).

    Examples
    --------
    >>> from ordino import RankBoost
    >>> from ordino.testing import easy_data
    >>> found = export_model(RankBoost(rounds=5).fit(easy_data()), "solr", data=easy_data(seed=1))
    >>> found.certificate.passed, found.certificate.data.queries_changed, sorted(found.files)[:2]
    (True, 0, ['certificate.html', 'certificate.json'])
    """
    target = TARGETS[check_choice("engine", to, TARGETS)]
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", name, flags=re.ASCII):
        raise ParameterError(f"name={name!r}; use letters, digits, _, - and ., starting with a letter")
    if to == "onnx":
        import_extra("onnx", extra="onnx", purpose="export to ONNX")
    form = fitted_to(target, assemble(ranker))
    if lift and (not isinstance(form, PlainTrees) or to not in ("elasticsearch", "opensearch", "elastic")):
        raise ExportError(
            "lift adds a tree: it needs a ranker of trees or stumps, and elasticsearch, opensearch or elastic"
        )
    written = target.write(form, name, lift=lift)
    certificate = certify(ranker, to, target, form, written, data)
    files = dict(written.files)
    files["certificate.json"] = json.dumps(as_json(certificate.to_dict()), indent=1, allow_nan=False) + "\n"
    files["certificate.html"] = certificate_page(certificate, written.commands)
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            with written_whole(folder / file) as part:
                part.write_bytes(content.encode() if isinstance(content, str) else content)
    return Exported(files, certificate, written.commands)
