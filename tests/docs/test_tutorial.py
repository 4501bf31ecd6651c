"""The commands of the tutorial, and of pages like it, are typed as they stand and print what the page shows."""

import re
import shlex
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

from ordino.cli import main

ROOT = Path(__file__).parents[2]
PAGES = ("tutorial", "hybrid-search")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")


def steps(page: str) -> list[tuple[str, str]]:
    """Every command of the page's console blocks, with what is shown below it."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    typed = [part.partition("\n") for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in typed]


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints; ours run in this process, which saves their start."""
    words = shlex.split(command)
    if words[0] == "ordino":
        with pytest.raises(SystemExit) as stop:
            main(words[1:])
        out, err = capsys.readouterr()
        assert not stop.value.code, err
        return out + re.sub(r"^[\w -]+: \d+ of \d+.*\n", "", err, flags=re.MULTILINE)  # a terminal has a bar instead
    if words[0] == "python":
        words[0] = sys.executable
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def assert_same_words(shown: str, seen: str) -> None:
    """The same words, numbers within 0.02; ``...`` stands for the rest.

    Thousands may differ by one in a thousand: what an SVD of scikit-learn's finds depends on its version.
    """
    for wanted, found in zip_longest(shown.split(), seen.split(), fillvalue=""):
        if wanted == "...":
            return
        try:
            if all(THOUSANDS.fullmatch(word) for word in (found, wanted)):
                ours, theirs = (int(word.replace(",", "")) for word in (found, wanted))
                assert ours == pytest.approx(theirs, rel=1e-3), seen
            else:
                assert float(found) == pytest.approx(float(wanted), abs=0.02), seen
        except ValueError:
            assert found == wanted, seen


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, shown in steps((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        assert_same_words(shown, printed(command, capsys))


def test_words_are_compared():
    assert_same_words("map 0.50 ...", "map 0.51 and more")
    assert_same_words("5,688 of 7,200", "5,687 of 7,200")
    with pytest.raises(AssertionError):
        assert_same_words("map 0.50", "map 0.60")
    with pytest.raises(AssertionError):
        assert_same_words("map", "map 0.60")
    with pytest.raises(AssertionError):
        assert_same_words("5,688 of 7,200", "5,680 of 7,200")
