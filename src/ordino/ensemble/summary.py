"""What an ensemble says of itself: its members, how much each adds, and how much it looks at each original feature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.forms import Form, Linear, Network, Stumps, Trees, load_trees
from ordino.html import html_table
from ordino.ranker import FeatureWeight

Floats = NDArray[np.float64]

SHOWN = 10  # features that a printed summary has


class MemberSummary(NamedTuple):
    """A member: a ranker, the features that it sees, and a name that no other member has."""

    name: str
    ranker: str
    features: str
    weight: float
    alone: float
    """The measure of this member alone, on queries that it has not seen."""
    adds: float
    """How much the whole loses without it, on the same queries; below 0 if it gains."""
    adds_error: float
    """The standard error of that."""


TEXTS, NUMBERS = MemberSummary._fields[1:3], MemberSummary._fields[3:]


def names_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ranker of each member and what it sees; with the parameters that differ where several would be called alike.

    Examples
    --------
    >>> names_of([{"ranker": "prank", "features": "z", "params": {"epochs": n, "seed": 1}} for n in (5, 9)])
    ['prank on z (epochs=5)', 'prank on z (epochs=9)']
    """
    short = [f"{row['ranker']} on {row['features']}" for row in rows]
    names = []
    for name, row in zip(short, rows, strict=True):
        alike = [other["params"] for one, other in zip(short, rows, strict=True) if one == name]
        differing = [
            f"{parameter}={value}"
            for parameter, value in row["params"].items()
            if any(parameter not in params or params[parameter] != value for params in alike)
        ]
        names.append(f"{name} ({', '.join(differing)})" if differing else name)
    return names


def members_of(rows: Sequence[Mapping[str, Any]]) -> tuple[MemberSummary, ...]:
    """What is reported of members, from the rows that an ensemble keeps."""
    told = ([row[field] for field in (*TEXTS, *NUMBERS)] for row in rows)
    return tuple(MemberSummary(name, *fields) for name, fields in zip(names_of(rows), told, strict=True))


def are_told(row: Mapping[str, Any]) -> bool:
    """Whether a row has all that is reported of a member; a forged file can have anything."""
    has_texts, has_numbers = (
        all(isinstance(row.get(name), kind) for name in names) for names, kind in ((TEXTS, str), (NUMBERS, int | float))
    )
    return has_texts and has_numbers and isinstance(row.get("params"), dict)


def is_told_cost(scoring: object) -> bool:
    """Whether this is the cost of scoring as it is reported, or None where nobody measured it."""
    names = ("milliseconds", "max_ms")
    return scoring is None or (
        isinstance(scoring, dict) and all(isinstance(scoring.get(name), int | float) for name in names)
    )


@final
@dataclass(frozen=True)
class Summary:
    """Members, quality and features of an ensemble; prints as tables."""

    metric: str
    quality: Mapping[str, float]
    """The measure on queries that chose nothing: mean, low and high (95 %), number of queries."""
    members: tuple[MemberSummary, ...]
    features: tuple[FeatureWeight, ...]
    """For each original feature its share of what the members learned, the largest first; they sum to 1."""
    scoring: Mapping[str, float] | None = None
    """Where it was bound, what scoring 1,000 documents takes, ``milliseconds``, and the bound, ``max_ms``."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        members = [member._asdict() for member in self.members]
        features = [feature._asdict() for feature in self.features]
        known = {"metric": self.metric, "quality": dict(self.quality), "members": members, "features": features}
        return known | ({} if self.scoring is None else {"scoring": dict(self.scoring)})

    @property
    def told_quality(self) -> str:
        """The quality as a sentence, and the cost if that was bound."""
        found, cost = self.quality, self.scoring
        interval = f"95 %: {found['low']:.4f} to {found['high']:.4f}"
        told = f"{self.metric} {found['mean']:.4f} out of fold ({interval}, {found['queries']:.0f} queries)"
        if cost is None:
            return told
        return f"{told}; {cost['milliseconds']:.3g} ms for 1,000 documents, where {cost['max_ms']:g} were allowed"

    def member_rows(self) -> list[tuple[str, ...]]:
        """The members as cells of a table."""
        return [
            (one.name, f"{one.weight:.3f}", f"{one.alone:.4f}", f"{one.adds:+.4f} ± {one.adds_error:.4f}")
            for one in self.members
        ]

    def __str__(self) -> str:
        names = [("feature", "share"), *((name, f"{share:.3f}") for name, share in self.features[:SHOWN])]
        more = len(self.features) - SHOWN
        lines = [self.told_quality, "", *_aligned([MEMBER_COLUMNS, *self.member_rows()]), "", *_aligned(names)]
        return "\n".join([*lines, f"and {more} others"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        members = html_table(MEMBER_COLUMNS, self.member_rows(), title=self.told_quality)
        shares = [(name, f"{share:.3f}") for name, share in self.features]
        return members + html_table(["feature", "share"], shares)


MEMBER_COLUMNS = ("member", "weight", "alone", "adds")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with the first column to the left and the others to the right."""
    first, *others = ([*column] for column in zip(*rows, strict=True))
    width = max(map(len, first))
    cells = [[f"{cell:<{width}}" for cell in first]]
    cells += [[f"{cell:>{max(map(len, column))}}" for cell in column] for column in others]
    return ["  ".join(row) for row in zip(*cells, strict=True)]


def shares_of(form: Form) -> Floats:
    """How much a form looks at each of its features, summing to 1; all 0 if it looks at none, or nobody can say.

    That is the absolute weight in a weighted sum, the gain in trees, the absolute alphas of stumps, and in a network
    the products of absolute weights, summed over all ways from the feature to the score.

    Examples
    --------
    >>> shares_of(Linear(None, 2, np.array([1.0, -3.0]))).tolist()
    [0.25, 0.75]
    """
    found = np.zeros(form.n_features)
    match form:
        case Linear():
            found = np.abs(form.coef)
        case Stumps():
            for stump in form.stumps:
                found[stump.feature] += abs(stump.alpha)
        case Trees():
            found = np.asarray(load_trees(form.model).feature_importance("gain"), np.float64)
        case Network():
            ways = [np.abs(layer.W).astype(np.float64) for layer in form.layers]
            found = reduce(np.matmul, ways)[:, 0]
    whole = found.sum()
    return np.asarray(found / whole if whole > 0 and np.isfinite(whole) else np.zeros(len(found)), np.float64)
