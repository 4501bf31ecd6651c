"""A ranker of any kind as one that engines can hold."""

from ordino.distilling.door import STUDENTS, Distilled, distill

__all__ = ["STUDENTS", "Distilled", "distill"]
