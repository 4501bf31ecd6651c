"""Profiles: the gain, discount, order of ties, and value of empty queries and short lists that a tool uses.

The same ranking may score 0.49 or 0.52 depending on these choices, so each set of choices has a name. :data:`PROFILES`
has one entry for each tool or paper; the tests compare them with the tools themselves.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from math import isnan, nan
from types import MappingProxyType
from typing import Literal, final

from ordino.errors import ParameterError, unknown_name


@final
@dataclass(frozen=True)
class Profile:
    """How metrics are computed: every choice that differs between tools, with the most common one as its default."""

    name: str
    description: str
    _: KW_ONLY
    gain: Literal["exponential", "whole", "linear", "binary"] = "exponential"
    """The gain of label l: 2^l - 1, the same for the whole part of l, l itself, or 1 if relevant."""
    discount: Literal["log2", "letor"] = "log2"
    """What the gain at rank r is divided by: log2(1 + r), or as in LETOR's scripts 1 at ranks 1 and 2, then log2(r)."""
    ties: Literal["stable", "pessimistic", "averaged", "docno"] = "stable"
    """The order of equal scores: row order, lowest label first, mean over all orders, or document id descending.

    Without document ids the last row counts as the highest id. Metrics that are not a sum over ranks have no such mean:
    with ``averaged``, equal scores all take their last rank in MAP, and the lowest label comes first in MRR, ERR and
    hit.
    """
    empty: float = 0.0
    """NDCG and recall of a query without a relevant document; NaN leaves the query out of every metric."""
    empty_map: float | None = None
    """MAP of such a query, if different from ``empty``."""
    short_precision: Literal["k", "length", "zero"] = "k"
    """P@k of a list shorter than k: divided by k, by the length, or 0."""
    short_ndcg: Literal["length", "zero"] = "length"
    """NDCG@k of a list shorter than k: computed from the documents it has, or 0."""
    ideal: Literal["sorted", "ones"] = "sorted"
    """What NDCG divides by: DCG of the labels in the best order, or of a gain of 1 at every rank (RankDE eq. 9)."""
    map_divisor: Literal["relevant", "top k"] = "relevant"
    """What MAP@k divides by: the number of relevant documents, or at most k."""
    no_cutoff: int | None = None
    """Number of ranks that count in NDCG and MAP without a cutoff; None for all."""
    err_max: int = 4
    """The highest label that ERR expects: label l satisfies the reader with probability (2^l - 1) / 2^err_max."""
    err_chance: Literal["exponential", "label"] = "exponential"
    """Probability that a document satisfies the reader: from its label as above, or the label itself, from 0 to 1."""
    relevant_from: float = 0.0
    """A document is relevant if its label is greater than this."""
    scores: Literal["float64", "float32"] = "float64"
    """The precision in which scores are compared; scores that are equal in it are tied."""
    negative: Literal["refuse", "zero"] = "refuse"
    """Negative labels where a gain is needed: an error, or a gain of 0."""

    @property
    def map_of_empty(self) -> float:
        """MAP of a query without a relevant document."""
        return self.empty if self.empty_map is None else self.empty_map

    @property
    def choices(self) -> Mapping[str, str]:
        """Where this profile differs from the defaults, as text by field.

        Examples
        --------
        >>> dict(PROFILES["lightgbm"].choices)
        {'empty': '1', 'map_divisor': 'top k', 'relevant_from': '0.5'}
        """
        told: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("name", "description") and value != field.default:
                told[field.name] = value if isinstance(value, str) else "left out" if isnan(value) else f"{value:g}"
        return told


def find_profile(profile: str | Profile) -> Profile:
    """The profile with this name; a :class:`Profile` is returned as it is.

    Examples
    --------
    >>> find_profile("trec").gain
    'linear'
    >>> find_profile("lightgmb")
    Traceback (most recent call last):
    ordino.errors.ParameterError: unknown profile 'lightgmb'; did you mean 'lightgbm'?
    """
    if isinstance(profile, Profile):
        return profile
    if not isinstance(profile, str):
        raise ParameterError(f"profile is {profile!r}; give a name such as 'standard', or a Profile")
    try:
        return PROFILES[profile.lower()]
    except KeyError:
        raise unknown_name("profile", profile, PROFILES) from None


# fmt: off
_ALL = (
    Profile("standard",
            "What most papers and tools agree on: gain 2^l - 1, discount log2(1 + r), empty queries count 0."),
    Profile("letor3",
            "LETOR 3.0's Eval-Score script: ranks 1 and 2 have no discount; P@k and NDCG@k past the end are 0.",
            discount="letor", short_precision="zero", short_ndcg="zero"),
    Profile("letor4",
            "LETOR 4.0's Eval-Score script: as letor3, but P@k fills a short list with irrelevant documents.",
            discount="letor", short_ndcg="zero"),
    Profile("trec", "trec_eval, pytrec_eval, ir_measures: linear gain, ties by document id, float32 scores.",
            gain="linear", ties="docno", scores="float32", negative="zero"),
    Profile("sklearn", "scikit-learn's ndcg_score and average_precision_score: linear gain, mean over tied orders.",
            gain="linear", ties="averaged"),
    Profile("lightgbm", "LightGBM's ndcg and map: empty queries count 1, relevant is a label above 0.5.",
            empty=1.0, map_divisor="top k", relevant_from=0.5),
    Profile("xgboost",
            "XGBoost's ndcg, map and pre: empty queries count 1; ndcg and map without @k stop at rank 32.",
            empty=1.0, short_precision="length", map_divisor="top k", no_cutoff=32, scores="float32"),
    Profile("catboost",
            "CatBoost's NDCG, MAP, MRR, ERR: linear gain, lowest label first among ties, empty 1 (MAP 0).",
            gain="linear", ties="pessimistic", empty=1.0, empty_map=0.0, short_precision="length", map_divisor="top k",
            err_chance="label", relevant_from=0.5),
    Profile("ranklib", "RankLib 2.x: gain of the label's whole part, P@k of a short list divided by its length.",
            gain="whole", short_precision="length"),
    Profile("directranker",
            "The DirectRanker paper, section 4.2: labels are relevant or not, empty queries are left out.",
            gain="binary", empty=nan, short_precision="length", err_max=1),
    Profile("rankde",
            "The RankDE paper, equations 6-9: labels are relevant or not, NDCG assumes k relevant documents.",
            gain="binary", ideal="ones", err_max=1),
)
# fmt: on
PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in _ALL})
"""Every profile by name."""
