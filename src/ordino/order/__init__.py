"""Ordering with a comparator: compiled sorts, tournaments over all pairs, and an audit of transitivity.

::

    network     PairNetwork, the comparator as plain arrays
    sorting     sort_queries, the algorithms by name (SORTS)
    once        sort_once, Python's sort that asks once for two documents
    tournament  orders that do not depend on where the sort starts
    audit       how far from transitive a comparator is on given data
    kernels     the compiled comparator; sort_kernels, the sorts around it
"""

from ordino.order.audit import Audit, audit
from ordino.order.network import PairNetwork
from ordino.order.python_sort import sort_once
from ordino.order.sorting import SORTS, Sorted, scores_from_order, sort_queries
from ordino.order.tournament import tournament

__all__ = [
    "SORTS",
    "Audit",
    "PairNetwork",
    "Sorted",
    "audit",
    "scores_from_order",
    "sort_once",
    "sort_queries",
    "tournament",
]
