"""The numbers that DeepNet (Huybrechts, 2016) prints for TD2003, by setting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ordino.experiment.papers.sortnet import TD2003
from ordino.experiment.papers.trials import printed_rows

TEST = printed_rows("""
one layer              | .259 .127 | .44 .38 .34 .32 .30 .28 .26 .25 .24 .22 | .44 .39 .38 .37 .36 .36 .36 .36 .36 .36
dropout                | .298 .118 | .47 .43 .39 .35 .32 .30 .29 .27 .26 .24 | .47 .46 .43 .42 .41 .41 .41 .41 .41 .40
tuned                  | .308 .123 | .53 .47 .40 .36 .33 .30 .28 .26 .25 .24 | .53 .49 .46 .44 .43 .42 .42 .41 .41 .41
large                  | .307 .125 | .54 .46 .40 .36 .33 .31 .29 .27 .26 .24 | .54 .48 .45 .43 .42 .42 .42 .41 .41 .41
dense                  | .244 .137 | .40 .35 .32 .30 .28 .26 .25 .23 .22 .21 | .40 .35 .35 .34 .34 .34 .34 .34 .34 .34
SortNet MAP            | .307 | .58 .45 .39 .33 .31 .29 .28 .27 .26 .24 | .58 .46 .43 .40 .40 .39 .40 .39 .39 .39
SortNet P@10           | .256 | .44 .40 .33 .30 .29 .27 .26 .25 .23 .22 | .44 .42 .38 .37 .37 .37 .37 .37 .36 .36
SortNet NDCG@10        | .297 | .50 .41 .38 .34 .31 .30 .29 .27 .26 .24 | .50 .42 .41 .39 .39 .39 .39 .39 .38 .38
multiple nested ranker | .316 | .52 .46 .42 .37 .34 .31 .29 .27 .26 .25 | .52 .48 .46 .44 .43 .42 .42 .42 .42 .42
rank aggregation       | .32 | .56 .46 .42 .38 .34 .32 .29 .28 .26 .25 | .56 .48 .46 .45 .44 .43 .42 .42 .42 .42
""")
VALID = printed_rows("""
dense | .247 .137 | .40 .37 .34 .30 .28 .26 .24 .23 .22 .21 | .40 .38 .36 .35 .34 .34 .34 .34 .34 .34
CmpNN | .271 .127 | .44 .40 .36 .33 .30 .28 .27 .25 .23 .22 | .44 .41 .40 .38 .38 .37 .37 .37 .37 .36
""", part="valid")  # fmt: skip
BASELINE_MAP = {
    "RankBoost": 0.212, "RankSVM": 0.256, "FRank": 0.245, "ListNet": 0.273, "AdaRank MAP": 0.137, "AdaRank NDCG": 0.185
}  # fmt: skip
ONE_LAYER, TUNED, LARGE = TEST.pop("one layer"), TEST.pop("tuned"), TEST.pop("large")

PAPER: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "dense": VALID["dense"] | TEST["dense"],
        "CmpNN": VALID["CmpNN"] | ONE_LAYER,
        "1 layer": ONE_LAYER,
        "3 layers, dropout": TEST["dropout"],
        "3 layers, dropout, auto-encoders, ReLU": TUNED,
        **{name: {"test map": map_} | TD2003[name] for name, map_ in BASELINE_MAP.items()},
        "SortNet - CmpNN (A)": {"test map": 0.240},
        "SortNet - CmpNN (B)": ONE_LAYER,
        "DeepNet": TUNED,
        "10,000 pairs": TUNED,
        "100,000 pairs": LARGE,
        "extensive learning set": LARGE,
        **{name: row for name, row in TEST.items() if name not in ("dense", "dropout")},
    }
)
"""By setting (as named in ``deepnet``), then by part and metric."""
