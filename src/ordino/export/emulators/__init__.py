"""What each engine computes, from the exported text alone: nothing here knows our rankers.

Held to scores that the engines' own classes gave (``tests/export``).
"""
