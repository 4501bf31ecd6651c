"""Ordering with a comparator: orders over all pairs, compiled sorts, and an audit of transitivity.

::

    network     PairNetwork, the comparator as plain arrays
    orders      the table of orders (ORDERS), of which some are sorts (SORTS)
    sorting     sort_queries, with the pairs that a sort mis-compares; sort_once, Python's own sort
    meetings    all documents of a query against each other; tournament gives what each one wins
    pairs       order_queries, by any of the orders; the form of rankers that compare
    audit       how far from transitive a comparator is on given data
    fusion      one order made of many
    kernels     the compiled comparator; sort_kernels and meeting_kernels around it; kemeny_kernels for fusion
"""

from ordino.order.audit import Audit, audit
from ordino.order.meetings import tournament
from ordino.order.network import PairNetwork
from ordino.order.orders import ORDERS, SORTS
from ordino.order.pairs import order_queries
from ordino.order.sorting import Sorted, scores_from_order, sort_once, sort_queries

__all__ = [
    "ORDERS", "SORTS", "Audit", "PairNetwork", "Sorted", "audit", "order_queries", "scores_from_order", "sort_once",
    "sort_queries", "tournament",
]  # fmt: skip
