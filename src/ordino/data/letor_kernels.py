"""LETOR text to arrays and back, compiled: what :mod:`ordino.data.letor` runs over blocks of whole lines.

The reading kernel knows the lines that real files are made of. It never judges: a line that it does not know is only
marked, and :func:`ordino.data.letor_text.parse_line` reads it, or says what is wrong. Speed and sentences live apart.

A number is an integer ``m`` of at most 19 digits times a power of ten. If ``m <= 2**53`` and the power is at most 22,
one division is the correctly rounded double (Clinger's fast path). Otherwise the double is a few units off, which is
still enough where everything within ``2**-50`` of it rounds to one float32; where it is not, the line is marked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ordino.compiled import INNER, OUTER, njit
from ordino.data.letor_text import MAX_FEATURES

Bytes = NDArray[np.uint8]

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _MINUS, _DOT, _ZERO, _COLON, _EQUALS = 43, 45, 46, 48, 58, 61
_POWERS = np.array([float(f"1e{e}") for e in range(61)])
_INTEGER_POWERS = 10 ** np.arange(16)

_ONE_EACH = 0x0101010101010101  # times a byte: that byte eight times
_TEXT_ZEROS, _TEXT_NEWLINES, _TEXT_HASHES, _TEXT_SPACES, _TEXT_POINTS = (np.uint64(b * _ONE_EACH) for b in b"0\n# .")
_ONE, _LOW_SEVEN, _HIGH_BIT, _ALL = (np.uint64(b * _ONE_EACH) for b in (0x01, 0x7F, 0x80, 0xFF))
_ABOVE_NINE = np.uint64(0x76 * _ONE_EACH)  # 0x76 + 10 sets the high bit
_QID, _FOUR_BYTES = np.uint64(int.from_bytes(b"qid:", "little")), np.uint64(2**32 - 1)
_DOCID, _FIVE_BYTES = np.uint64(int.from_bytes(b"docid", "little")), np.uint64(2**40 - 1)
_PAIRS = np.uint64(0x000000FF000000FF)
_HUNDREDS = np.uint64(0x000F424000000064)  # 10**6 << 32 | 100
_ONES = np.uint64(0x0000271000000001)  # 10**4 << 32 | 1
_U8, _U10, _U16, _U32, _U56 = np.uint64(8), np.uint64(10), np.uint64(16), np.uint64(32), np.uint64(56)

_inner: Any = njit(**INNER)
_kernel: Any = njit(**OUTER)
_intrinsic: Any = intrinsic


@_intrinsic
def _load8(_: Any, data: Any, i: Any) -> Any:  # noqa: ARG001
    """Eight bytes from position i on as one little-endian word; the caller sees to it that they exist."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        at = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(64).as_pointer())
        word = builder.load(at)
        word.align = 1
        return word

    return types.uint64(data, types.int64), codegen


@_intrinsic
def _trailing_zeros(_: Any, word: Any) -> Any:  # noqa: ARG001
    """How many low bits of a word are zero; 64 if all are."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@_inner
def _not_digits(word: np.uint64) -> np.uint64:
    """The high bit of each byte that is not a digit, for a word of text XOR ``_TEXT_ZEROS``."""
    return (((word & _LOW_SEVEN) + _ABOVE_NINE) | word) & _HIGH_BIT


@_inner
def _eight_digits(word: np.uint64) -> np.int64:
    """The number that eight bytes of values 0 to 9 spell, first digit in the lowest byte."""
    word = word * _U10 + (word >> _U8)
    return np.int64(((word & _PAIRS) * _HUNDREDS + ((word >> _U16) & _PAIRS) * _ONES) >> _U32)


@_inner
def _first_zero_byte(word: np.uint64) -> np.int64:
    """Which byte of a word is the first that is zero; 8 if none is."""
    first = (word - _ONE) & ~word & _HIGH_BIT  # no bit below the high bit of that byte
    return np.int64(_trailing_zeros(first) >> np.uint64(3))


@_inner
def _line_end(data: Bytes, i: int, stop: int, eight_marks: np.uint64) -> int:
    """Where the line ends: at its newline, or at the first of a byte that is given eight times, or at stop."""
    while i + 8 <= stop:
        word = _load8(data, i)
        n_before = min(_first_zero_byte(word ^ _TEXT_NEWLINES), _first_zero_byte(word ^ eight_marks))
        i += n_before
        if n_before < 8:
            return i
    mark = np.uint8(eight_marks & np.uint64(255))
    while i < stop and data[i] != _NEWLINE and data[i] != mark:
        i += 1
    return i


@_inner
def _is_blank(byte: np.uint8) -> Any:
    return byte in (_SPACE, _TAB, _RETURN)


@_inner
def _skip_blanks(data: Bytes, i: int, stop: int) -> int:
    while i < stop and _is_blank(data[i]):
        i += 1
    return i


@_inner
def _ends_token(data: Bytes, i: int, stop: int) -> Any:
    return i >= stop or _is_blank(data[i]) or data[i] == _NEWLINE or data[i] == _HASH


@_kernel
def count_lines(data: Bytes, start: int, stop: int) -> tuple[int, np.int64, int]:
    """How many lines hold a document, the largest number of a last feature, and where the line with it starts."""
    n_rows, top, top_at, i = 0, np.int64(0), start, start
    while i < stop:
        begin = i
        i = _line_end(data, i, stop, _TEXT_HASHES)
        end = i
        if i < stop and data[i] == _HASH:
            i = _line_end(data, i, stop, _TEXT_NEWLINES)
        i += 1
        first = _skip_blanks(data, begin, end)
        if first >= end:
            continue
        n_rows += 1
        j = end - 1
        while j >= first and _is_blank(data[j]):
            j -= 1
        while j >= first and data[j] != _COLON and data[j] != _SPACE and data[j] != _TAB:
            j -= 1
        if j < first or data[j] != _COLON:
            continue
        number, unit = np.int64(0), 1
        j -= 1
        while j >= first and _ZERO <= data[j] < _ZERO + 10:
            if data[j] != _ZERO:
                number = min(number + unit * (np.int64(data[j]) - _ZERO), np.int64(MAX_FEATURES + 1))
            unit = min(unit * 10, MAX_FEATURES + 1)
            j -= 1
        if number > top and (j < first or _is_blank(data[j])):  # not qid:a1:2
            top, top_at = number, begin
    return n_rows, top, top_at


@_inner
def _decimal(data: Bytes, i: int, stop: int) -> tuple[int, float, int]:
    """Where the number that starts at i ends, its value, and how good that is: 2 exact, 1 within 2**-50, 0 unknown."""
    negative = i < stop and data[i] == _MINUS
    i += negative or (i < stop and data[i] == _PLUS)
    mantissa, kept, shift, n_digits, point = np.uint64(0), 0, np.int64(0), 0, False
    while i < stop:
        digit = np.int64(data[i]) - _ZERO
        if 0 <= digit <= 9:
            n_digits += 1
            if kept < 19:
                mantissa = mantissa * _U10 + np.uint64(digit)
                if mantissa != np.uint64(0):
                    kept += 1
                shift -= point
            else:
                kept = 20  # digits were dropped
                shift += not point
        elif data[i] == _DOT and not point:
            point = True
        else:
            break
        i += 1
    if n_digits == 0:
        return i, 0.0, 0
    if i < stop and (data[i] == 69 or data[i] == 101):  # E, e
        i += 1
        down = i < stop and data[i] == _MINUS
        i += down or (i < stop and data[i] == _PLUS)
        exponent, n_digits = np.int64(0), 0
        while i < stop and _ZERO <= data[i] < _ZERO + 10:
            exponent = min(exponent * 10 + np.int64(data[i]) - _ZERO, np.int64(1_000_000_000))
            n_digits += 1
            i += 1
        if n_digits == 0:
            return i, 0.0, 0
        shift += -exponent if down else exponent
    if mantissa == np.uint64(0):
        return i, -0.0 if negative else 0.0, 2
    if not -60 <= shift <= 60:
        return i, 0.0, 0
    value = np.float64(mantissa)
    value = value * _POWERS[shift] if shift >= 0 else value / _POWERS[-shift]
    is_exact = mantissa <= np.uint64(1 << 53) and -22 <= shift <= 22 and kept < 20
    return i, -value if negative else value, 2 if is_exact else 1


@_inner
def _value(data: Bytes, i: int, stop: int) -> tuple[int, float]:
    """Where the feature value that starts at i ends, and a double that rounds to its float32; -1 if not sure."""
    end, value, grade = _decimal(data, i, stop)
    if grade == 2 or (grade == 1 and np.float32(value * (1 - 2.0**-50)) == np.float32(value * (1 + 2.0**-50))):
        return (end, value) if abs(np.float32(value)) < np.inf else (-1, 0.0)
    sign = i < stop and (data[i] == _MINUS or data[i] == _PLUS)
    i += sign
    if i + 3 <= stop and data[i] | 32 == 110:  # n
        if data[i + 1] | 32 == 97 and data[i + 2] | 32 == 110:  # an
            return i + 3, np.nan
        is_null = i + 4 <= stop and data[i + 1] | 32 == 117 and data[i + 2] | 32 == 108 and data[i + 3] | 32 == 108
        if is_null and not sign:
            return i + 4, np.nan
    return -1, 0.0


@_inner
def _usual_features(
    data: Bytes, i: int, f: int, X: NDArray[np.float32], base: int,
    heads: NDArray[np.uint64], masks: NDArray[np.uint64], lengths: NDArray[np.int64],
) -> tuple[int, int]:  # fmt: skip
    """Read on from the token at i while the next number and 1 to 15 plain digits and a space come; where that ends.

    No branch depends on how long a number is or on where its point stands: a branch that nothing can predict costs more
    than all this arithmetic.
    """
    stop = data.size - 32  # whole words can be loaded up to here
    while i < stop and f < heads.size and (_load8(data, i) & masks[np.uint64(f)]) == heads[np.uint64(f)]:
        start = i + lengths[np.uint64(f)]
        n_left = _first_zero_byte(_load8(data, start) ^ _TEXT_SPACES)
        n_right = _first_zero_byte(_load8(data, start + 8) ^ _TEXT_SPACES)
        end = start + n_left + n_right * (n_left >> 3)  # start + 16 if there is no space
        negative = np.int64(data[np.uint64(start)] == _MINUS)
        start += negative
        left, right = _load8(data, start), _load8(data, start + 8)
        point = _first_zero_byte(left ^ _TEXT_POINTS)
        length = end - start
        has_point = np.int64(point < length) & (1 - (point >> 3))
        n_digits = length - has_point
        # The digits alone: what stands after the point moves one byte to the front.
        above = (_ALL << np.uint64(4 * point)) << np.uint64(4 * point)
        digits = ((left & ~above) | (((left >> _U8) | (right << _U56)) & above)) ^ _TEXT_ZEROS
        if n_digits <= 8:
            gap = np.uint64((32 - 4 * n_digits) & 63)
            digits = (digits << gap) << gap  # zeros in front
            if n_digits <= 0 or _not_digits(digits) != np.uint64(0):
                break
            mantissa = _eight_digits(digits)
        else:
            gap = np.uint64((64 - 4 * n_digits) & 63)
            more = (((right >> np.uint64(8 * has_point)) ^ _TEXT_ZEROS) << gap) << gap
            if length + negative > 15 or (_not_digits(digits) | _not_digits(more)) != np.uint64(0):
                break
            mantissa = _eight_digits(digits) * _INTEGER_POWERS[np.uint64(n_digits - 8)] + _eight_digits(more)
        value = np.float64(mantissa) / _POWERS[np.uint64(has_point * (length - 1 - point))]
        X[np.uint64(base + f)] = -value if negative else value
        i = end + 1
        f += 1
    return i, f


@_inner
def _plain_integer(data: Bytes, i: int, stop: int) -> tuple[bool, np.int64]:
    """Whether the token is how Python would print an int64, and its value."""
    negative = data[i] == _MINUS
    i += negative
    if i >= stop or stop - i > 19 or (data[i] == _ZERO and (stop - i > 1 or negative)):
        return False, np.int64(0)
    number = np.uint64(0)
    while i < stop:
        if not _ZERO <= data[i] < _ZERO + 10:
            return False, np.int64(0)
        number = number * _U10 + np.uint64(data[i] - _ZERO)
        i += 1
    is_plain = number <= np.uint64(9223372036854775807)
    return is_plain, -np.int64(number) if negative else np.int64(number)


@_kernel
def read_lines(
    data: Bytes, start: int, stop: int, row: int, X: NDArray[np.float32], stride: int, n_features: int,
    heads: NDArray[np.uint64], masks: NDArray[np.uint64], lengths: NDArray[np.int64],
    y: NDArray[np.float64], marks: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Fill the rows from ``row`` on with the lines in ``data[start:stop]``; whether all query ids are plain integers.

    ``X`` is flat; ``stride`` 0 writes all rows onto the first (a trial run). A label that is not exact yet is NaN.
    ``marks`` has for each row where its label starts (or the complement, if the line must be read again), the query id
    as an integer, where it stands and how long it is, where the document id stands and how long it is.
    """
    all_plain, i = True, start
    while i < stop:
        i = _skip_blanks(data, i, stop)
        if i >= stop:
            break
        if data[i] == _NEWLINE:
            i += 1
            continue
        if data[i] == _HASH:
            i = _line_end(data, i, stop, _TEXT_NEWLINES) + 1
            continue
        begin = i
        marks[row, 0] = ~begin  # until the line turns out to be known
        i, label, grade = _decimal(data, i, stop)
        known = grade > 0 and _ends_token(data, i, stop)
        if known:
            y[row] = label if grade == 2 else np.nan
            i = _skip_blanks(data, i, stop)
            known = i + 8 <= data.size or i >= stop  # a word can be loaded, or there is no more
            if known and i < stop and _load8(data, i) & _FOUR_BYTES == _QID:
                i += 4
                at = i
                while not _ends_token(data, i, stop):
                    known &= 32 < data[i] < 127
                    i += 1
                known &= i > at
                if known:
                    marks[row, 2], marks[row, 3] = at, i - at
                    is_plain, marks[row, 1] = _plain_integer(data, at, i)
                    all_plain &= is_plain
                    i = _skip_blanks(data, i, stop)
        f = np.int64(0)
        while known:
            i, f = _usual_features(data, i, f, X, row * stride, heads, masks, lengths)
            i = _skip_blanks(data, i, stop)
            if i >= stop or data[i] == _NEWLINE or data[i] == _HASH:
                break
            number, at = np.int64(0), i
            while i < stop and i - at < 9 and _ZERO <= data[i] < _ZERO + 10:
                number = number * 10 + np.int64(data[i]) - _ZERO
                i += 1
            known = f < number <= n_features and i < stop and data[i] == _COLON
            if known:
                f = number
                i, value = _value(data, i + 1, stop)
                known = i > 0 and _ends_token(data, i, stop)
                X[row * stride + f - 1] = value
        if known and i < stop and data[i] == _HASH:
            i = _skip_blanks(data, i + 1, stop)
            known = i + 8 <= data.size or i >= stop
            if known and i < stop and _load8(data, i) & _FIVE_BYTES == _DOCID:
                i = _skip_blanks(data, i + 5, stop)
                if i < stop and (data[i] == _EQUALS or data[i] == _COLON):
                    i = _skip_blanks(data, i + 1, stop)
                    at = i
                    while i < stop and 32 < data[i] < 127:
                        i += 1
                    known = _ends_token(data, i, stop)  # and not at #, which would have been passed
                    marks[row, 4], marks[row, 5] = at, i - at
        if known:
            marks[row, 0] = begin
        row += 1
        i = _line_end(data, i if known else begin, stop, _TEXT_NEWLINES) + 1
    return all_plain


@_kernel
def gather_tokens(data: Bytes, at: NDArray[np.int64], length: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """Copy the token of each row into its row of a table of bytes, shape ``(n_rows, longest)``."""
    for row in range(len(at)):
        for j in range(length[row]):
            out[row, j] = data[at[row] + j]
