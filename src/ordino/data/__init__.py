"""Data sets: files, folds, scaling, preparation and synthetic data."""
