"""Hostile model files: mutated bytes, and models that were changed and given a right checksum.

Each file is opened in a process that reports whatever tries to start a program, open a connection, import a module by
a new name or write a file. A load must end in a sentence, or in a model that scores like one of finite size; a file
with changed bytes that opens must give the same scores as before.

    python tests/campaigns/models.py [--long] [--record]
"""

import copy
import random
import signal
import sys
import warnings
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import ordino
from campaigns.ledger import Outcome, main
from ordino.errors import OrdinoError
from ordino.model_file import load_scorer
from ordino.model_file.classes import ESTIMATORS
from ordino.model_file.container import Contents, read_file, write_file
from ordino.testing import easy_data
from rankers.test_contract import quick

SHORT, LONG = 200, 10_000
RANKERS = ("ranknet", "kernel-ranknet", "rankde", "gp-rank", "rank-boost", "sortnet", "rank-svm", "prank")
EVENTS = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "exec", "compile")
EVIL = ("os.system", "__class__", "../../x", "builtins.eval", "", "RankSVM", "Pipeline", None, -1, 2**70, 1e308, [], {})
SECONDS = 10


class Watch:
    """Notes what a load does that no load should do."""

    def __init__(self) -> None:
        self.is_on, self.seen = False, list[str]()
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: Any) -> None:
        if self.is_on and event in EVENTS:
            self.seen.append(f"{event} {str(arguments)[:80]}")


def too_long(*_: object) -> None:
    raise TimeoutError


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """The file with bytes changed, cut out, put in or copied."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(changed))
        match rng.randrange(5):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at] = rng.randrange(256)
            case 2:
                del changed[at : at + rng.randrange(1, 40)]
            case 3:
                changed[at:at] = changed[: rng.randrange(1, 40)]
            case 4:
                del changed[at:]
        if not changed:
            break
    return bytes(changed)


def forge(contents: Contents, rng: random.Random) -> Contents:
    """A model with something else in one or two places; the checksum will fit."""
    card, model, arrays = copy.deepcopy(contents)
    for _ in range(rng.choice((1, 1, 2))):
        if arrays and rng.random() < 0.3:
            name = rng.choice(sorted(arrays))
            array = arrays[name]
            arrays[name] = rng.choice(
                (array[:0], array.ravel()[1:], array.astype(np.int8), np.full_like(array, 100),
                 array * np.nan if array.dtype.kind == "f" else array[::-1], np.zeros((0, 3), np.float32))
            )  # fmt: skip
            continue
        place: Any = card if rng.random() < 0.2 else model
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.7:
                place = place[key]
                continue
            if rng.random() < 0.3 and isinstance(place, dict):
                place[rng.choice([str(one) for one in EVIL])] = place.pop(key)
            elif rng.random() < 0.2:
                del place[key]
            else:
                place[key] = rng.choice(EVIL)
            break
    return Contents(card, model, arrays)


def campaign(long: bool, seed: int = 0) -> Outcome:
    """Open the files one by one."""
    n, rng, watch, data = LONG if long else SHORT, random.Random(seed), Watch(), easy_data()
    counts = {"executed": 0, "hangs": 0, "tracebacks": 0, "wrong loads": 0}
    n_made, n_forged, n_opened, problems = 0, 0, 0, list[str]()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, too_long)
    with TemporaryDirectory() as name:
        folder, models = Path(name), list[tuple[Path, Contents, np.ndarray]]()
        for ranker in RANKERS:
            path, fitted = folder / ranker, quick(ranker).fit(data)
            ordino.save(fitted, path)
            ordino.load(path).predict(data)
            load_scorer(path)[0](data)
            models.append((path, read_file(path), fitted.predict(data)))
        for module in {*ESTIMATORS.values()}:
            import_module(module)  # which loading a class of the table may do, and would be seen as running code
        target = folder / "hostile"
        while n_made < n:
            number = n_made
            path, contents, expected = models[number % len(models)]
            is_forged = rng.random() < 0.5
            try:
                if is_forged:
                    write_file(target, forge(contents, rng))
                else:
                    target.write_bytes(mutate_bytes(path.read_bytes(), rng))
            except (TypeError, ValueError, OverflowError):
                continue  # not even a forger can write it
            n_made, n_forged = n_made + 1, n_forged + is_forged
            scores = None
            watch.is_on = True
            signal.alarm(SECONDS)
            try:
                score = ordino.load(target).predict if rng.random() < 0.5 else load_scorer(target)[0]
                scores = score(data)
                n_opened += 1
            except OrdinoError:
                pass
            except TimeoutError:
                counts["hangs"] += 1
                problems.append(f"file {number}: {path.name} took more than {SECONDS} s")
            except Exception as error:
                counts["tracebacks"] += 1
                problems.append(f"file {number}: {path.name}: {type(error).__name__}: {error}"[:200])
            finally:
                signal.alarm(0)
                watch.is_on = False
            if watch.seen:
                counts["executed"] += 1
                problems += watch.seen
                watch.seen = []
            if scores is not None and (
                scores.shape != expected.shape or not (is_forged or np.array_equal(scores, expected))
            ):
                counts["wrong loads"] += 1
                problems.append(f"file {number}: {path.name} gives other scores")
    return Outcome(
        "model files",
        tried=f"{n_made:,} hostile files, {n_forged:,} forged with a right checksum; {n_opened:,} opened and scored",
        failures=counts,
        problems=problems,
    )


if __name__ == "__main__":
    main(campaign)
