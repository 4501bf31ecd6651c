"""Numbers as pages write them: a true minus, a dash for what is missing, decimals that stand under one another."""

import re
from math import floor, isfinite, isnan, log10
from struct import pack

MINUS, NONE = "\u2212", "–"
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_PLACES = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip


def fixed(value: float | None, digits: int = 4) -> str:
    """A number with this many decimals.

    Examples
    --------
    >>> fixed(0.5), fixed(-0.12345, 2), fixed(float("nan")), fixed(1234.5, 1)
    ('0.5000', '−0.12', '–', '1,234.5')
    """
    return NONE if value is None or not isfinite(value) else f"{value:,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 4) -> str:
    """A difference, with its sign.

    Examples
    --------
    >>> signed(0.028), signed(-0.0011), signed(0.0), signed(float("inf"), 2)
    ('+0.0280', '−0.0011', '0.0000', '+∞')
    """
    if isnan(value):
        return NONE
    if not isfinite(value):
        return "+∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:+,.{digits}f}"
    return text[1:] if float(text.replace(",", "")) == 0 else text.replace("-", MINUS)


def chance(p: float) -> str:
    """A p-value.

    Examples
    --------
    >>> chance(0.0153), chance(0.0002), chance(1.0)
    ('0.015', '< 0.001', '1.000')
    """
    return NONE if isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def chance_is(p: float) -> str:
    """A p-value in a sentence: ``p = 0.015``, ``p < 0.001``."""
    return f"p {chance(p)}" if p < 0.001 else f"p = {chance(p)}"


def short(value: float | None) -> str:
    """A value of a feature: four digits that count.

    Examples
    --------
    >>> short(-10.5799), short(14194.0), short(0.00001234), short(None), short(float("nan"))
    ('−10.58', '14,194', '1.234e−05', '–', '–')
    """
    if value is None or isnan(value):
        return NONE
    text = f"{value:,.0f}" if value == int(value) and abs(value) < 1e9 else f"{value:.4g}"
    return text.replace("-", MINUS)


def plain_number(value: float) -> str:
    """A value as a field of a form holds it: the shortest text that single precision reads back as the same.

    Examples
    --------
    >>> plain_number(54.0), plain_number(-7.800000190734863), plain_number(float("nan"))
    ('54', '-7.8', '')
    """
    if isnan(value):
        return ""
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next((text for text in texts if pack("f", float(text)) == pack("f", value)), f"{value:.9g}")


def percent(share: float) -> str:
    """A share as whole percents."""
    return NONE if isnan(share) else f"{100 * share:.0f} %"


def count(n: float) -> str:
    """A count, with commas; that of a mean with at most two decimals.

    Examples
    --------
    >>> count(12345.0), count(12345.5), count(1.5)
    ('12,345', '12,345.5', '1.5')
    """
    return f"{n:,.2f}".rstrip("0").rstrip(".")


def spelled(n: int) -> str:
    """A small number as a word."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def ordinal(n: int) -> str:
    """A place as a word.

    Examples
    --------
    >>> ordinal(6), ordinal(21), ordinal(13), ordinal(33)
    ('sixth', '21st', '13th', '33rd')
    """
    if 0 <= n < len(_PLACES):
        return _PLACES[n]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def listed(names: list[str], most: int = 4) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=3)
    ('a, b and c', 'a, b and 2 others')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def measure_title(name: str) -> str:
    """A metric as papers write it.

    Examples
    --------
    >>> measure_title("ndcg@10"), measure_title("map"), measure_title("pairwise_error")
    ('NDCG@10', 'MAP', 'pairwise_error')
    """
    found = re.match(r"[a-z]{1,5}(?=$|@|\()", name)
    return name if found is None else found[0].upper() + name[found.end() :]


def grade_class(label: float | None, highest: float) -> str:
    """The class of a label's color, so that 0 to 4 stand for the whole scale.

    Examples
    --------
    >>> [grade_class(label, 2) for label in (0, 1, 2)], grade_class(2, 3), grade_class(None, 4)
    (['g0', 'g2', 'g4'], 'g3', 'gu')
    """
    if label is None or isnan(label):
        return "gu"
    return f"g{min(4, max(0, floor(4 * label / max(highest, 1) + 0.5)))}"


def grade_text(label: float | None) -> str:
    """A label on a chip."""
    return NONE if label is None or isnan(label) else f"{label:g}".replace("-", MINUS)


def cut_middle(name: str, most: int = 8) -> str:
    """A name that fits on a chip.

    Examples
    --------
    >>> cut_middle("GX029-12-1638"), cut_middle("d125")
    ('GX029…638', 'd125')
    """
    return name if len(name) <= most + 1 else f"{name[: most - 3]}…{name[-3:]}"


def magnitude(value: float) -> int:
    """The power of ten below a positive number."""
    return floor(log10(value))
