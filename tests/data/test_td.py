"""The collection ``td``: shape, names, seeds, what is relevant, folds on disk, and how hard it is for the baselines."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ordino.cli.app import app
from ordino.data.folds import read_folds
from ordino.data.synthetic import td, td_folds
from ordino.data.web.distillation import Nature, candidates, distillation
from ordino.data.web.features import FEATURES, Corpus, query_features
from ordino.data.web.language import N_WORDS, Language
from ordino.data.web.links import make_links
from ordino.data.web.sites import make_sites
from ordino.data.web.texts import make_texts

SMALL = {"queries": 6, "docs": 100}


@pytest.fixture(scope="module")
def small():
    return td(0, **SMALL)


@pytest.fixture(scope="module")
def web():
    rng = np.random.default_rng(5)
    language = Language.make(14, rng)
    sites = make_sites(900, language, rng)
    links = make_links(sites, 0.5, rng)
    return sites, links, make_texts(sites, links, language, Nature().speech, rng), language


def test_the_shape_of_td2003():
    data = td()
    assert data.counts.tolist() == [1000] * 50
    assert data.feature_names == FEATURES
    assert set(data.y) == {0, 1}
    n_relevant = np.add.reduceat(data.y, data.offsets[:-1])
    assert data.y.mean() == pytest.approx(0.01, abs=0.003)
    assert n_relevant.min() >= 1
    assert n_relevant.max() > 2 * n_relevant.mean()  # queries differ much
    assert np.isfinite(data.X).all()


def test_same_seed_same_documents(small):
    same, other = td(0, **SMALL), td(1, **SMALL)
    np.testing.assert_array_equal(small.X, same.X)
    np.testing.assert_array_equal(small.doc_ids, same.doc_ids)
    assert (small.X != other.X).any()


def test_it_says_that_it_is_synthetic(small):
    assert all(name.startswith("synthetic-") for name in small.doc_ids)
    for start, stop in pairwise(small.offsets):
        assert len(set(small.doc_ids[start:stop])) == stop - start  # no page is there twice


def test_no_feature_is_idle_but_idf(small):
    spread = np.array([np.ptp(query.X, axis=0) for query in small])  # (n_queries, n_features)
    constant = {name for name, idle in zip(FEATURES, (spread == 0).all(axis=0), strict=True) if idle}
    assert constant == {"idf of body", "idf of anchor", "idf of title", "idf of URL"}


def test_sites_are_trees_and_entries_are_not_inside_a_site_about_the_same(web):
    sites = web[0]
    page = np.arange(900)
    np.testing.assert_array_equal(sites.site[sites.parent], sites.site)
    np.testing.assert_array_equal(sites.parent == page, sites.depth == 0)
    below = sites.depth > 0
    np.testing.assert_array_equal(sites.depth[below], sites.depth[sites.parent[below]] + 1)
    np.testing.assert_array_equal(page[sites.depth == 0], np.unique(sites.root))
    for entry in np.flatnonzero(sites.is_entry):
        assert sites.depth[entry] == 0 or sites.topic[entry] != sites.topic[sites.root[entry]]
    assert not sites.is_entry[sites.depth > 1].any()


def test_pages_use_the_words_of_their_topics(web):
    sites, _, texts, language = web
    of_topic = np.zeros((language.n_topics, N_WORDS))
    for topic, words in enumerate(language.topic_words):
        of_topic[topic, words] = 1
    for field in (texts.body, texts.title, texts.url, texts.anchor):
        share = (field @ of_topic.T)[np.arange(900), sites.topic].sum() / field.sum()
        others = (field @ of_topic.T)[np.arange(900), (sites.topic + 1) % 14].sum() / field.sum()
        assert share > 3 * others


def test_a_query_takes_the_features_of_its_pages_alone(web):
    sites, links, texts, language = web
    corpus, terms = Corpus.of(sites, links, texts, language), language.topic_words[3, :2]
    pages = np.array([5, 17, 300, 301, 899])
    X = dict(zip(FEATURES, query_features(corpus, pages, terms).T, strict=True))
    body = texts.body.toarray()[:, terms]
    np.testing.assert_array_equal(X["tf of body"], body[pages].sum(axis=1))
    idf = np.log(900 / (body > 0).sum(axis=0))
    np.testing.assert_allclose(X["idf of body"], np.full(5, idf.sum()))
    np.testing.assert_allclose(X["tfidf of body"], body[pages] @ idf)
    for name, field in (("title", texts.title), ("anchor", texts.anchor), ("URL", texts.url)):
        np.testing.assert_array_equal(X[f"dl of {name}"], field.toarray()[pages].sum(axis=1))
    np.testing.assert_allclose(X["PageRank"], corpus.pagerank[pages])
    assert corpus.pagerank.sum() == pytest.approx(1)


def test_documents_are_those_with_the_largest_bm25(web):
    sites, links, texts, language = web
    corpus, terms = Corpus.of(sites, links, texts, language), language.topic_words[3, :2]
    score = dict(enumerate(query_features(corpus, np.arange(900), terms)[:, FEATURES.index("BM25")]))
    best = sorted(score, key=score.__getitem__, reverse=True)[:40]
    assert candidates(corpus, terms, 40).tolist() == sorted(best)


def test_relevant_are_the_best_entries_in_a_judges_opinion():
    all_alike, by_taste = (distillation(5, 60, 2, Nature(taste=taste)) for taste in (0.0, 1.0))
    np.testing.assert_array_equal(all_alike.X, by_taste.X)  # whoever is relevant, the documents are the same
    assert (all_alike.y != by_taste.y).any()


def test_folds_on_disk_are_the_folds_by_name(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="0"):
        app(["synth", "td", "--queries", "3", "--folds", "3", "--seed", "4", "--out", str(tmp_path / "td")])
    monkeypatch.setattr("ordino.data.synthetic.td", lambda seed: td(seed, queries=3))
    for read, made in zip(read_folds(tmp_path / "td"), td_folds(4, k=3), strict=True):
        for one, other in zip(read[1:], made[1:], strict=True):
            np.testing.assert_array_equal(one.X, other.X)
            np.testing.assert_array_equal(one.y, other.y)
    assert "#docid = synthetic-" in (tmp_path / "td/Fold1/vali.txt").read_text()


@pytest.mark.slow
def test_baselines_are_where_letor_published_them(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2] / "benchmarks")])
    from calibrate_td import PUBLISHED, measure

    for name, value in measure(list(td_folds(0))).items():
        assert value == pytest.approx(PUBLISHED[name], abs=0.03)
