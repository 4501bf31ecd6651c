"""Why does this document stand first? Weights, what a measure loses without a feature, and one pair in detail."""

import ordino
from ordino.explain import feature_weights, permutation_importance, why


def main() -> None:
    train, test = ordino.synthetic("mq", queries=80, seed=1).split(0.75)
    ranker = ordino.LambdaMART(rounds=30, leaves=8).fit(train)

    print("What the trees used most:")
    for weight in feature_weights(ranker)[:5]:
        print(f"  {weight.feature:4} {weight.weight:.3f}")

    print("What NDCG@10 on unseen queries loses when a feature is shuffled:")
    for one in permutation_importance(ranker, test, metric="ndcg@10", repeats=3, seed=1)[:5]:
        print(f"  {one.feature:4} {one.importance:+.4f}")

    query = test[0]
    first, second = ranker.rank(query.X)[:2]
    answer = why(ranker, query.X[first], query.X[second])
    print(f"Query {query.query_id}: why row {first} stands above row {second}, by {answer.difference:.3f}:")
    for reason in answer.reasons[:5]:
        print(f"  {reason.feature:4} {reason.a:.3f} against {reason.b:.3f} adds {reason.adds:+.3f}")


if __name__ == "__main__":
    main()
