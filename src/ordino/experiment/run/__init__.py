"""Carrying out a plan: the driver, the tasks that it hands out, the workers that do them, and the tuning."""

from ordino.experiment.run.driver import FailedTrialsError, run

__all__ = ["FailedTrialsError", "run"]
