"""Tables from CSV whose ids stay as they are written: ``007`` is not 7, and ``1e3`` is not 1000.

Query ids follow the rule of LETOR text: whole numbers of 64 bits if all of them are written as plain integers, text
otherwise. Document ids are always text. All other columns are numbers where they look like numbers.
"""

from typing import Any

PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,18})$"


def read_csv(source: Any, delimiter: str, *, qid: str, doc_id: str) -> Any:
    """The Arrow table of a CSV file or stream, with the columns that hold ids."""
    import pyarrow as pa
    from pyarrow import csv

    as_written = csv.ConvertOptions(column_types={qid: pa.string(), doc_id: pa.string()})
    table = csv.read_csv(source, parse_options=csv.ParseOptions(delimiter=delimiter), convert_options=as_written)
    if qid in table.column_names:
        table = table.set_column(table.column_names.index(qid), qid, _query_ids(table[qid]))
    return table


def _query_ids(column: Any) -> Any:
    """Query ids as whole numbers if all are; an empty one is null, which is refused by its row later."""
    import pyarrow as pa
    from pyarrow import compute

    column = compute.if_else(compute.equal(column, ""), None, column)
    if compute.all(compute.match_substring_regex(column, PLAIN_INTEGER)).as_py():
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # past 64 bits
            return column
    return column
