"""Synthetic sets: the papers' figures, the shapes' figures, seeds, and that they can be learned, but not completely."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from ordino.data.dataset import Dataset
from ordino.data.synthetic import SYNTHETIC, _bent, equal_levels, synthetic
from ordino.errors import ParameterError

all_sets = pytest.mark.parametrize("name", SYNTHETIC)


def share_of_pairs(scores: np.ndarray, data: Dataset) -> float:
    """Of the pairs of a query with different labels, how many the scores put right; half for equal scores."""
    right = n_pairs = 0.0
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        better = data.y[start:stop, None] > data.y[start:stop]
        gap = scores[start:stop, None] - scores[start:stop]
        right += (gap[better] > 0).sum() + (gap[better] == 0).sum() / 2
        n_pairs += better.sum()
    return right / n_pairs


def ndcg_at_10(scores: np.ndarray, data: Dataset) -> float:
    """Mean over the queries with a relevant document: gain 2^y - 1, discount log2(1 + rank)."""
    values = []
    for query, start in zip(data, data.offsets, strict=False):
        gain = 2**query.y - 1
        if gain.max() > 0:
            best = np.argsort(-scores[start : start + len(gain)], kind="stable")[:10]
            discount = np.log2(np.arange(2, len(best) + 2))
            values.append((gain[best] / discount).sum() / (np.sort(gain)[::-1][:10] / discount).sum())
    return float(np.mean(values))


def n_pairs(data: Dataset) -> int:
    return sum(int((query.y[:, None] > query.y).sum()) for query in data)


def empty_share(data: Dataset) -> float:
    return float(np.mean([query.y.max() < 1 for query in data]))


@all_sets
def test_same_seed_same_data_other_seed_other_data(name):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    one, same, other = (synthetic(name, queries=7, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert one.X.shape != other.X.shape or (one.X != other.X).any()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert one.query_ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert np.isfinite(one.X).all()
    assert one.X.dtype == np.float32
    Dataset(one.X, one.y, one.qid)  # what was wrapped without checks passes them


@all_sets
def test_documents_a_query_can_be_fixed(name):
    assert synthetic(name, queries=3, docs=8).counts.tolist() == [8, 8, 8]
    assert synthetic(name, queries=1, docs=1).n_docs == 1


@pytest.mark.parametrize("name", ["ranknet-net", "ranknet-poly"])
def test_ranknets_sets_have_the_papers_number_of_pairs(name):
    data = synthetic(name)
    assert data.X.shape == (1000 * 50, 50)
    assert np.abs(data.X).max() <= 1
    assert np.ptp(np.bincount(data.y.astype(int))) <= 1
    # two documents differ in 5 of 6 cases: 20 queries have 20 * (50 * 49 / 2) * 5 / 6 = 20,417 pairs; the paper 20,382
    assert n_pairs(data) / 50 == pytest.approx(20 * (50 * 49 / 2) * 5 / 6, rel=0.002)


def test_equal_levels_inside_each_query_would_be_another_number():
    # 50 documents in 6 levels: 4 of 8 and 2 of 9, so 4 * 28 + 2 * 36 = 184 tied pairs of 1,225
    inside = equal_levels(np.arange(50.0), 6)
    assert n_pairs(Dataset(np.zeros((50, 1)), inside)) * 20 == (1225 - 184) * 20 == 20_820


@pytest.mark.parametrize(("name", "low", "high"), [("ranknet-net", 0.88, 0.93), ("ranknet-poly", 0.72, 0.75)])
def test_a_linear_model_of_ranknets_sets(name, low, high):
    train, test = synthetic(name, queries=350).split(250 / 350)
    linear = LinearRegression().fit(train.X, train.y)  # 12,500 documents, as in Table 1
    assert low < share_of_pairs(linear.predict(test.X), test) < high


def test_ranknets_options():
    data = synthetic("ranknet-net", queries=4, docs=5, features=3, hidden=2, levels=2)
    assert data.X.shape == (20, 3)
    assert sorted(data.y) == [0] * 10 + [1] * 10
    assert synthetic("ranknet-poly", queries=4, docs=5, features=3, levels=2).X.shape == (20, 3)


def test_directrankers_queries_have_as_few_and_as_many_documents_as_asked_for():
    assert set(synthetic("directranker", queries=60, docs=(2, 4), features=1).counts) == {2, 3, 4}


def test_directrankers_classes_are_gaussian():
    data = synthetic("directranker", queries=200, classes=3, features=4)
    assert data.counts.min() >= 50
    assert data.counts.max() <= 150
    for label in range(3):
        part = data.X[data.y == label]
        assert len(part) == pytest.approx(data.n_docs / 3, rel=0.1)
        assert ((part.mean(axis=0) > -3) & (part.mean(axis=0) < 103)).all()
        assert ((part.std(axis=0) > 48) & (part.std(axis=0) < 103)).all()


@pytest.mark.parametrize(("noise", "moved"), [(0.0, 0.0), (0.25, 0.0455), (0.75, 0.505)])
def test_directrankers_label_noise_moves_what_the_paper_says(noise, moved):
    clean, noisy = (synthetic("directranker", queries=300, features=1, noise=sigma) for sigma in (0.0, noise))
    inner = (clean.y > 0) & (clean.y < 4)
    assert (clean.X == noisy.X).all()
    assert np.mean(clean.y[inner] != noisy.y[inner]) == pytest.approx(moved, abs=0.01)
    assert set(noisy.y) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("name", "docs", "labels", "empty", "zeros", "constant"),
    [
        ("mq2007", 41.1, [0.742, 0.203, 0.055], 0.14, 0.44, 0.15),
        ("mq2008", 19.4, [0.807, 0.132, 0.061], 0.28, 0.47, 0.20),
    ],
)
def test_mq(name, docs, labels, empty, zeros, constant):
    data = synthetic(name)
    assert data.n_features == 46
    assert data.X.min() == 0
    assert data.X.max() == 1
    assert data.counts.mean() == pytest.approx(docs, rel=0.05)
    np.testing.assert_allclose(np.bincount(data.y.astype(int)) / data.n_docs, labels, atol=0.001)
    assert empty_share(data) == pytest.approx(empty, abs=0.03)
    assert (data.X == 0).mean() == pytest.approx(zeros, abs=0.03)
    assert np.mean([np.ptp(query.X, axis=0) == 0 for query in data]) == pytest.approx(constant, abs=0.08)


def test_mslr():
    data = synthetic("mslr", queries=600)
    assert data.n_features == 136
    assert data.counts.mean() == pytest.approx(120, rel=0.05)
    np.testing.assert_allclose(
        np.bincount(data.y.astype(int)) / data.n_docs, [0.520, 0.322, 0.133, 0.018, 0.007], atol=0.001
    )
    assert empty_share(data) == pytest.approx(0.03, abs=0.02)
    lowest, whole = data.X.min(axis=0), (np.rint(data.X) == data.X).all(axis=0)
    assert ((lowest == -1) & whole).sum() == 3  # sentinels
    assert (lowest < -1).sum() == 20  # logs
    assert (whole & (lowest == 0)).sum() == 58  # counts and flags


@pytest.mark.parametrize(("name", "queries"), [("mq2007", 500), ("mq2008", 1000), ("mslr", 150)])
def test_shapes_can_be_learned_but_not_by_a_line(name, queries):
    train, test = synthetic(name, queries=queries).split(0.6)
    trees = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=8, early_stopping=False, random_state=0)
    with threadpool_limits(1):  # its threads would spin on a busy machine
        by_line, by_trees = (
            ndcg_at_10(model.fit(train.X, train.y).predict(test.X), test) for model in (LinearRegression(), trees)
        )
    by_chance = ndcg_at_10(np.random.default_rng(0).random(test.n_docs), test)
    assert by_chance + 0.2 < by_line
    assert by_line + 0.01 < by_trees < 0.95


def test_a_line_shows_a_quarter_of_the_bent_part():
    evidence = np.random.default_rng(0).standard_normal((100_000, 5))
    bent = _bent(evidence)
    # variances, times 1.5: min of two normals 1 - 1/pi, |difference| 2 - 4/pi, |normal| 1 - 2/pi; min has a linear half
    variance = (1 - 1 / np.pi) + (2 - 4 / np.pi) + (1 - 2 / np.pi)
    assert bent.var() * 1.5 == pytest.approx(variance, rel=0.02)
    assert LinearRegression().fit(evidence, bent).score(evidence, bent) == pytest.approx(0.5 / variance, abs=0.01)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mq2009", {}, r"unknown synthetic set 'mq2009'; did you mean 'mq200[78]'\?"),
        (
            "mslr",
            {"feature": 3},
            r"unknown option of synthetic set 'mslr': 'feature'; choose from: docs, queries, seed",
        ),
        ("mq", {"queries": 0}, "queries=0; it must be a whole number, 1 or more"),
        ("mq", {"docs": 2.5}, r"docs=2\.5; it must be a whole number, 1 or more"),
        ("mq", {"seed": -1}, "seed=-1; it must be a whole number, 0 or more"),
        ("mq", {"seed": None}, "seed=None; it must be a whole number"),
        ("ranknet-net", {"levels": True}, "levels=True; it must be a whole number"),
        ("directranker", {"docs": (9, 3)}, r"docs=\(9, 3\); give one number, or the fewest and the most"),
        ("directranker", {"docs": 0}, "docs=0; give one number, or the fewest and the most"),
        ("directranker", {"noise": -1.0}, r"noise=-1\.0; it must be a number, 0 or more"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(name, options, message):
    with pytest.raises(ParameterError, match=message):
        synthetic(name, **options)


def test_the_table_is_read_only_and_documented():
    with pytest.raises(TypeError):
        SYNTHETIC["mine"] = SYNTHETIC["mq"]  # type: ignore[index]
    page = (Path(__file__).parents[2] / "docs" / "synthetic.md").read_text()
    for name, function in SYNTHETIC.items():
        assert f"| `{name}` |" in page
        assert function.__doc__
