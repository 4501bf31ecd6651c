"""Releases: one source of the version, a changelog that moves on, versions that a report of a problem needs."""

import importlib
import pkgutil
import re
import sys
import tomllib
from pathlib import Path

import pytest

import ordino
from ordino import checks, versions
from ordino.checks import renamed
from ordino.cli import main
from ordino.errors import ParameterError

HOME = Path(__file__).parents[1]
CHANGES = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n"
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def release(monkeypatch):
    monkeypatch.syspath_prepend(HOME / "tools")
    import release

    return release


def test_the_version_has_one_source(release):
    assert "version" not in PROJECT
    assert release.version() == ordino.__version__


def test_what_is_unreleased_goes_under_the_version(release):
    once = release.released(CHANGES, "0.2.0", "2026-11-17")
    assert once == CHANGES.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-11-17\n")
    more = once.replace("## [Unreleased]\n", "## [Unreleased]\n\n- newer\n")
    assert release.released(more, "0.2.0", "2026-11-18") == (
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-18\n\n- newer\n- new\n\n"
        "## [0.1.0] - 2026-01-01\n\n- old\n"
    )
    assert release.released("# C\n\n## [Unreleased]\n\n- first\n", "0.1.0", "today") == (
        "# C\n\n## [Unreleased]\n\n## [0.1.0] - today\n\n- first\n"
    )


def test_a_section_that_grows_has_every_heading_once(release):
    newer, older = "### Added\n\n- c\n\n### Fixed\n\n- d\n", "Words.\n\n### Changed\n\n- a\n\n### Added\n\n- b\n"
    found = "Words.\n\n### Added\n\n- c\n- b\n\n### Fixed\n\n- d\n\n### Changed\n\n- a"
    assert release.merged(newer, older) == found
    assert release.merged("Words.\n\n### Fixed\n\n- d", "### Fixed\n\n- e") == "Words.\n\n### Fixed\n\n- d\n- e"


def test_preparing_writes_everything_that_names_the_version(release, tmp_path, monkeypatch):
    for name in ("VERSION_FILE", "CHANGES", "CITATION"):
        copy = tmp_path / name
        copy.write_text(getattr(release, name).read_text(encoding="utf-8"), encoding="utf-8")
        monkeypatch.setattr(release, name, copy)
    release.prepare("9.8.7", "2030-01-02")
    assert release.version() == "9.8.7"
    assert re.search(r"## \[Unreleased\]\n\n## \[9\.8\.7\] - 2030-01-02\n", release.CHANGES.read_text(encoding="utf-8"))
    citation = release.CITATION.read_text(encoding="utf-8")
    assert ("version: 9.8.7" in citation, "date-released: 2030-01-02" in citation) == (True, True)
    with pytest.raises(SystemExit, match=r"'1\.2' is not a version"):
        release.prepare("1.2", "today")


RELEASED = CHANGES.replace("- new\n\n", "")
CITED = "version: 0.1.0\n"


@pytest.mark.parametrize(
    ("changed", "changes", "citation", "tags", "sentence"),
    [
        (" M README.md", RELEASED, CITED, "", "the tree is not clean"),
        ("", RELEASED.replace("0.1.0", "0.0.9"), CITED, "", "CHANGELOG.md has no section for 0.1.0; run: make prepare"),
        ("", CHANGES, CITED, "", r"changes under \[Unreleased\]; run make prepare"),
        ("", RELEASED, "version: 0.0.9\n", "", "CITATION.cff is of another version than 0.1.0; run: make prepare"),
        ("", RELEASED, CITED, "v0.0.9\nv0.1.0", "v0.1.0 is tagged already"),
    ],
)
def test_what_cannot_be_released_is_told(release, tmp_path, monkeypatch, changed, changes, citation, tags, sentence):
    for name, text in {"CHANGES": changes, "CITATION": citation}.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(release, name, tmp_path / name)
    monkeypatch.setattr(release, "version", lambda: "0.1.0")
    monkeypatch.setattr(release, "_git", lambda *words: {"status": changed, "tag": tags}[words[0]])
    monkeypatch.setattr(release.installs, "build", lambda folder: pytest.fail("it was built"))
    with pytest.raises(SystemExit, match=sentence):
        release.check(tag=True)
    if not changed:
        assert re.search(sentence, "\n".join(release.missing("0.1.0")))


@pytest.mark.parametrize("changes", [CHANGES, RELEASED])
def test_without_a_tag_a_tree_in_development_is_tried_and_told_what_it_lacks(
    release, tmp_path, monkeypatch, capsys, changes
):
    for name, text in {"CHANGES": changes, "CITATION": CITED}.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(release, name, tmp_path / name)
    monkeypatch.setattr(release, "version", lambda: "0.1.0")
    monkeypatch.setattr(release, "_git", lambda *words: "")
    monkeypatch.setattr(release, "_run", lambda *words: None)
    wheel = tmp_path / "wheel"
    wheel.touch()
    monkeypatch.setattr(release.installs, "build", lambda folder: (wheel, wheel))
    monkeypatch.setattr(release.installs, "install", lambda *_, **__: None)
    monkeypatch.setattr(release.installs, "smoke", lambda *_, **__: None)
    release.check(tag=False)
    told = capsys.readouterr().out
    assert ("under [Unreleased]" in told) == (changes == CHANGES) == ("can be released" not in told)


def test_the_version_names_what_matters(capsys, monkeypatch):
    monkeypatch.setattr(versions, "OPTIONAL", ("pandas", "no-such-package", "pandas-gpu"))
    monkeypatch.setattr(versions, "INSTEAD", {"pandas-gpu": "pandas"})
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"ordino {ordino.__version__}"
    assert lines[1].startswith(f"python {sys.version.split()[0]}, ")
    assert {line.split()[0] for line in lines[2:-1]} == {*versions.NEEDED, "pandas"}
    assert lines[-1] == "not installed: no-such-package"


def test_every_dependency_is_among_the_versions():
    needed = {re.split(r"[<>=;\s]", one)[0] for one in PROJECT["dependencies"]}
    assert needed == set(versions.NEEDED)


OF_PEERS = {"xgboost", "xgboost-cpu", "catboost", "onnxruntime"}
"""What Ordino uses of the extra for comparisons: rankers, and the check of ONNX graphs; XGBoost in either package."""


def test_every_package_of_an_extra_is_among_the_versions():
    of_users = set(PROJECT["optional-dependencies"]) - {"all", "peers", "docs", "dev"}
    brought = {re.split(r"[<>=;\s]", one)[0] for name in of_users for one in PROJECT["optional-dependencies"][name]}
    assert brought | OF_PEERS == set(versions.OPTIONAL)
    assert len(versions.OPTIONAL) == len(set(versions.OPTIONAL))


def test_classifiers_are_the_pythons_that_are_tested():
    noxfile = (HOME / "noxfile.py").read_text(encoding="utf-8")
    tested = re.search(r"PYTHONS = \((.*)\)", noxfile)[1].replace('"', "").split(", ")
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert tested == named
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_an_old_name_works_for_a_while_and_names_the_new_one():
    @renamed(since="0.3", threads="n_jobs")
    def read(*, n_jobs=1):
        return n_jobs

    with pytest.warns(FutureWarning, match=r"read: threads is now called n_jobs; the old name works until 0\.4"):
        assert read(threads=3) == 3
    with pytest.raises(ParameterError, match="threads is now called n_jobs"):
        read(threads=3, n_jobs=2)
    assert checks.WARNING.popitem()[1] == "0.4"


def test_no_old_name_outlives_its_promise():
    """Whoever releases the version that ends it makes the name a refusal."""
    for module in pkgutil.walk_packages(ordino.__path__, "ordino."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    ours = [int(part) for part in ordino.__version__.split(".")[:2]]
    over = [name for name, until in checks.WARNING.items() if [int(part) for part in until.split(".")] <= ours]
    assert not [name for name in over if name.startswith("ordino.")]
