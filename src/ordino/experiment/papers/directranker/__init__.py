"""DirectRanker (Köppel et al., 2019): its tables on real data, the authors' grid, Fig. 2 and Theorem 3."""

from ordino.experiment.papers.directranker import grid, order, synthetic, tables

TARGETS = {**tables.TARGETS, **grid.TARGETS, **synthetic.TARGETS, **order.TARGETS}
