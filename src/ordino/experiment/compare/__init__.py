"""Is a difference more than chance, and how large is it: tests, effect sizes, intervals, two rankers side by side."""
