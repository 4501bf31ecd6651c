"""Hybrid search, learned: a BM25 run and a dense run become features, and a ranker learns how to combine them.

The texts are made on the spot, and both runs with scikit-learn alone; put those of your own search engine and your own
embeddings in their place. The runs and judgments are also written as TREC files, for docs/hybrid-search.md.
"""

from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

import ordino

N_TOPICS, N_DOCS, N_QUERIES, DEPTH = 30, 900, 120, 100
rng = np.random.default_rng(0)
CHANCE = np.arange(12, 0, -1) / 78  # a topic has twelve words, the first more common than the last


def text(topic, n, n_noise):
    """Some words of a topic, and words that mean nothing."""
    words = [f"t{topic}w{i}" for i in rng.choice(12, n, p=CHANCE)]
    return " ".join(words + [f"n{i}" for i in rng.zipf(1.4, n_noise) % 400])


topics = np.array([rng.choice(N_TOPICS, 2, replace=False) for _ in range(N_DOCS)])  # much of one, a little of another
docs = [text(much, rng.integers(2, 6), 20) + " " + text(little, 2, 0) for much, little in topics]
asked = np.arange(N_QUERIES) % N_TOPICS
queries = [text(topic, 2, 3) for topic in asked]
labels = 2 * (topics[:, 0] == asked[:, None]) + (topics[:, 1] == asked[:, None])  # (n_queries, n_docs)

counts = (counter := CountVectorizer()).fit_transform(docs).toarray()
length, n_with = counts.sum(axis=1, keepdims=True), (counts > 0).sum(axis=0)
idf = np.log(1 + (N_DOCS - n_with + 0.5) / (n_with + 0.5))
weights = idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length / length.mean()))
bm25 = counter.transform(queries).toarray() @ weights.T  # (n_queries, n_docs)

vectors = (tfidf := TfidfVectorizer()).fit_transform(docs)
svd = TruncatedSVD(40, random_state=0).fit(vectors)  # stands for an embedding: finds what shares no word with the query
dense = normalize(svd.transform(tfidf.transform(queries))) @ normalize(svd.transform(vectors)).T

runs = {
    name: {f"q{q}": {f"d{d}": row[d] for d in np.argsort(-row)[:DEPTH]} for q, row in enumerate(scores)}
    for name, scores in (("bm25", bm25), ("dense", dense))
}
qrels = {f"q{q}": {f"d{d}": int(row[d]) for d in np.flatnonzero(row)} for q, row in enumerate(labels)}
for name, run in runs.items():
    lines = [f"{q} Q0 {d} {r} {s} {name}" for q, found in run.items() for r, (d, s) in enumerate(found.items(), 1)]
    Path(f"{name}.run").write_text("\n".join(lines) + "\n")
Path("qrels.txt").write_text("".join(f"{q} 0 {d} {label}\n" for q, row in qrels.items() for d, label in row.items()))

train, test = ordino.Dataset.from_runs(runs, qrels).split(0.5)
for ranker in (ordino.RankFusion(features=["bm25_score"]), ordino.RankFusion(features=["dense_score"]),
               ordino.RankFusion(), ordino.RankSVM()):  # fmt: skip
    print(f"{ranker.fit(train).score(test):.3f}  {ranker}")
