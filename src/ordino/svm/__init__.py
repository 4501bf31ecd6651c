"""RankSVM's solver: sums over all pairs without a list of pairs, and Newton steps on them."""
