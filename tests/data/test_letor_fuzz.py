"""Fast and slow readers agree on everything: valid text, and text that was damaged a little.

The oracle below is the grammar as one regular expression and a loop. It shares no code with Ordino.
"""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordino.data import letor_text
from ordino.data.compressed import kind_of
from ordino.data.letor import _feature_heads, read_letor
from ordino.data.letor_kernels import count_lines, read_lines
from ordino.data.letor_text import parse_line
from ordino.errors import DataError, LetorFormatError

DECIMAL = rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
LINE = re.compile(
    rb"(?P<label>" + DECIMAL + rb")"
    rb"(?:[ \t\r]+qid:(?P<qid>[^ \t\r#]+))?"
    rb"(?P<features>(?:[ \t\r]+[0-9]+:(?:" + DECIMAL + rb"|[+-]?[nN][aA][nN]|[nN][uU][lL][lL]))*)"
    rb"[ \t\r]*"
    rb"(?:\#(?:[ \t\r]*docid[ \t\r]*[=:][ \t\r]*(?P<doc>[^ \t\r]+))?.*)?",
    re.DOTALL,
)
CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
NOT_A_LINE = 0


def oracle(text: bytes) -> list[tuple[Any, ...]] | int:
    """The documents as tuples (label, qid, {number: value}, docid), or the number of the line that is refused."""
    rows: list[tuple[Any, ...]] = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        stripped = line.strip(b" \t\r")
        if not stripped or stripped.startswith(b"#"):
            continue
        try:
            rows.append(oracle_line(stripped))
        except (ValueError, AttributeError):
            return number
        if (rows[-1][1] is None) != (rows[0][1] is None):
            return number
    return rows if any(row[2] for row in rows) else NOT_A_LINE


def oracle_line(line: bytes) -> tuple[Any, ...]:
    found = LINE.fullmatch(line).groupdict()  # type: ignore[union-attr]
    label = float(found["label"])
    pairs = [token.split(b":") for token in re.split(rb"[ \t\r]+", found["features"]) if token]
    numbers = [int(number) for number, _ in pairs]
    with np.errstate(over="ignore"):
        values = [math.nan if b"n" in value.lower() else float(np.float32(float(value))) for _, value in pairs]
    is_rising = all(a < b for a, b in zip([0, *numbers], [*numbers, 1_000_001], strict=True))
    if not is_rising or any(math.isinf(number) for number in [label, *values]):
        raise ValueError
    if any(CONTROL.search(found[kind] or b"") for kind in ("qid", "doc")):
        raise ValueError
    qid, doc = (None if found[kind] is None else found[kind].decode() for kind in ("qid", "doc"))
    return label, qid, dict(zip(numbers, values, strict=True)), doc or ""


def as_arrays(rows: list[tuple[Any, ...]]) -> tuple[np.ndarray, np.ndarray, list[Any], list[str] | None]:
    X = np.zeros((len(rows), max(max(row[2], default=0) for row in rows)), np.float32)
    for i, row in enumerate(rows):
        for number, value in row[2].items():
            X[i, number - 1] = value
    qid: list[Any] = [row[1] for row in rows]
    if qid[0] is None:
        qid = [0] * len(rows)
    elif all(re.fullmatch("0|-?[1-9][0-9]*", name) and abs(int(name)) < 2**63 for name in qid):
        qid = [int(name) for name in qid]
    docs = [row[3] for row in rows]
    return X, np.array([row[0] for row in rows]), qid, docs if any(docs) else None


def same_floats(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(
        np.array_equal(a, b, equal_nan=True) and (np.signbit(a) == np.signbit(b))[~np.isnan(a)].all()
    )


def check(text: bytes, threads: int = 1) -> bool:
    """Both readers say the same about a text; whether they accepted it."""
    expected = oracle(text)
    try:
        data = read_letor(io.BytesIO(text), n_jobs=threads)
    except DataError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        sentence = rf"<stream>:{expected}: .+; .+" if isinstance(refusal, LetorFormatError) else "<stream>: .+; .+"
        assert re.fullmatch(sentence, str(refusal)), (text, expected, str(refusal))
        assert (expected == NOT_A_LINE) == (type(refusal) is DataError), (text, expected, str(refusal))
        return False
    assert isinstance(expected, list), (text, expected)
    X, y, qid, docs = as_arrays(expected)
    assert same_floats(data.restore(data.X), X), text
    assert same_floats(data.restore(data.y), y), text
    assert data.restore(data.qid).tolist() == qid, text
    assert (None if data.doc_ids is None else data.restore(data.doc_ids).tolist()) == docs, text
    return True


# -- making text, and damaging it --------------------------------------------------------------------------------------

ALPHABET = b"0123456789" * 3 + b"      \t\r\n::..--++eE##qidnaulNULinf_x,\x00\x0b\x0c\x7f\xc3\xa9\xff"
NAMES = ["1", "10", "-7", "007", "+3", "9223372036854775807", "9223372036854775808", "q", "é", "a:b", "x=1", "-", "-0"]
TAILS = [
    "",
    "\n",
    "\r\n",
    "\n# the end of the text, so that words can be loaded\n",
    "\n1 qid:1 1:0.5 2:0.25 3:0.125 4:1 5:2 6:3\n",
]


def some_number(rng: random.Random) -> str:
    kind = rng.randrange(10)
    if kind < 3:
        return str(rng.randrange(10 ** rng.randrange(1, 9)))
    if kind < 6:
        return f"{rng.uniform(-1, 1) * 10 ** rng.randrange(5):.{rng.randrange(9)}f}"
    if kind < 7:  # just between two float32, where only exact arithmetic knows which is nearer
        low = np.float32(rng.uniform(0, 10))
        middle = (float(low) + float(np.nextafter(low, np.float32(99)))) / 2
        return f"{middle:.{rng.randrange(15, 40)}f}"[: rng.randrange(12, 45)]
    if kind < 8:
        return f"{rng.uniform(-9, 9):.{rng.randrange(12)}e}"[:-3] + rng.choice(
            ["0", "-1", "-7", "22", "23", "-30", "-44", "-46", "38", "39", "-400"]
        )
    if kind < 9:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 26)))
        at = rng.randrange(len(digits) + 1)
        return rng.choice(["", "-", "+"]) + digits[:at] + "." + digits[at:]
    return rng.choice(
        [
            "NULL",
            "null",
            "NaN",
            "nan",
            "-nan",
            "+NAN",
            "-null",
            "-0",
            "0",
            ".5",
            "5.",
            ".",
            "inf",
            "1_0",
            "0x1",
            "3.4028235e38",
            "3.4028236e38",
        ]
    )


def some_line(rng: random.Random) -> str:
    tokens = [rng.choice(["0", "1", "2", "-1", "4.0", "0.30000000000000004", some_number(rng)])]
    if rng.random() < 0.9:
        tokens.append(f"qid:{rng.choice(NAMES)}")
    number = 0
    for _ in range(rng.randrange(9)):
        number += 1 if rng.random() < 0.9 else rng.randrange(1, 12)
        tokens.append(f"{number}:{some_number(rng)}")
    line = rng.choice([" ", " ", " ", "\t", "  "]).join(tokens)
    return line + rng.choice(
        ["", "", " ", " #docid = GX008-86-4444840 inc = 1 prob = 0.08", "#docid=é", " # docid: 7", " # text"]
    )


def damage(line: bytes, rng: random.Random) -> bytes:
    content = bytearray(line)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(6):
            case 0:
                content.insert(at, rng.choice(ALPHABET))
            case 1:
                del content[at : at + 1]
            case 2:
                content[at : at + 1] = bytes([rng.choice(ALPHABET)])
            case 3:
                content[at : at + 1] = bytes([rng.randrange(256)])
            case 4:
                del content[at : at + rng.randrange(12)]
            case 5:
                to = rng.randrange(len(content) + 1)
                content[to:to] = content[at : at + rng.randrange(16)]
    return bytes(content)


def some_text(rng: random.Random) -> bytes:
    lines = [damage(some_line(rng).encode(), rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    if rng.random() < 0.02:
        lines[0] = b"\xef\xbb\xbf" + lines[0]
    return b"\n".join(lines) + rng.choice(TAILS).encode()


def test_damaged_texts_are_read_or_refused_alike() -> None:
    rng = random.Random(1)
    accepted = sum(check(some_text(rng)) for _ in range(2_000))
    assert 200 < accepted < 1_800  # both outcomes are tried


def test_many_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(2)
    for _ in range(100):
        text = b"\n".join(some_text(rng) for _ in range(3))
        for block, threads in ((1, 1), (64, 2), (1 << 20, 2)):
            monkeypatch.setattr(letor_text, "_BLOCK", block)
            check(text, threads)


# -- many lines in one go: the kernel on all of them, the slow parser on those that the kernel leaves ------------------

WIDTH = 40


def as_bytes(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


def check_lines(lines: list[bytes], place: Callable[[bytes], np.ndarray] = as_bytes) -> tuple[int, int]:
    """Each line is read as the oracle reads it, or refused as the oracle refuses it; how many were read and refused.

    ``place`` puts the text where the kernel finds it.
    """
    lines = [line.replace(b"\n", b" ").strip(b" \t\r") for line in lines]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    text, n = b"\n".join(lines), len(lines)
    data = place(text)
    assert count_lines(data, 0, len(data))[0] == n
    X, y, marks = np.zeros((n, WIDTH), np.float32), np.zeros(n), np.zeros((n, 6), int)
    read_lines(data, 0, len(data), 0, X.reshape(-1), WIDTH, WIDTH, *_feature_heads(WIDTH), y, marks)
    line_at, qid, qid_at, qid_length, doc_at, doc_length = marks.T.tolist()
    expected = [known_line(line) for line in lines]
    true_X, true_y, start = np.zeros((n, WIDTH), np.float32), np.zeros(n), 0
    for row, (line, known) in enumerate(zip(lines, expected, strict=True)):
        at = line_at[row]
        assert (at if at >= 0 else ~at) == start, line
        start += len(line) + 1
        if at < 0:
            X[row], y[row] = 0, 0
            check_slowly(line, known)
            continue
        assert known is not None, line
        true_y[row] = known[0]
        true_X[row, np.array(list(known[2]), int) - 1] = list(known[2].values())
        if math.isnan(y[row]):  # more digits than the kernel reads
            y[row] = float(re.split(rb"[ \t\r#]", line)[0])
        qid_text = text[qid_at[row] : qid_at[row] + qid_length[row]].decode()
        assert (qid_text or None) == known[1], line
        assert text[doc_at[row] : doc_at[row] + doc_length[row]].decode() == known[3], line
        if re.fullmatch("0|-?[1-9][0-9]{,17}", qid_text):
            assert qid[row] == int(qid_text)
    assert same_floats(y, true_y), lines
    assert same_floats(X, true_X), lines
    n_refused = expected.count(None)
    return n - n_refused, n_refused


def known_line(line: bytes) -> tuple[Any, ...] | None:
    """What the oracle reads, or None."""
    try:
        return oracle_line(line)
    except (ValueError, AttributeError):
        return None


def check_slowly(line: bytes, known: tuple[Any, ...] | None) -> None:
    """The parser of lines that the kernel leaves says what the oracle says."""
    found = slowly(line)
    assert (found is None) == (known is None), (line, known, found)
    if found is not None and known is not None:
        assert repr(found) == repr(known), line  # which tells -0 from 0, and takes NaN for NaN


def slowly(line: bytes) -> tuple[Any, ...] | None:
    try:
        label, qid, numbers, values, doc = parse_line(line, "here:1")
    except LetorFormatError:
        return None
    qid_text, doc_text = (None if span is None else line[slice(*span)].decode() for span in (qid, doc))
    features = dict(zip(numbers, np.array(values, np.float32).tolist(), strict=True))
    return label, qid_text, features, doc_text or ""


def fuzz_lines(n: int, seed: int, place: Callable[[bytes], np.ndarray] = as_bytes) -> tuple[int, int]:
    """Check n damaged lines; how many were read and refused."""
    rng = random.Random(seed)
    totals = [0, 0]
    for _ in range(n // 2_000):
        whole = [some_line(rng).encode() for _ in range(400)]
        counts = check_lines([damage(line, rng) for line in whole for _ in range(5)], place)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return totals[0], totals[1]


def test_damaged_lines_are_read_or_refused_alike() -> None:
    n_read, n_refused = fuzz_lines(20_000, seed=3)
    assert min(n_read, n_refused) > 5_000


@pytest.mark.slow
def test_millions_of_damaged_lines() -> None:
    n_read, n_refused = fuzz_lines(2_000_000, seed=4)
    assert min(n_read, n_refused) > 500_000


@given(st.binary(max_size=80).filter(lambda text: kind_of(text) is None))  # compressed files start with other bytes
@example(b"1 qid:1 1:-123456789012345x 2:1 3:1 4:1 5:1 6:1 7:1")
@example(b"1 qid:1 1:-123456789.12345 2:1 3:1 4:1 5:1 6:1 7:1")
@example(b"1 1:7.038531e-26")
def test_any_bytes(text: bytes) -> None:
    check(text)


@given(st.lists(st.floats(width=64, allow_nan=False, allow_infinity=False), min_size=1, max_size=6), st.integers(0, 20))
def test_any_decimals(values: list[float], digits: int) -> None:
    for style in ("r", "e", "f"):
        texts = [repr(value) if style == "r" else f"{value:.{digits}{style}}" for value in values]
        line = "1 " + " ".join(f"{f}:{text}" for f, text in enumerate(texts, 1)) + " " + "#" * 40
        check(line.encode())
