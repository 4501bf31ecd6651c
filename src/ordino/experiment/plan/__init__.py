"""The plan of an experiment: its rankers and their search spaces."""

from ordino.experiment.plan.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry

__all__ = ["Entry", "Plan"]
