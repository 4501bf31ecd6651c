"""The numbers that DeepNet (Huybrechts, 2016) prints for TD2003, by setting; P@1 and NDCG@1 first in each row."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ordino.experiment.papers.sortnet import TD2003 as LETOR_ROWS
from ordino.experiment.papers.trials import at_10


def _row(map_: float, p: str, ndcg: str, *, part: str = "test", pair_error: float | None = None) -> dict[str, float]:
    row = {f"{part} map": map_} | at_10("p", p, part=part) | at_10("ndcg", ndcg, part=part)
    return row if pair_error is None else row | {f"{part} pairwise_error": pair_error}


ONE_LAYER = _row(
    0.259,
    "0.44 0.38 0.34 0.32 0.30 0.28 0.26 0.25 0.24 0.22",
    "0.44 0.39 0.38 0.37 0.36 0.36 0.36 0.36 0.36 0.36",
    pair_error=0.127,
)
DROPOUT = _row(
    0.298,
    "0.47 0.43 0.39 0.35 0.32 0.30 0.29 0.27 0.26 0.24",
    "0.47 0.46 0.43 0.42 0.41 0.41 0.41 0.41 0.41 0.40",
    pair_error=0.118,
)
TUNED = _row(
    0.308,
    "0.53 0.47 0.40 0.36 0.33 0.30 0.28 0.26 0.25 0.24",
    "0.53 0.49 0.46 0.44 0.43 0.42 0.42 0.41 0.41 0.41",
    pair_error=0.123,
)
LARGE = _row(
    0.307,
    "0.54 0.46 0.40 0.36 0.33 0.31 0.29 0.27 0.26 0.24",
    "0.54 0.48 0.45 0.43 0.42 0.42 0.42 0.41 0.41 0.41",
    pair_error=0.125,
)
BASELINE_MAP: Mapping[str, float] = MappingProxyType(
    {
        "RankBoost": 0.212, "RankSVM": 0.256, "FRank": 0.245, "ListNet": 0.273, "AdaRank MAP": 0.137,
        "AdaRank NDCG": 0.185,
    }
)  # fmt: skip

PAPER: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "dense": _row(
            0.247,
            "0.40 0.37 0.34 0.30 0.28 0.26 0.24 0.23 0.22 0.21",
            "0.40 0.38 0.36 0.35 0.34 0.34 0.34 0.34 0.34 0.34",
            part="valid",
            pair_error=0.137,
        )
        | _row(
            0.244,
            "0.40 0.35 0.32 0.30 0.28 0.26 0.25 0.23 0.22 0.21",
            "0.40 0.35 0.35 0.34 0.34 0.34 0.34 0.34 0.34 0.34",
            pair_error=0.137,
        ),
        "CmpNN": _row(
            0.271,
            "0.44 0.40 0.36 0.33 0.30 0.28 0.27 0.25 0.23 0.22",
            "0.44 0.41 0.40 0.38 0.38 0.37 0.37 0.37 0.37 0.36",
            part="valid",
            pair_error=0.127,
        )
        | ONE_LAYER,
        "1 layer": ONE_LAYER,
        "3 layers, dropout": DROPOUT,
        "3 layers, dropout, auto-encoders, ReLU": TUNED,
        **{name: {"test map": map_} | LETOR_ROWS[name] for name, map_ in BASELINE_MAP.items()},
        "SortNet MAP": _row(
            0.307,
            "0.58 0.45 0.39 0.33 0.31 0.29 0.28 0.27 0.26 0.24",
            "0.58 0.46 0.43 0.40 0.40 0.39 0.40 0.39 0.39 0.39",
        ),
        "SortNet P@10": _row(
            0.256,
            "0.44 0.40 0.33 0.30 0.29 0.27 0.26 0.25 0.23 0.22",
            "0.44 0.42 0.38 0.37 0.37 0.37 0.37 0.37 0.36 0.36",
        ),
        "SortNet NDCG@10": _row(
            0.297,
            "0.50 0.41 0.38 0.34 0.31 0.30 0.29 0.27 0.26 0.24",
            "0.50 0.42 0.41 0.39 0.39 0.39 0.39 0.39 0.38 0.38",
        ),
        "SortNet - CmpNN (A)": {"test map": 0.240},
        "SortNet - CmpNN (B)": ONE_LAYER,
        "DeepNet": TUNED,
        "10,000 pairs": TUNED,
        "100,000 pairs": LARGE,
        "extensive learning set": LARGE,
        "multiple nested ranker": _row(
            0.316,
            "0.52 0.46 0.42 0.37 0.34 0.31 0.29 0.27 0.26 0.25",
            "0.52 0.48 0.46 0.44 0.43 0.42 0.42 0.42 0.42 0.42",
        ),
        "rank aggregation": _row(
            0.320,
            "0.56 0.46 0.42 0.38 0.34 0.32 0.29 0.28 0.26 0.25",
            "0.56 0.48 0.46 0.45 0.44 0.43 0.42 0.42 0.42 0.42",
        ),
    }
)
"""By setting (as named in ``deepnet``), then by part and metric."""
