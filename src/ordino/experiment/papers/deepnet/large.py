"""Chapter 5 of DeepNet: ten times the pairs (Table 5.1), the nested ranker and rank aggregation (Table 5.2)."""

from ordino.experiment.papers.deepnet.protocol import REPEATS, beats, deepnet, experiment, level, tested
from ordino.experiment.papers.letor import LETOR_METRICS
from ordino.experiment.papers.target import System

LARGE = deepnet(n_pairs=100_000, n_valid_pairs=50_000)
SIZES = (None, 1000, 750, 500, 200, 100, 50, 10)
STAGES = {"ranker": LARGE, "sizes": SIZES, "stages": "all", "scaling": "querymax", "metric": "map"}
NESTED = System("nested-ranker", STAGES, quick={"sizes": (None, 10)}, repeats=REPEATS)
"""Eight stages, each of at most 100,000 pairs (section 5.2)."""
SUMMED = {"ranker": LARGE, "n": 15, "method": "rank_sum"}
AGGREGATED = System("rank-aggregation", SUMMED, quick={"n": 2}, repeats=REPEATS)
"""15 networks on pairs of their own, by rank sum (section 5.3)."""
EXTENSIVE = "extensive learning set"

TARGETS = {
    "table5.1": experiment(
        "ten times as many pairs", "3 h", {"10,000 pairs": deepnet(), "100,000 pairs": LARGE},
        claims=[level("100,000 pairs", "10,000 pairs")], protocol="of_large",
    ),
    "table5.2": experiment(
        "nested ranker and rank aggregation", "60 h",
        {EXTENSIVE: LARGE, "multiple nested ranker": NESTED, "rank aggregation": AGGREGATED}, LETOR_METRICS,
        claims=[*tested("rank aggregation", EXTENSIVE, "table5.2"), beats("multiple nested ranker", EXTENSIVE)],
        protocol="of_large",
    ),
}  # fmt: skip
