"""The features of the synthetic web against slow transcriptions of their formulas, on webs of a few pages."""

from math import log

import numpy as np
import pytest
from scipy import sparse

from ordino.data.web import link_features, propagation, term_features
from ordino.data.web.features import FEATURES
from ordino.data.web.sites import Sites
from ordino.data.web.term_features import Field
from ordino.experiment.papers.target import read_paper

rng = np.random.default_rng(0)
COUNTS = rng.poisson(0.7, (9, 6)) * rng.integers(0, 2, (9, 1)).clip(1) * np.array([1, 1, 1, 0, 1, 3])
COUNTS[4] = 0  # a page that says nothing; word 3 is in no page
TERMS = np.array([5, 0, 3])
PAGES = np.array([0, 2, 4, 7])
LINKS = np.array([[0, 1, 1, 0, 0], [1, 0, 0, 0, 1], [1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 1, 0, 0]], float)
SHARES = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [1.0, 0.0], [0.3, 0.7]])


def probability(word: int) -> float:
    return float(COUNTS[:, word].sum() + 1) / (COUNTS.sum() + COUNTS.shape[1])


def bm25(page: int, tf) -> float:
    total, mean = 0.0, COUNTS.sum() / len(COUNTS)
    for word, count in zip(TERMS, tf, strict=True):
        df = sum(COUNTS[:, word] > 0)
        norm = 2.5 * (1 - 0.8 + 0.8 * COUNTS[page].sum() / mean)
        total += log((9 - df + 0.5) / (df + 0.5)) * 3.5 * count / (count + norm)
    return total


def lmir_abs(page: int) -> float:
    length, different = COUNTS[page].sum(), sum(COUNTS[page] > 0)
    seen = [max(COUNTS[page, word] - 0.7, 0) / length if length else 0.0 for word in TERMS]
    spared = 0.7 * different / length if length else 1.0
    return sum(log(part + spared * probability(word)) for part, word in zip(seen, TERMS, strict=True))


def lmir_dir(page: int) -> float:
    length = COUNTS[page].sum()
    return sum(log((COUNTS[page, word] + 2000 * probability(word)) / (length + 2000)) for word in TERMS)


def lmir_jm(page: int) -> float:
    length = COUNTS[page].sum()
    if length == 0:
        return sum(log(probability(word)) for word in TERMS)
    return sum(log(0.9 * COUNTS[page, word] / length + 0.1 * probability(word)) for word in TERMS)


def tf_idf(page: int) -> float:
    return sum(COUNTS[page, word] * log(9 / max(sum(COUNTS[:, word] > 0), 1)) for word in TERMS)


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("bm25", lambda page: bm25(page, COUNTS[page, TERMS])),
        ("lmir_abs", lmir_abs), ("lmir_dir", lmir_dir), ("lmir_jm", lmir_jm), ("tf_idf", tf_idf),
    ],
)  # fmt: skip
def test_features_of_words(name, slow):
    words = Field.of(sparse.csr_array(COUNTS.astype(np.float32))).at(PAGES, TERMS)
    np.testing.assert_allclose(getattr(term_features, name)(words), [slow(page) for page in PAGES], rtol=1e-12)


def test_pagerank_is_where_a_random_surfer_stays():
    # 0.85 along a link (from page 3, which has none, anywhere), 0.15 anywhere: the eigenvector with value 1
    step = np.array([row / row.sum() if row.any() else np.full(5, 0.2) for row in LINKS])
    values, vectors = np.linalg.eig((0.85 * step + 0.15 / 5).T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    found = link_features.pagerank(sparse.csr_array(LINKS))
    np.testing.assert_allclose(found, stationary / stationary.sum(), rtol=1e-6)


def test_topical_pagerank_solves_its_equations_and_sums_to_pagerank():
    n, c = SHARES.shape
    system, constant = np.eye(n * c), np.empty(n * c)
    for v in range(n):
        for t in range(c):
            at = v * c + t
            constant[at] = 0.15 * SHARES[v, t] / n
            for u in range(n):
                for s in range(c):
                    kept = 0.7 * (s == t) + 0.3 * SHARES[u, t]
                    if LINKS[u].any():
                        system[at, u * c + s] -= 0.85 * LINKS[u, v] / LINKS[u].sum() * kept
                    else:
                        system[at, u * c + s] -= 0.85 * SHARES[v, t] / n
    found = link_features.topical_pagerank(sparse.csr_array(LINKS), SHARES)
    np.testing.assert_allclose(found.ravel(), np.linalg.solve(system, constant), rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), link_features.pagerank(sparse.csr_array(LINKS)), rtol=1e-6)


def test_hits_are_the_principal_eigenvectors():
    for found, matrix in zip(
        link_features.hits(sparse.csr_array(LINKS)), (LINKS.T @ LINKS, LINKS @ LINKS.T), strict=True
    ):
        vector = np.abs(np.linalg.eigh(matrix)[1][:, -1])
        np.testing.assert_allclose(found, vector / vector.sum(), atol=1e-9)
    for found in link_features.hits(sparse.csr_array((3, 3))):
        assert found.tolist() == [0, 0, 0]


def test_topical_hits():
    n, c = SHARES.shape
    hub = SHARES / n
    for _ in range(100):
        authority, onward = np.zeros((n, c)), np.zeros((n, c))
        for u in range(n):
            for v in range(n):
                if LINKS[u, v]:
                    authority[v] += [0.7 * hub[u, t] + 0.3 * hub[u].sum() * SHARES[u, t] for t in range(c)]
        authority /= authority.sum()
        for u in range(n):
            for v in range(n):
                if LINKS[u, v]:
                    onward[u] += [0.7 * authority[v, t] + 0.3 * authority[v].sum() * SHARES[v, t] for t in range(c)]
        hub = onward / onward.sum()
    found = link_features.topical_hits(sparse.csr_array(LINKS), SHARES)
    np.testing.assert_allclose(found[0], authority, rtol=1e-9)
    np.testing.assert_allclose(found[1], hub, rtol=1e-9)


def test_hostrank_divides_the_rank_of_a_site():
    depth, site, none = np.array([0, 1, 2, 0, 1]), np.array([0, 0, 0, 1, 1]), np.zeros(5, np.int64)
    sites = Sites(site, none, none, none, depth, none, np.zeros((5, 3)))
    between = np.zeros((2, 2))
    incoming = np.zeros(5)
    for u in range(5):
        for v in range(5):
            if LINKS[u, v] and site[u] != site[v]:
                between[site[u], site[v]] += 1
                incoming[v] += 1
    rank = link_features.pagerank(sparse.csr_array(between))
    slow = []
    for page in range(5):
        mates = np.flatnonzero(site == site[page])
        by_depth = 1 / (1 + depth[page]) / sum(1 / (1 + depth[mate]) for mate in mates)
        by_links = (1 + incoming[page]) / sum(1 + incoming[mate] for mate in mates)
        slow.append(rank[site[page]] * (by_depth + by_links) / 2)
    np.testing.assert_allclose(link_features.hostrank(sparse.csr_array(LINKS), sites), slow, rtol=1e-12)
    assert sum(slow) == pytest.approx(1)


def test_a_page_takes_from_its_children():
    parent, values = np.array([0, 0, 0, 1, 4]), np.array([[1.0, 0], [2, 1], [4, 0], [8, 2], [16, 0]])
    # 1.9 of its own and 0.1 of the mean of the children: pages 1 and 2 below page 0, page 3 below page 1
    expected = [[1.9 + 0.1 * 3, 0.1 * 0.5], [3.8 + 0.8, 1.9 + 0.2], [7.6, 0], [15.2, 3.8], [30.4, 0]]
    np.testing.assert_allclose(propagation.from_children(values, parent), expected)
    np.testing.assert_allclose(propagation.from_children(values[:, 0], parent), [row[0] for row in expected])


@pytest.mark.parametrize("by_score", [True, False])
def test_scores_spread_along_links(by_score):
    score = np.array([3.0, 0.0, 1.0, 2.0, 5.0])
    spread = score.copy()
    for _ in range(10):
        after = []
        for u in range(5):
            weight = [LINKS[u, v] * (score[v] if by_score else 1) for v in range(5)]
            other = sum(w * spread[v] for v, w in enumerate(weight)) / sum(weight) if sum(weight) else 0.0
            after.append(0.7 * score[u] + 0.3 * other)
        spread = np.array(after)
    weights = propagation.link_weights(sparse.csr_array(LINKS), score if by_score else None)
    np.testing.assert_allclose(propagation.along_links(score, weights), spread, rtol=1e-12)


def test_the_names_are_letors_in_its_order():
    assert len(set(FEATURES)) == 44
    printed = list(read_paper("rankde")["table5"])  # LETOR's order; how features spread is named in its own way there
    for ours, theirs in zip(FEATURES, printed, strict=True):
        assert ours.lower() == theirs.lower() or "propagation" in ours
    assert [j + 1 for j, name in enumerate(FEATURES) if "propagation" in name] == [13, 27, 39, 40, 41, 42, 43, 44]
