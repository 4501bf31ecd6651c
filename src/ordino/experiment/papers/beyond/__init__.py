"""Beyond the papers: what their authors left open, by the same rule and on the same pages as their own tables."""

from ordino.experiment.papers.beyond import classes, evolution, grades, lambdas, models, pairs

TARGETS = {
    "models": models.TARGET,
    "pairs": pairs.TARGET,
    "grades": grades.TARGET,
    "lambdas": lambdas.TARGET,
    "classes": classes.TARGET,
    "evolution": evolution.TARGET,
}
