r"""What RankDE's Tables 3 and 4 say of themselves: two faults, found by computing with their own numbers.

*NDCG.* With labels 0 and 1, the sum of equation 8 counts the relevant documents of each rank, and so does P@n. Since
equation 9 divides by the same number for every query, NDCG@n is a weighted mean of P@1 to P@n:

.. math:: \mathrm{NDCG}@n = Z_n \sum_{k=1}^{n} c_k \, \mathrm{P}@k, \qquad
    c_k = k (w_k - w_{k+1}) \text{ for } k < n, \quad c_n = n w_n, \quad w_k = 1 / \log_2(1 + k)

so numbers printed to three digits give it with an error below 0.0005.

*Queries.* The mean of P@k over N queries is a multiple of 1 / (k N). Rounded to three digits, ten such rows
leave few N.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

ROUNDING = 0.0005 + 1e-9
N_RANKS = 10
N_FOLDS = 5  # of LETOR
OWN = "RankDE"
Table = Mapping[str, Mapping[str, float]]  # by method, then by "test map", "test p@1", ..., as letor.printed_rows


def ndcg_by_equation_9(precisions: Sequence[float]) -> float:
    """NDCG@n of equation 9 from P@1 to P@n.

    Examples
    --------
    Every query has its one relevant document first: 1 / (1 + 1 / log2(3)) at rank 2.

    >>> round(ndcg_by_equation_9([1.0, 0.5]), 4)
    0.6131
    """
    ranks = np.arange(1, len(precisions) + 1)
    weights = 1 / np.log2(1 + ranks)
    shares = ranks * (weights - np.append(weights[1:], 0.0))
    return float(shares @ np.asarray(precisions) / weights.sum())


def fitting_queries(precisions: Sequence[float], most: int) -> list[int]:
    """The numbers of queries, up to the most, over which P@1, P@2, ... can be these means, rounded to three digits.

    Examples
    --------
    0.667 is 2 of 3 or 4 of 6; that one query more has a relevant document second makes 0.5 of 2 * 3 documents.

    >>> fitting_queries([0.667, 0.5], 7)
    [3, 6]
    """
    ranks = np.arange(1, len(precisions) + 1)
    found = []
    for n_queries in range(1, most + 1):
        of = ranks * n_queries
        if (np.abs(np.rint(np.asarray(precisions) * of) / of - precisions) <= ROUNDING).all():
            found.append(n_queries)
    return found


def faults(collection: str, table: Table, n_queries: int) -> Iterator[str]:
    """Sentences about both, for the printed table of a collection with this many queries."""
    printed = {method: row[f"test ndcg@{N_RANKS}"] for method, row in table.items()}
    computed = {method: ndcg_by_equation_9(_precisions(row)) for method, row in table.items()}
    follows = [method for method in table if abs(computed[method] - printed[method]) <= 2 * ROUNDING]
    told = [f"{method} {computed[method]:.3f} (printed {printed[method]:.3f})" for method in table]
    yield (
        f"A fault of the paper's table of {collection}, by its own numbers: equation 9 makes NDCG@{N_RANKS} a weighted "
        f"mean of P@1 to P@{N_RANKS}. It would be {'; '.join(told)}. So equation 9 holds for {' and '.join(follows)} "
        "alone. The numbers of the others come from LETOR's tools, and NDCG cannot be compared."
    )
    fitting = {method: fitting_queries(_precisions(row), n_queries) for method, row in table.items()}
    smallest = [f"{method} {fits[0] if fits else 'none'}" for method, fits in fitting.items()]
    own, fold = fitting[OWN], n_queries // N_FOLDS
    is_whole = n_queries in own
    where = (
        f"all {n_queries} fit too, so this table alone shows no fault"
        if is_whole
        else f"all {n_queries} do not fit, so they seem to be means over some of the queries"
    )
    yield (
        f"A second {'question' if is_whole else 'fault'}: a mean of P@k over N queries is a multiple of 1 / (k N), and "
        f"{collection} has {n_queries} queries. The smallest N up to {n_queries} that fits all ten rows is: "
        f"{', '.join(smallest)}. {OWN}'s rows fit {own[0]} queries. One fold has {fold}, which "
        f"{'fit' if fold in own else 'do not fit'}; {where}."
    )


def _precisions(row: Mapping[str, float]) -> list[float]:
    return [row[f"test p@{k}"] for k in range(1, N_RANKS + 1)]
