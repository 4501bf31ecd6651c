"""PRank's rule over a stream of documents (Crammer and Singer, 2002, figure 1), compiled."""

from ordino.compiled import OUTER, njit


@njit(**{**OUTER, "fastmath": {"reassoc", "contract"}})
def prank_pass(X, level, rows, weights, thresholds, weight_sum, threshold_sum):  # type: ignore[no-untyped-def]
    """One pass over the rows in the order given; weights and thresholds are changed in place.

    weight_sum and threshold_sum gain the weights and thresholds that stand after each row. They are kept lazily: a
    change made at row t also stands at the rows after it, so that it is added (rows left) times.
    Gives the sum of the distances between predicted and true levels.
    """
    n_features = X.shape[1]
    n_thresholds = len(thresholds)
    n_rows = len(rows)
    mistakes = 0
    for j in range(n_features):
        weight_sum[j] += n_rows * weights[j]
    for r in range(n_thresholds):
        threshold_sum[r] += n_rows * thresholds[r]
    for t in range(n_rows):
        i = rows[t]
        score = 0.0
        for j in range(n_features):
            score += X[i, j] * weights[j]
        predicted = 0  # the first level whose threshold lies above the score
        while predicted < n_thresholds and score >= thresholds[predicted]:
            predicted += 1
        if predicted == level[i]:
            continue
        mistakes += abs(predicted - level[i])
        step = 0
        for r in range(n_thresholds):
            side = 1 if level[i] > r else -1
            if side * (score - thresholds[r]) <= 0.0:  # level and score lie on different sides of threshold r
                step += side
                thresholds[r] -= side
                threshold_sum[r] -= side * (n_rows - t)
        if step != 0:
            for j in range(n_features):
                weights[j] += step * X[i, j]
                weight_sum[j] += step * (n_rows - t) * X[i, j]
    return mistakes
