"""A fitted ranker as one file: readable JSON and raw arrays. Nothing is pickled, and loading runs no code.

The file is a safetensors container, so other tools can list its arrays. Its header holds the card (what the model is
and where it comes from), the model (parameters and learned attributes, with references to arrays) and a checksum of
everything. Classes are looked up in a fixed table, never imported by a name from the file.
"""

from ordino.data.source import fingerprint
from ordino.model_file.container import is_model_file
from ordino.model_file.files import load, load_scorer, read_card, save

__all__ = ["fingerprint", "is_model_file", "load", "load_scorer", "read_card", "save"]
