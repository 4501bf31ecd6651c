"""Ids in CSV stay as they are written; nothing is taken for a number that changes it."""

from pathlib import Path

import pytest

from ordino.data.files import read_data, write_data
from ordino.data.letor import read_letor
from ordino.errors import DataError

LINES = b"""2 qid:1 1:0.5 #docid = 007
1 qid:01 1:0.25 #docid = 1e3
0 qid:9223372036854775808 1:0 #docid = 12
1 qid:18446744073709551617 1:0.125 #docid = NA
"""


def ids(data) -> tuple[list, list]:
    return data.query_ids.tolist(), data.doc_ids.tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_ids_survive_the_way_through_csv(tmp_path: Path, ending: str):
    (tmp_path / "a.txt").write_bytes(LINES)
    data = read_letor(tmp_path / "a.txt")
    write_data(data, tmp_path / f"a.{ending}")
    assert ids(read_data(tmp_path / f"a.{ending}")) == ids(data)
    assert ids(data) == (["1", "01", "9223372036854775808", "18446744073709551617"], ["007", "1e3", "12", "NA"])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1 -2 0", [1, -2, 0]),
        ("9223372036854775807 1", [2**63 - 1, 1]),
        ("9223372036854775808 1", ["9223372036854775808", "1"]),
        ("1 01", ["1", "01"]),
        ("1 1.0", ["1", "1.0"]),
        ("1e3 1000", ["1e3", "1000"]),
        ("2024-01-02 2024-01-03", ["2024-01-02", "2024-01-03"]),
        ("true false", ["true", "false"]),
        ("-0 0", ["-0", "0"]),
    ],
)
def test_query_ids_are_whole_numbers_only_if_all_are_plain(tmp_path: Path, written: str, expected: list):
    rows = "".join(f"{qid},1,0.5,7\n" for qid in written.split())
    (tmp_path / "a.csv").write_text("query,label,f1,url\n" + rows)
    data = read_data(tmp_path / "a.csv", qid="query", doc_id="url")
    assert data.query_ids.tolist() == expected
    assert set(data.doc_ids.tolist()) == {"7"}


def test_an_empty_query_id_is_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("qid,label,f1\n1,1,0.5\n,1,0.5\n")
    with pytest.raises(DataError, match=r"a\.csv: column 'qid' is null in row 1; fill it in or drop the row$"):
        read_data(tmp_path / "a.csv")
