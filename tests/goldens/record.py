"""Records the goldens: ``python tests/goldens/record.py FOLDER [VARIANT ...]``; after that no number may move.

With names of variants only these are recorded anew, and all others stay as they are.
Scores of every variant on a fixed synthetic set, a model file of each, and a store with its board. On the machine that
recorded them the bits are compared, elsewhere the numbers to 1e-6.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import ordino
from goldens.variants import make, variants

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "cmaes")


def data() -> tuple[ordino.Dataset, ordino.Dataset, ordino.Dataset]:
    """Training, validation and test part of the set that everything is recorded on."""
    whole = ordino.synthetic("mq", queries=30, seed=11)
    narrow = whole.replace(X=whole.X[:, :12])
    train, valid, test = narrow.split(0.5, 0.25, seed=0)
    return train, valid, test.select_queries(np.arange(5))


def machine() -> str:
    """What decides how sums are rounded: the processor and the libraries."""
    told = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    known = {name.strip(): value.strip() for name, value in told.items()}
    model = known.get("model name", platform.processor())
    kind = "/".join(known.get(name, "?") for name in ("cpu family", "model", "stepping"))  # clouds give all one name
    return "; ".join([f"{model} {kind}", platform.python_version(), *(f"{name} {version(name)}" for name in PACKAGES)])


def file_name(variant: str) -> str:
    """A name that every file system takes."""
    return "".join(c if c.isalnum() or c in "-=.," else "_" for c in variant)[:120] + ".ordino"


def scores_of(variant: str) -> tuple[np.ndarray, object]:
    """The scores of the test part and the fitted ranker."""
    name, changes = variants()[variant]
    train, valid, test = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = make(name, changes).fit(train, valid=valid)
    return ranker.predict(test), ranker


def main(folder: Path, *chosen: str) -> None:
    """Write everything, or the chosen variants alone."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    scores = dict(np.load(folder / "scores.npz")) if chosen else {}
    for variant in chosen or variants():
        scores[variant], ranker = scores_of(variant)
        try:
            ordino.save(ranker, folder / "models" / file_name(variant))
        except ordino.errors.ModelFileError as error:
            print(variant, error)
    np.savez_compressed(folder / "scores.npz", **scores)
    (folder / "machine.json").write_text(json.dumps(machine()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
