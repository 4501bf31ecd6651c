"""The results of experiments: trials in one SQLite file, and views that read only what they show."""

from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import Trial, TrialInfo
from ordino.experiment.store.view import StoreView

__all__ = ["Store", "StoreView", "Trial", "TrialInfo"]
