"""What every command says, and what its files hold: word for word, number for number but for rounding.

``python tests/laws/commands.py`` writes commands.json anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

RECORD = Path(__file__).with_name("commands.json")
LISTS = re.compile(r"rankers|params|synth list|reproduce --list|--version|warm-up|serve|studio|.*(--figures|-r auto)")
"""Words that print tables of what there is, addresses, or what other tests are about."""
MADE_WITH = "created|python|platform|versions|processors|ordino|numpy|scipy|numba|scikit-learn|lightgbm|torch"
CHANGING = {
    r"(?m)^.*\bseconds?\b.*\n?": "",
    r"(?m)^(\| )?[\w ]+: \d+ of \d+.*\n?": "",  # how far it is
    rf"(?m)^.*\b({MADE_WITH})\"?:.*\n?": "",
    r"\b[0-9a-f]{32,64}\b": "FINGERPRINT",
    r"\d{4}-\d\d-\d\d[T ][\d:+.]+": "WHEN",
    r"(?<![\d.])\d+\.\d\d(?!\d)": "TIME",  # of training, the only numbers with two decimals
    r"[\d.]+ kB": "SIZE",
    r"[─━┄═]{2,}": "--",
    r"[ \t]+": " ",
}  # fmt: skip
"""What is another each time, or with other versions of libraries."""
NOTHING = re.compile(r"[+-](?=0\.0+(?!\d))")
"""The sign of a number that is nothing, which is one of rounding."""
NUMBER = re.compile(r"(\d+\.\d+(?:e-?\d+)?)")
ADVICE = "if that is what it should say, run `python tests/laws/commands.py` and keep the difference"
recording: dict[str, str] | None = None


def said(words: str, streams: Any, written: dict[str, str], place: Path) -> str:
    """What a command printed, told beside it, and wrote: names of files, and what stores, data and models hold."""
    if LISTS.match(words):
        return ""
    text = f"{streams.out.decode()}\n| {streams.err.decode()}".replace(str(place), "HERE")
    for pattern, word in CHANGING.items():
        text = re.sub(pattern, word, text)
    holds = [f"{name}: {told}" if told else name for name, told in written.items()]
    return "\n".join([*(line.strip() for line in text.splitlines() if line.strip()), *holds])


def check(words: str, found: str) -> None:
    """Compare what was said with what is recorded, or record it."""
    if not found:
        return
    if recording is not None:
        recording[words] = found
        return
    assert words in KNOWN, ADVICE
    parts, known = (NUMBER.split(NOTHING.sub("+", text)) for text in (found, KNOWN[words]))
    assert parts[::2] == known[::2], ADVICE
    assert [*map(float, parts[1::2])] == pytest.approx([*map(float, known[1::2])], rel=2e-3, abs=2e-4), ADVICE


KNOWN: dict[str, str] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def record() -> None:
    """Run the cases and write down what was said."""
    from laws import commands

    commands.recording = {}
    tests = Path(__file__).with_name("test_options.py")
    ended = pytest.main(
        [str(tests), "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "reaches_what_it_names or json_is_json"]
    )
    assert ended == 0, "some case failed; nothing was written"
    found = sorted(commands.recording.items())
    lines = [f"{json.dumps(words)}: {json.dumps(text, ensure_ascii=False)}" for words, text in found]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
