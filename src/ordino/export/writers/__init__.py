"""One file an engine: pure functions from a plain form to the texts that the engine loads."""
