"""Orders over all pairs: every document of a query meets every other, in tiles that stay in the processor's cache.

The totals are whole numbers, so they do not depend on the order of the rows, on where anything starts, or on the number
of threads. In a long query not all meet: there a sample of the documents meets all others, and then the best by that
sample do, which settles them against the whole query. So what a document costs does not grow with the query.
"""

from itertools import pairwise
from threading import Lock
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets, frozen, query_blocks, query_numbers, row_blocks
from ordino.checks import check_choice
from ordino.order.kernels import LANES
from ordino.order.meeting_kernels import SUMS, TILE, UNIT, WINS, make_meetings
from ordino.order.network import PairNetwork
from ordino.order.orders import ORDERS
from ordino.threads import run_blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

LONG = 1000  # documents of a query that all meet each other; of longer queries only the best do
SAMPLE = 128  # documents of a long query that meet all others first; chosen with TOP by quality_long_lists.py
BLOCK_DOCS = 8192  # documents of whole queries whose projections are kept at a time
BLOCK_PAIRS = 100_000  # about how many a thread takes at a time,
BLOCK_ROWS = 16  # and of how many documents at least, which then share what is in the cache

TIE_WITH_ITSELF = np.array([[1], [UNIT // 2], [0]])  # in the totals of a document of the sample

SCALES = {"copeland": (WINS, 2.0), "borda": (SUMS, float(UNIT))}  # the totals of a rule, and what counts as 1 there


def tournament(
    network: PairNetwork, X: ArrayLike, offsets: ArrayLike, *, rule: str = "copeland", n_jobs: int | None = None
) -> NDArray[np.float64]:
    r"""Score every document by its comparisons with all others of its query, shape ``(n_docs,)``; larger is better.

    .. math:: \text{Copeland: } \sum_{b \ne a} [a \succ b] + \tfrac12 [a \sim b], \qquad
              \text{Borda: } \sum_{b \ne a} P(a \succ b)

    A query of n documents takes n (n - 1) / 2 comparisons, and memory for a few rows a document: 60,000 documents are
    1.8 billion comparisons, but no more memory than a sort. The sums are exact, so they do not depend on the order of
    the rows or on the number of threads.

    Rule "copeland" counts wins, a tie as half a win; "borda" adds up probabilities. The other arguments are those of
    :func:`sort_queries`.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> tournament(larger_first, [[1.0], [3.0], [2.0], [2.0]], [0, 4]).tolist()
    [0.0, 3.0, 1.5, 1.5]
    """
    row, unit = SCALES[check_choice("rule", rule, SCALES)]
    features = network.check_features(X)
    totals = all_totals(network, features, check_offsets(offsets, len(features)), n_jobs)
    scores: NDArray[np.float64] = totals[row] / unit
    return scores


def all_totals(network: PairNetwork, X: Floats, offsets: Ints, n_jobs: int | None) -> Ints:
    """The totals of every document, shape ``(3, n_docs)``; some queries are in memory at a time."""
    totals = np.zeros((3, len(X)), np.int64)
    for first, last in query_blocks(offsets, BLOCK_DOCS):
        bounds = offsets[first : last + 1]
        meetings = Meetings(network, X[bounds[0] : bounds[-1]], n_jobs)
        totals[:, bounds[0] : bounds[-1]] = meetings.totals(bounds - bounds[0])
    return totals


def order_by_totals(
    network: PairNetwork, X: Floats, offsets: Ints, algorithm: str, top: int | None, start: Ints, n_jobs: int | None
) -> Ints:
    """Row numbers, best first within each query, by an algorithm over all pairs; ``start`` decides among equals."""
    order = start.copy()
    counts, keys = np.diff(offsets), ORDERS[algorithm].totals
    # up to twice as many documents as meet all others, all pairs are no more comparisons
    is_long = (counts > max(LONG, 2 * (SAMPLE + top))) if top is not None else np.zeros(len(counts), bool)
    for q in np.flatnonzero(is_long).tolist():
        rows = start[offsets[q] : offsets[q + 1]]
        order[offsets[q] : offsets[q + 1]] = rows[_order_of_long(network, X[rows], keys, top or 0, n_jobs)]
    in_short = np.repeat(~is_long, counts)
    rows, bounds = start[in_short], np.concatenate([[0], np.cumsum(np.where(is_long, 0, counts))])
    totals = all_totals(network, X[rows], bounds, n_jobs)
    order[in_short] = rows[np.lexsort((*(-totals[key] for key in reversed(keys)), query_numbers(bounds)))]
    return order


def _order_of_long(network: PairNetwork, X: Floats, keys: tuple[int, ...], top: int, n_jobs: int | None) -> Ints:
    """The order of one long query: by what documents win against a sample, and of the best ``top`` against all.

    The sample is the first documents: in the order of their contents, which has nothing to do with how good they are.
    All are measured by the sample alone, also its own documents, each of which ties with itself.
    """
    meetings, whole = Meetings(network, X, n_jobs), np.array([0, len(X)])
    first = meetings.totals(whole, SAMPLE)
    first[:, :SAMPLE] = all_totals(network, X[:SAMPLE], np.array([0, SAMPLE]), n_jobs) + TIE_WITH_ITSELF
    order = np.lexsort([-first[key] for key in reversed(keys)])
    meetings.reorder(order)
    totals = meetings.totals(whole, top)[:, :top]
    settled = np.lexsort([-totals[key] for key in reversed(keys)])
    return np.concatenate([order[:top][settled], order[top:]])


@final
class Meetings:
    """Documents laid out side by side for the kernels, which compute a document's projections once."""

    def __init__(self, network: PairNetwork, X: Floats, n_jobs: int | None) -> None:
        self.network, self.n_docs, self.n_jobs = network, len(X), n_jobs
        size, n_weights = int(network.packed.plan[1, 0]), len(network.packed.weights)
        self.sides = np.zeros((2, size, len(X) + LANES), np.float32)  # the last lanes only fill a vector

        def project(rows: slice) -> None:
            table = network.lay_out(X[rows])[0][n_weights:].reshape(rows.stop - rows.start, 2, -1)
            self.sides[:, :, rows] = table[:, :, :size].transpose(1, 2, 0)

        run_blocks(project, row_blocks(len(X), BLOCK_DOCS // 4), n_jobs)

    def reorder(self, order: Ints) -> None:
        """Let the documents stand in another order."""
        self.sides[:, :, : self.n_docs] = self.sides[:, :, order]

    def totals(self, offsets: Ints, first: int | None = None) -> Ints:
        """The totals of all documents after each has met all others of its query, shape ``(3, n_docs)``.

        With a number ``first``, only that many at the start of every query meet all others: their totals are complete,
        and those of the others count their meetings with these.
        """
        packed, totals, lock = self.network.packed, np.zeros((3, self.n_docs), np.int64), Lock()
        kernel = make_meetings(self.network.activation, self.network.output, self.network.deep)
        shape = (4, packed.weights.shape[1], TILE)
        bounds, weights, sides = frozen(offsets), frozen(packed.weights), frozen(self.sides)

        def work(rows: tuple[int, int]) -> None:
            end = bounds[np.searchsorted(bounds, rows[1])]
            own = np.zeros((3, end - rows[0]), np.int64)
            kernel(packed.bias, packed.plan, weights, sides, bounds, *rows, np.empty(shape, np.float32), own)
            with lock:
                totals[:, rows[0] : end] += own

        run_blocks(work, _blocks_of_rows(offsets, first), self.n_jobs)
        return totals


def _blocks_of_rows(offsets: Ints, first: int | None) -> list[tuple[int, int]]:
    """Rows that meet the later ones of their query, in blocks of about equal work; no more than ``first`` a query.

    Examples
    --------
    >>> _blocks_of_rows(np.array([0, 3, 8]), None), _blocks_of_rows(np.array([0, 8]), 2)
    ([(0, 8)], [(0, 2)])
    """
    counts, query = np.diff(offsets), query_numbers(offsets)
    place = np.arange(len(query)) - offsets[query]
    meets = np.ones(len(query), bool) if first is None else place < first
    work = np.where(meets, counts[query] - place + LANES, 0)
    share = np.cumsum(work) // max(BLOCK_PAIRS, BLOCK_ROWS * int(counts.max(initial=0)))
    cuts = np.flatnonzero(np.diff(share) | np.diff(meets)) + 1
    blocks = pairwise([0, *cuts.tolist(), len(query)])
    return [(start, stop) for start, stop in blocks if start < stop and meets[start]]
