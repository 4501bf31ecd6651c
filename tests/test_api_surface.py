"""What others depend on changes only on purpose, and never without a line in the changelog."""

import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
FILE, CHANGES = "tests/surface.txt", "CHANGELOG.md"


def git(*words):
    found = subprocess.run(["git", *words], cwd=HOME, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("this is not a clone of the repository, so there is no history to look at")
    return found.stdout.split("\n")[:-1]


def test_the_surface_is_the_recorded_one():
    """In a process of its own, so that nothing that other tests load or change is seen."""
    found = subprocess.run(
        [sys.executable, "-c", "import surface; print(*surface.surface(), sep='\\n')"],
        cwd=HOME / "tools", capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    known = (HOME / FILE).read_text(encoding="utf-8").splitlines()
    changed = [f"- {line}" for line in known if line not in set(found)]
    changed += [f"+ {line}" for line in found if line not in set(known)]
    what_to_do = f"write what changed into {CHANGES} and run `make surface`"
    assert not changed, "\n".join([f"the public surface has changed; {what_to_do}:", *changed])
    assert known == sorted(set(known))


def test_a_change_of_the_surface_touches_the_changelog():
    """Since the record before this one: in a commit or, if the record is not committed yet, in the working tree."""
    changed = {line[3:] for line in git("status", "--porcelain", "--", FILE, CHANGES)}
    commits = git("log", "-2", "--format=%H", "--", FILE)
    if not commits:
        return  # the first record
    if FILE in changed:
        touched = CHANGES in changed or bool(git("log", "-1", "--format=%H", f"{commits[0]}..HEAD", "--", CHANGES))
    elif len(commits) < 2:
        return
    else:
        touched = bool(git("log", "-1", "--format=%H", f"{commits[1]}..HEAD", "--", CHANGES))
    assert touched, f"{FILE} was recorded anew without a change of {CHANGES}; write what changed for whom"
