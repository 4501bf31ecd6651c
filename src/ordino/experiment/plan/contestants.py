"""What competes without being trained here: a saved model, or scores that something else gave to the documents.

They are measured on the test part of each fold like every ranker. Nobody knows what they have learned from, so a model
whose card names the very data that it is tested on is refused, and boards say which lines were not trained here.
"""

from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.data.source import fingerprint
from ordino.data.trec import is_run, read_run, read_scores
from ordino.errors import DataError, ParameterError
from ordino.model_file import load, read_card
from ordino.model_file.container import is_model_file
from ordino.parameters import param
from ordino.pipelines import score_with
from ordino.ranker import Ranker

FOLD = "{fold}"
"""Stands for the name of the fold in the name of a file."""


class Given(Ranker):
    """A contestant that learns nothing here."""

    allows_nan = True
    takes_categories = True

    file: str = param("", "The file as the plan names it.")
    contents: str = param("", "A hash of the file: another file under its name is another contestant.")

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        """Nothing is learned."""


@final
class ModelFile(Given):
    """A model that ``ordino.save`` or ``ordino train`` wrote."""

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return score_with(load(self.file), data.as_grouped())


@final
class ScoreFile(Given):
    """Scores of the documents of a test part."""

    rows: str = param("", "The file with a score for each row of the test part, which a run writes.")

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = np.load(self.rows)
        if len(scores) != data.n_docs:
            raise DataError(f"{self.file}: {len(scores)} scores for {data.n_docs} documents; give one for each")
        return scores


KINDS: dict[str, type[Given]] = {"model-file": ModelFile, "score-file": ScoreFile}
"""By the name that trials have of them."""


def is_file_name(ranker: Any) -> bool:
    """Whether an entry of a plan names a file: rankers have neither dots nor slashes in their names."""
    return isinstance(ranker, str) and ("." in ranker or "/" in ranker or "\\" in ranker)


def kind_of(file: str) -> str:
    """The kind of contestant that a file holds."""
    return "model-file" if is_model_file(file) else "score-file"


class Settled(NamedTuple):
    """A file for one fold."""

    params: dict[str, str]
    scores: NDArray[np.float64] | None
    """Of each row of the test part; None for a model, which gives them itself."""


def settle(name: str, fold: Fold, whole: Dataset | None) -> Settled:
    """The file's contents for a fold, checked; ``whole`` is the data that was cut into folds, if that was done here."""
    file = name.replace(FOLD, fold.name)
    if not Path(file).is_file():
        raise ParameterError(f"{file}: there is no such file; check the name, or choose a ranker from `ordino rankers`")
    params = {"file": file, "contents": blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()}
    if kind_of(file) == "model-file":
        _refuse_known(file, fold.test, whole)
        return Settled(params, None)
    if is_run(file):
        return Settled(params, _of_run(file, fold.test))
    if FOLD in name:
        scores = read_scores(file, n_docs=fold.test.n_docs)
        return Settled(params, scores if fold.test.order is None else scores[fold.test.order])
    if whole is None:
        raise ParameterError(
            f"{file}: to which fold do these scores belong? write {FOLD} for the fold's name, or give a TREC run"
        )
    return Settled(params, _of_whole(file, fold.test, whole))


def _refuse_known(file: str, test: Dataset, whole: Dataset | None) -> None:
    learned_from = (read_card(file).get("data") or {}).get("fingerprint")
    if learned_from in [fingerprint(data) for data in (test, whole) if data is not None]:
        raise ParameterError(
            f"{file}: was trained on the data that it would be tested on; give data that it has not seen"
        )


def _of_whole(file: str, test: Dataset, whole: Dataset) -> NDArray[np.float64]:
    """Scores of all rows of a file, of which the test part has some queries."""
    scores = read_scores(file, n_docs=whole.n_docs)
    grouped = scores if whole.order is None else scores[whole.order]
    start = dict(zip(whole.query_ids.tolist(), whole.offsets.tolist(), strict=False))
    found = [grouped[start[q] : start[q] + n] for q, n in zip(test.query_ids.tolist(), test.counts, strict=True)]
    return np.concatenate(found)


def _of_run(file: str, test: Dataset) -> NDArray[np.float64]:
    """Scores by query and document id; what the run does not have comes last."""
    if test.doc_ids is None:
        raise DataError(f"{file}: the data has no document ids to find those of the run by; give one score per line")
    run = read_run(file)
    known = [run.get(str(query), {}) for query in test.query_ids.tolist()]
    if not any(known):
        raise DataError(f"{file}: has none of the test queries; compare the query ids of the two files")
    rows = zip(test.query_number.tolist(), test.doc_ids.tolist(), strict=True)
    return np.array([known[query].get(str(document), -np.inf) for query, document in rows])
