"""What a plan says beside its trials: the metric, the profile and the bound that everything was chosen by."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ordino.errors import ParameterError
from ordino.metrics import find_profile, parse_metric


class Terms(NamedTuple):
    """What an ensemble is chosen by."""

    metric: Any
    profile: Any
    max_score_ms: float | None

    def told(self) -> dict[str, Any]:
        """The same as a plan has it, ready for JSON."""
        names = {"metric": str(parse_metric(self.metric)), "profile": find_profile(self.profile).name}
        return names | {"max_score_ms": self.max_score_ms}


def check_plan(given: object) -> None:
    """Refuse a plan that is not one that AutoRanker has stored."""
    rows = given.get("trials") if isinstance(given, Mapping) else None
    if (
        not isinstance(rows, Sequence)
        or not rows
        or not all(isinstance(row, Mapping) and "ranker" in row for row in rows)
    ):
        raise ParameterError("plan is not one of AutoRanker's; give the plan_ of a fitted AutoRanker")


def agreed(plan: Mapping[str, Any], given: Terms, defaults: Terms) -> Terms:
    """The terms of a plan, and the given ones where it says nothing; a contradiction is refused.

    Nobody can tell whether a default was given, so a default contradicts nothing.

    Examples
    --------
    >>> defaults = Terms("ndcg@10", "standard", None)
    >>> agreed({"metric": "map"}, Terms("ndcg@10", "trec", 5.0), defaults)
    Terms(metric='map', profile='trec', max_score_ms=5.0)
    >>> agreed({"metric": "map"}, Terms("mrr", "trec", 5.0), defaults)
    Traceback (most recent call last):
    ordino.errors.ParameterError: metric is 'mrr' but the plan has 'map'; leave out metric, or take it out of the plan
    """
    own, usual, found = given.told(), defaults.told(), given
    for name, value in own.items():
        planned = plan.get(name, value)
        if planned == value:
            continue
        if value != usual[name]:
            raise ParameterError(
                f"{name} is {value!r} but the plan has {planned!r}; leave out {name}, or take it out of the plan"
            )
        found = found._replace(**{name: planned})
    return found
