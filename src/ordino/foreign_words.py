"""Words of other libraries: what people type who know LightGBM, XGBoost, CatBoost or Keras, answered in our words.

Arguments of methods, parameters of rankers, and attributes of fitted ones.
"""

from collections.abc import Iterable, Sequence

from ordino.errors import ParameterError

_QID = "qid=..., the query of each row"
_VALID = "valid=(X, y, qid), or valid=0.2 to hold out a share of the queries"
FOREIGN_WORDS = {
    "group": f"{_QID}; np.repeat(np.arange(len(group)), group) makes it from group sizes",
    "groups": _QID,
    "group_id": _QID,
    "query_id": _QID,
    "eval_set": _VALID,
    "eval_group": _VALID,
    "eval_qid": _VALID,
    "validation_data": _VALID,
    "X_val": _VALID,
    "early_stopping_rounds": "valid=..., and the ranker's parameter patience if it has one",
    "weight": "sample_weight=..., one for each row or each query",
    "weights": "sample_weight=..., one for each row or each query",
    "group_weight": "sample_weight=..., one for each row or each query",
    "eval_metric": "the ranker's parameter metric, by which valid chooses",
    "eval_at": "the ranker's parameter metric, such as metric='ndcg@10'",
    "callbacks": "valid=..., and the ranker's parameter patience if it has one",
    "feature_name": "a DataFrame as X, whose columns have names",
    "feature_names": "a DataFrame as X, whose columns have names",
    "categorical_feature": "a DataFrame as X, whose categorical columns are categories",
    "cat_features": "a DataFrame as X, whose categorical columns are categories",
    "verbose": "the ranker's parameter verbose",
    "epochs": "the ranker's parameter epochs",
}
"""Arguments, and what they are here."""

CALLS = {
    "fit": ("X, y, qid, valid and sample_weight; settings are parameters of the ranker", "fit(X, y, qid=qid)"),
    "predict": ("X and qid", "predict(X, qid=qid)"),
    "rank": ("X and qid", "rank(X, qid=qid)"),
    "score": ("X, y, qid and sample_weight", "score(X, y, qid=qid)"),
}
"""What the methods of a ranker take, and how one types it."""

ELSEWHERE = {
    "rounds": "n_estimators num_boost_round num_iterations num_trees n_trees tree trees n_iter iterations",
    "epochs": "n_epochs num_epochs max_epochs n_estimators n_iter iterations max_iter",
    "seed": "random_state random_seed",
    "leaves": "num_leaves max_leaves max_leaf_nodes leaf",
    "min_leaf": "min_child_samples min_data_in_leaf min_samples_leaf mls",
    "feature_share": "colsample_bytree colsample_bynode feature_fraction max_features rsm",
    "query_share": "subsample bagging_fraction",
    "truncation": "lambdarank_truncation_level lambdarank_num_pair_per_sample",
    "gain": "label_gain",
    "l2": "reg_lambda lambda_l2 l2_leaf_reg weight_decay alpha",
    "l1": "reg_alpha lambda_l1",
    "hidden": "hidden_layer_sizes hidden_dim hidden_size layers n_hidden layer node nodes",
    "batch": "batch_size",
    "learning_rate": "lr eta learning_rate_init shrinkage",
    "n_jobs": "n_threads nthread num_threads thread_count",
    "patience": "early_stopping_rounds early_stopping n_iter_no_change estop",
    "metric": "eval_metric eval_at ndcg_eval_at custom_metric scoring",
    "loss": "objective loss_function",
    "dropout": "dropout_rate",
    "optimizer": "solver",
    "scaling": "scaler normalize",
    "verbose": "verbosity verbose_eval",
    "restarts": "r n_restarts",
    "thresholds": "tc",
    "tol": "tolerance",
}
"""Our parameters, and what each is called in LightGBM, XGBoost, CatBoost, RankLib, scikit-learn or torch."""

PASSED_ON = (
    "boosting boosting_type cat_smooth drop_rate extra_trees lambdarank_norm linear_tree max_bin max_delta_step "
    "max_depth min_child_weight min_data_in_bin min_gain_to_split min_split_gain min_sum_hessian_in_leaf "
    "monotone_constraints path_smooth subsample_for_bin subsample_freq"
)
"""What rankers of trees hand on to LightGBM under its own name."""

NOT_HERE = {
    "seed random_state random_seed": "nothing in it is drawn at random, so leave it out",
    "objective loss loss_function": "it always learns its own; ordino.Scorer(loss=...) takes any loss",
    "device tree_method task_type gpu_id": "everything runs on the processor, so leave it out",
}
"""Parameters of other libraries for which a ranker has none, and why."""

ATTRIBUTES = {
    "best_iteration_": "best_round_",
    "best_iteration": "best_round_",
    "n_estimators_": "best_round_",
    "evals_result_": "history_",
    "evals_result": "history_",
    "best_score_": "history_",
    "feature_name_": "feature_names_in_",
    "get_booster": "booster_",
    "save_model": "ordino.save(ranker, path)",
    "load_model": "ordino.load(path)",
    "fit_predict": "fit(X, y, qid=qid), then predict(X, qid=qid)",
    "predict_proba": "predict, or ordino.OrdinalClassifier for probabilities of labels",
}
"""What people look for in a fitted ranker of another library, and what to type."""


def refuse_words(call: str, unnamed: Sequence[object], words: Iterable[str]) -> None:
    """Refuse arguments of a method that other libraries have, in our words.

    Examples
    --------
    >>> refuse_words("fit", (), ["groups"])
    Traceback (most recent call last):
    ordino.errors.ParameterError: fit() has no argument groups; use qid=..., the query of each row
    >>> refuse_words("predict", ([1, 1, 2],), ())
    Traceback (most recent call last):
    ordino.errors.ParameterError: predict() takes the queries by name; write predict(X, qid=qid)
    """
    known, typed = CALLS[call]
    if unnamed:
        raise ParameterError(f"{call}() takes the queries by name; write {typed}")
    for word in words:
        ours = FOREIGN_WORDS.get(word, "")
        is_ours = bool(ours) and (call == "fit" or ours.startswith(_QID) or (call == "score" and "weight" in word))
        raise ParameterError(f"{call}() has no argument {word}; " + (f"use {ours}" if is_ours else f"it takes {known}"))
