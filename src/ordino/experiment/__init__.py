"""Honest comparison: a plan is run into a store, and everything that is reported is read from the store."""
