"""Ordering with a comparator: compiled sorts, tournaments over all pairs, and an audit of transitivity.

::

    network     PairNetwork, the comparator as plain arrays
    sorting     sort_queries, the algorithms by name (SORTS); sort_once, Python's own sort; tournament
    audit       how far from transitive a comparator is on given data
    pairs       the form of rankers that sort with a comparator
    fusion      one order made of many
    kernels     the compiled comparator; sort_kernels, the sorts around it; kemeny_kernels for fusion
"""

from ordino.order.audit import Audit, audit
from ordino.order.network import PairNetwork
from ordino.order.sorting import SORTS, Sorted, scores_from_order, sort_once, sort_queries, tournament

__all__ = [
    "SORTS", "Audit", "PairNetwork", "Sorted", "audit", "scores_from_order", "sort_once", "sort_queries", "tournament",
]  # fmt: skip
