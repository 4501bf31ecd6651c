"""What is ranked: data sets, their files, folds, scaling, preparation and synthetic sets."""
