"""RankNet (Burges et al., 2005): Figure 1, random functions (section 5) and a search engine (section 6)."""

from ordino.experiment.papers.ranknet import functions, search

TARGETS = {**functions.TARGETS, **search.TARGETS}
