"""What to run: the plan, its rankers, what is searched, and the rehearsal of every setting before anything runs."""

from ordino.experiment.plan.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry

__all__ = ["Entry", "Plan"]
