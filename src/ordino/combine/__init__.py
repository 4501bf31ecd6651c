"""Rankers made of rankers: stages that re-rank the top of the stage before, and orders of many made one."""
