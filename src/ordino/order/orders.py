"""The table of orders that a comparator can make: two over all pairs of a query, and four sorts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.order import sort_kernels as kernels
from ordino.order.meeting_kernels import SUMS, WINS


class Order(NamedTuple):
    """A way to order the documents of a query, by all their comparisons or by those that a sort makes."""

    comparisons: str
    description: str
    totals: tuple[int, ...] = ()  # of all pairs: the totals that decide, and those that decide among equals
    sort: Any = None  # the template of a sort


ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        "copeland": Order("n^2 / 2", "the most wins come first; Borda's sum decides among equals", totals=(WINS, SUMS)),
        "borda": Order("n^2 / 2", "the largest sum of probabilities to come first", totals=(SUMS,)),
        "merge": Order(
            "n log2 n", "the fewest comparisons; ties keep their start order", sort=kernels.merge_sort
        ),
        "quick": Order("1.4 n log2 n", "compares with a pivot; n^2 at worst", sort=kernels.quick_sort),
        "heap": Order("2 n log2 n", "always about the same number of comparisons", sort=kernels.heap_sort),
        "insertion": Order(
            "n^2 / 4", "compares neighbors; ties keep their start order", sort=kernels.insertion_sort
        ),
    }
)  # fmt: skip
"""Every order by its name."""

SORTS: Mapping[str, Order] = MappingProxyType({name: order for name, order in ORDERS.items() if order.sort})
"""The orders that are sorts: they compare only some pairs, and the result may depend on the order they start from."""
