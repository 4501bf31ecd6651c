"""The command line: thin commands, which read, call the library and print; they never compute."""

import os
import sys
from collections.abc import Sequence
from contextvars import ContextVar

from ordino.errors import OrdinoError
from ordino.interrupts import PRESSES, counting_presses

RENAMED = {"--scale": "--scaling"}
WORDS: ContextVar[list[str]] = ContextVar("words")
"""What was typed after ``ordino``."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error is one line on standard error and exit code 1 (2 for wrong usage)."""
    words = _shared_first(list(sys.argv[1:] if arguments is None else arguments))
    for old in (word.partition("=")[0] for word in words):
        if old in RENAMED:
            sys.stderr.write(f"ordino: {old} is now {RENAMED[old]}\n")
            raise SystemExit(2)
    if {"-train", "-load"}.intersection(words):
        from ordino.cli.foreign import from_ranklib

        sys.stderr.write(f"ordino: these are RankLib's options; the same here: {from_ranklib(words)}\n")
        raise SystemExit(2)
    try:
        with counting_presses():
            from ordino.cli.app import app

            WORDS.set(words)
            app(words)
    except KeyboardInterrupt:  # while the commands were being loaded, or between two steps
        raise SystemExit(130) from None
    except Exception as error:
        if "--debug" in words:
            raise
        if PRESSES.pressed:  # Ctrl-C in the middle of an import comes out as any error
            raise SystemExit(130) from None
        if not isinstance(error, OrdinoError | OSError):
            raise
        if isinstance(error, BrokenPipeError):  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(0) from None
        sentence = str(error)
        if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
            sentence = f"{error.filename}: {error.strerror.lower()}"
        from ordino.cli.options import in_our_words

        sentence = in_our_words(sentence)
        sys.stderr.write(f"ordino: {sentence}\n")
        raise SystemExit(1) from None


def _shared_first(words: list[str]) -> list[str]:
    """The same words with the options of every command in front, so that they may stand anywhere."""
    front, rest = [], []
    waiting = iter(words)
    for word in waiting:
        if word in ("--debug", "--quiet", "-q") or word.startswith("--threads="):
            front.append(word)
        elif word == "--threads":
            front += [word, *([value] if (value := next(waiting, None)) is not None else [])]
        else:
            rest.append(word)
    return front + rest
