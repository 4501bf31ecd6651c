"""DeepNet (Huybrechts, 2016): every table and figure of its experiments, chapter by chapter."""

from ordino.experiment.papers.deepnet import deep, large, neurons, search, shallow, symmetry

TARGETS = {**neurons.TARGETS, **shallow.TARGETS, **symmetry.TARGETS, **deep.TARGETS, **search.TARGETS, **large.TARGETS}
