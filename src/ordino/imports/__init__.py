"""Models of other tools as rankers of ours."""
