"""The papers' own tables and figures, run again: one module for each paper, ``catalogue`` names everything there is."""
