"""Boosting: stumps and their bins, LightGBM's trees under our contract, the sums over pairs that boosting needs."""
