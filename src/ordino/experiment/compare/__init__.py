"""Is a difference more than chance, and how large is it? Tests, effect sizes, intervals, comparisons."""
