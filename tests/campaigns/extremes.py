"""Every ranker on data at the edge: finite scores or one sentence, never a traceback, never NaN, never minutes.

python tests/campaigns/extremes.py [--long] [--record]
"""

import signal
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns.ledger import Outcome, main
from ordino import Dataset
from ordino.errors import OrdinoError
from rankers.test_contract import VARIANTS, quick

SECONDS = 120
SHORT_SHAPES = ("one document", "huge values", "no features")
RNG = np.random.default_rng(0)
X, Y, QID = RNG.normal(size=(40, 5)), RNG.integers(0, 3, 40), np.repeat(np.arange(5), 8)


def shaped(X=X, y=Y, qid=QID):  # type: ignore[no-untyped-def]
    return X, y, qid


SHAPES = {
    "one document": shaped(X[:1], [1], [0]),
    "no features": shaped(X[:, :0]),
    "one feature": shaped(X[:, :1]),
    "every row a query": shaped(qid=np.arange(40)),
    "one query": shaped(qid=np.zeros(40, int)),
    "one long query and single ones": shaped(qid=np.r_[np.zeros(35, int), 1:6]),
    "equal labels": shaped(y=np.ones(40)),
    "negative labels": shaped(y=Y - 5),
    "fractional labels": shaped(y=Y + 0.25),
    "labels up to a million": shaped(y=Y * 500_000),
    "labels up to 1e300": shaped(y=Y * 5e299),
    "a label for each row": shaped(y=np.arange(40)),
    "equal documents": shaped(np.ones((40, 5))),
    "constant features": shaped(np.c_[X[:, :2], np.full((40, 3), 7.0)]),
    "equal features": shaped(np.repeat(X[:, :1], 5, axis=1)),
    "huge values": shaped(X * 1e38),
    "tiny values": shaped(X * 1e-42),
    "huge and tiny values": shaped(X * np.array([1e38, 1e-38, 1.0, 1e20, 1e-20])),
    "one huge value": shaped(np.where(np.arange(200).reshape(40, 5) == 7, 3e38, X)),
    "integers": shaped(np.rint(X * 3)),
    "more features than rows": shaped(RNG.normal(size=(40, 300))),
}


def too_long(*_: object) -> None:
    raise TimeoutError


def attempt(variant: str, shape: str) -> str:
    """What went wrong, or nothing."""
    name, changes = VARIANTS[variant]
    ranker, (X, y, qid) = quick(name).set_params(**changes), SHAPES[shape]
    signal.alarm(SECONDS)
    try:
        data = Dataset(X, y, qid)
        scores = ranker.fit(data).predict(data)
        if scores.shape != (data.n_docs,) or not np.isfinite(scores).all():
            return f"{variant}, {shape}: {np.count_nonzero(~np.isfinite(scores))} scores are not finite"
    except OrdinoError as error:
        return f"{variant}, {shape}: the sentence has several lines" if "\n" in str(error) else ""
    except TimeoutError:
        return f"{variant}, {shape}: took more than {SECONDS} s"
    except Exception as error:
        return f"{variant}, {shape}: {type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)
    return ""


def campaign(long: bool, variants: list[str] | None = None) -> Outcome:
    """Fit every variant on every shape."""
    chosen, shapes = variants or list(VARIANTS), SHAPES if long else SHORT_SHAPES
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    found = [attempt(variant, shape) for variant in chosen for shape in shapes]
    problems = [problem for problem in found if problem]
    return Outcome(
        "extremes",
        tried=f"{len(chosen)} variants of rankers on {len(shapes)} kinds of data",
        failures={"tracebacks, NaN or timeouts": len(problems)},
        problems=problems,
    )


if __name__ == "__main__":
    main(campaign)
