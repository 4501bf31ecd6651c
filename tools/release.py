"""A release: ``prepare`` writes the version and the changelog's heading, ``check`` builds it and tries what was built.

``check`` wants a clean tree, builds wheel and sdist, checks their metadata, installs the wheel in an empty environment
and runs README's example there. With ``--tag`` it also wants a changelog that has everything in the section of the
version, and tags the commit in the end; without, it says what of that is missing, so that a tree in development can be
tried too. Nothing is uploaded.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import installs

HOME = Path(__file__).parents[1]
VERSION_FILE, CHANGES, CITATION = (HOME / name for name in ("src/ordino/versions.py", "CHANGELOG.md", "CITATION.cff"))
UNRELEASED = "## [Unreleased]"
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def version() -> str:
    """The version, from its only source."""
    return str(_VERSION.findall(VERSION_FILE.read_text(encoding="utf-8"))[0])


def prepare(wanted: str, day: str) -> None:
    """Write the version, and put what is unreleased under its heading; what is there already stays below it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        sys.exit(f"{wanted!r} is not a version; write VERSION=1.2.3")
    _replace(VERSION_FILE, _VERSION, f'__version__ = "{wanted}"')
    _replace(CITATION, re.compile(r"^version: .*$", re.MULTILINE), f"version: {wanted}")
    _replace(CITATION, re.compile(r"^date-released: .*$", re.MULTILINE), f"date-released: {day}")
    CHANGES.write_text(released(CHANGES.read_text(encoding="utf-8"), wanted, day), encoding="utf-8")


def released(changes: str, wanted: str, day: str) -> str:
    """The changelog with everything that is unreleased in the section of a version."""
    before, _, rest = changes.partition(UNRELEASED)
    new, mark, older = rest.partition("\n## [")
    heading, _, own = older.partition("\n")
    if mark and heading.startswith(f"{wanted}]"):  # prepared before: more has come in since
        body, mark, older = own.partition("\n## [")
        new = merged(new, body)
    return f"{before}{UNRELEASED}\n\n## [{wanted}] - {day}\n\n{new.strip()}\n" + (f"{mark}{older}" if mark else "")


def merged(newer: str, older: str) -> str:
    """Two texts as one: what stands below the same heading comes together, the newer first."""
    found: dict[str, list[str]] = {"": []}  # what stands above all headings
    for text in (newer, older):
        for part in re.split(r"^(?=### )", text, flags=re.MULTILINE):
            heading, _, rest = part.partition("\n") if part.startswith("### ") else ("", "", part)
            found.setdefault(heading, []).append(rest.strip())
    told = ((heading, "\n".join(filter(None, texts))) for heading, texts in found.items())
    return "\n\n".join("\n\n".join(filter(None, one)) for one in told if one[1])


def check(*, tag: bool) -> None:
    """Everything that a release is held to; stops at what is wrong."""
    wanted = version()
    if changed := _git("status", "--porcelain"):
        sys.exit(f"the tree is not clean; commit or remove:\n{changed}")
    unprepared = missing(wanted)
    if tag and unprepared:
        sys.exit(unprepared[0])
    with TemporaryDirectory(prefix="ordino-release-") as folder:
        wheel, source = installs.build(Path(folder))
        print("built " + ", ".join(f"{one.name} ({one.stat().st_size / 1e6:.2f} MB)" for one in (wheel, source)))
        _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source))
        found = installs.install(wheel, Path(folder) / "empty", extras="")
        installs.smoke(found, expect=wanted)
    if tag:
        _run("git", "tag", "-a", f"v{wanted}", "-m", f"Ordino {wanted}")
        print(f"tagged v{wanted}; push it with: git push origin v{wanted}")
    elif unprepared:
        print("\n".join([f"this tree can be built and used, but not be tagged as {wanted}:", *unprepared]))
    else:
        print(f"{wanted} can be released; TAG=yes tags it")


def missing(wanted: str) -> list[str]:
    """What a tree lacks to be tagged as a version, each with what to do."""
    changes, found = CHANGES.read_text(encoding="utf-8"), []
    if re.search(rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE) is None:
        found.append(f"CHANGELOG.md has no section for {wanted}; run: make prepare VERSION={wanted}")
    if changes.partition(UNRELEASED)[2].partition("\n## [")[0].strip():
        found.append("CHANGELOG.md has changes under [Unreleased]; run make prepare with the version that has them")
    if f"version: {wanted}" not in CITATION.read_text(encoding="utf-8"):
        found.append(f"CITATION.cff is of another version than {wanted}; run: make prepare VERSION={wanted}")
    if f"v{wanted}" in _git("tag").split():
        found.append(f"v{wanted} is tagged already; choose the next version")
    return found


def _replace(path: Path, pattern: re.Pattern[str], text: str) -> None:
    content = path.read_text(encoding="utf-8")
    if not pattern.search(content):
        sys.exit(f"{path.name} has no line like {pattern.pattern}")
    path.write_text(pattern.sub(text, content), encoding="utf-8")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=HOME, check=True, capture_output=True, text=True).stdout.strip()


def _run(*words: str) -> None:
    if subprocess.run(words, cwd=HOME).returncode:
        sys.exit(f"failed: {' '.join(words)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare").add_argument("version")
    commands.add_parser("check").add_argument("--tag", action="store_true")
    asked = parser.parse_args()
    if asked.command == "prepare":
        prepare(asked.version, f"{datetime.now(UTC):%Y-%m-%d}")
    else:
        check(tag=asked.tag)
