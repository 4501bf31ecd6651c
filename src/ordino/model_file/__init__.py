"""A fitted ranker as one file: JSON that a person can read, and raw arrays. Nothing is pickled, no code is run.

The file is a safetensors container, so that other tools can list its arrays too. Its header holds the card (what the
model is and where it comes from), the model (parameters and what was learned, with the places of arrays) and a
checksum of everything. Classes are looked up in one fixed table, never imported by a name that the file gives.
"""

from ordino.data.source import fingerprint
from ordino.model_file.container import is_model_file
from ordino.model_file.files import load, load_scorer, read_card, save

__all__ = ["fingerprint", "is_model_file", "load", "load_scorer", "read_card", "save"]
