"""What to run: the plan, its rankers, and what is searched."""

from ordino.experiment.plan.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry

__all__ = ["Entry", "Plan"]
