"""From a DataFrame to a ranking: train on judged rows, rank new ones, keep the frame."""

import numpy as np
import pandas as pd

import ordino

FEATURES = ["bm25", "freshness", "clicks"]


def shop(n_queries: int, seed: int) -> pd.DataFrame:
    """Products found by queries; a good one matches, is new and is clicked, as far as noise lets one see."""
    rng = np.random.default_rng(seed)
    n = 12 * n_queries
    frame = pd.DataFrame(
        {"query": [f"query {i % n_queries}" for i in range(n)], "product": [f"p{i}" for i in range(n)]}
    )
    frame["bm25"] = rng.gamma(3, 2, n)
    frame["freshness"] = rng.random(n)
    frame["clicks"] = rng.poisson(5, n)
    merit = frame["bm25"] + 3 * frame["freshness"] + 0.5 * frame["clicks"] + rng.normal(0, 1, n)
    frame["grade"] = pd.cut(merit, [-np.inf, 9, 12, np.inf], labels=False)
    return frame


def main() -> None:
    judged, new = shop(60, seed=1), shop(3, seed=2).drop(columns="grade")
    ranker = ordino.RankNet(hidden=(8,), epochs=20, seed=1)
    ranker.fit(judged[FEATURES], judged["grade"], qid=judged["query"])

    new["score"] = ranker.predict(new[FEATURES], qid=new["query"])
    new["rank"] = new.groupby("query")["score"].rank(ascending=False).astype(int)
    best = new[new["rank"] <= 3].sort_values(["query", "rank"])
    print(best[["query", "rank", "product", *FEATURES]].round(2).to_string(index=False))


if __name__ == "__main__":
    main()
