"""What others depend on changes only on purpose, and never without a line in the changelog."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
FILE, CHANGES = "tests/surface.txt", "CHANGELOG.md"


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


def git(home, *words):
    """The lines that git says; none where there is no git, or no history."""
    if shutil.which("git") is None:
        return []
    told = subprocess.run(["git", *words], cwd=home, capture_output=True, text=True)
    return [] if told.returncode else told.stdout.split("\n")[:-1]


def is_said(home):
    """Whether the last record came together with a change of the changelog: in its commit or, before that, in the tree.

    Of a merge, what it brings to the branch it is made on counts. Without a history before the record, as in an sdist
    or a shallow clone, there is nothing to look at.
    """
    changed = {line[3:] for line in git(home, "status", "--porcelain", "--", FILE, CHANGES)}
    if FILE in changed:
        return CHANGES in changed
    for commit in git(home, "log", "-1", "--format=%H", "--", FILE):
        if git(home, "rev-parse", "--verify", "--quiet", f"{commit}^1"):
            return bool(git(home, "diff", "--name-only", f"{commit}^1", commit, "--", CHANGES))
    return True


def test_a_change_of_the_surface_touches_the_changelog():
    what_to_do = f"write into {CHANGES} what changed for whom, and commit both together (git commit --amend)"
    assert is_said(HOME), f"{FILE} was recorded anew without a change of {CHANGES}; {what_to_do}"


@pytest.mark.parametrize(
    ("commits", "left", "said"),
    [
        ([], [], True),
        ([[FILE, CHANGES]], [], True),
        ([[FILE, CHANGES], [CHANGES], [FILE]], [], False),
        ([[FILE, CHANGES], [FILE], [CHANGES]], [], False),
        ([[FILE, CHANGES], [FILE, CHANGES], [CHANGES]], [], True),
        ([[FILE, CHANGES], [CHANGES]], [FILE], False),
        ([[FILE, CHANGES], [FILE]], [FILE, CHANGES], True),
    ],
)
def test_a_line_of_the_changelog_belongs_to_its_record(commits, left, said, tmp_path):
    made = [*commits, left] if commits else []
    for number, files in enumerate(made):
        if number == 0:
            subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
        for name in files:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number}")
        if number < len(commits):
            subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
            words = ["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", f"{number}"]
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert is_said(tmp_path) == said


def test_a_shallow_clone_has_nothing_to_look_at(tmp_path):
    test_a_line_of_the_changelog_belongs_to_its_record([[FILE, CHANGES], [FILE]], [], False, tmp_path)
    words = ["git", "clone", "--quiet", "--depth", "1", tmp_path.as_uri(), "shallow"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert is_said(tmp_path / "shallow")
