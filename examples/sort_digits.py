"""Digits in order: a comparator that never sees a number learns to sort handwritten digits from pairs of images.

All it is told of a pair is which of the two comes first. It then sorts images that it has not seen. Three settings:
any two images; only neighbors (4 before 5, never 4 before 7); and one answer of five wrong. `python sort_digits.py
3000` takes fewer pairs. The pictures before.pgm and after.pgm are written into the working folder.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import ordino
from ordino.order.audit import audit

N_PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
SETTINGS = {"any two": {}, "neighbors": {"gap": 1}, "one of five wrong": {"wrong": 0.2}}
X, digit = load_digits(return_X_y=True)
X /= 16
seen, unseen = np.split(np.random.default_rng(0).permutation(len(digit)), [1297])
scorer = {"hidden": (64, 32), "scaling": None, "learning_rate": 3e-3, "batch": 64, "dropout": 0.25, "epochs": 10}
comparator = {"hidden": (64, 32), "scaling": None, "dropout": 0.0, "epochs": 20}


def pairs(gap=None, wrong=0.0, seed=1):
    """Pairs of images, each a query of two documents; the label only says which one comes later."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice(seen, (2, 12 * N_PAIRS))
    fits = (digit[a] != digit[b]) if gap is None else (np.abs(digit[a] - digit[b]) == gap)
    a, b = a[fits][:N_PAIRS], b[fits][:N_PAIRS]
    later = (digit[a] > digit[b]) ^ (rng.random(len(a)) < wrong)
    images, labels = np.stack((X[a], X[b]), axis=1), np.stack((later, ~later), axis=1)
    return ordino.Dataset(images.reshape(-1, 64), labels.ravel().astype(float), np.repeat(np.arange(len(a)), 2))


def tau(ranker):
    """Kendall's tau, over all pairs of unseen images that show different digits."""
    test = ordino.Dataset(X[unseen], digit[unseen])
    return 1 - 2 * ordino.evaluate(test, ranker.predict(test), metrics=["pairwise_error"])["pairwise_error"]


reached = {}
for name, setting in SETTINGS.items():
    soft = {"target": 1 - setting["wrong"]} if "wrong" in setting else {}  # RankNet can be told how sure an answer is
    for ranker in (ordino.SortNet(max_iter=8, **comparator), ordino.DeepNet(**comparator),
                   ordino.RankNet(**soft, **scorer), ordino.DirectRanker(**scorer)):  # fmt: skip
        reached[name, type(ranker).__name__] = ranker.fit(pairs(**setting))
        network = getattr(ranker, "network_", None)
        cyclic = 0.0 if network is None else audit(network, ordino.Dataset(X[unseen], digit[unseen])).cyclic_share
        print(f"{name:17} {type(ranker).__name__:12} tau {tau(ranker):.3f}, cyclic triples {100 * cyclic:.2f} %")
row = unseen[:30]
for name, order in (("before", row), ("after", row[np.argsort(reached["any two", "RankNet"].predict(X[row]))])):
    strip = np.hstack([15 - np.pad(X[i].reshape(8, 8), 1) * 15 for i in order]).repeat(3, 0).repeat(3, 1).astype(int)
    text = "\n".join(" ".join(map(str, line)) for line in strip)
    Path(f"{name}.pgm").write_text(f"P2 {strip.shape[1]} {strip.shape[0]} 15\n{text}\n")
