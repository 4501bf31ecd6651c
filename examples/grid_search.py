"""scikit-learn's grid search over a ranker, with queries that no fold cuts, and a last look at unseen ones."""

import sklearn
from sklearn.model_selection import GridSearchCV

import ordino


def main() -> None:
    learn, test = ordino.synthetic("mq", queries=80, seed=1).split(0.75)
    with sklearn.config_context(enable_metadata_routing=True):  # so that qid reaches splitter, fit and score
        search = GridSearchCV(
            ordino.RankBoost(metric="ndcg@10"),
            {"rounds": [5, 20, 80], "thresholds": [15, 255]},
            cv=ordino.QueryKFold(3),
        )
        search.fit(learn.X, learn.y, qid=learn.qid)
    for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        print(f"{mean:.4f}  {params}")
    print("best:", search.best_params_)
    print(ordino.evaluate(test, search.best_estimator_.predict(test), metrics=["ndcg@10", "map"]))


if __name__ == "__main__":
    main()
