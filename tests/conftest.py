"""What all tests share; and what a run says of the tests that it left out."""

import gc
import os
import shutil
import signal
import sys
from collections import Counter

import pytest
from hypothesis import settings

# the workers of pytest-xdist take all cores already; threads of theirs would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

# what is compiled is kept, Python's code as ours: dozens of processes that tests start need not do it again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# collecting makes no garbage, and what is collected stays: it need not be looked through again and again
gc.disable()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a run that a shell has put into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ordino", deadline=None)  # times depend on the machine's load
settings.load_profile("ordino")

EXPECTED_SKIPS = (
    "ORDINO_DATA names no folder",
    "SCIPY_ARRAY_API is not set",
    *(f"could not import '{package}'" for package in os.environ.get("ORDINO_WITHOUT", "").split()),
)
"""How the reasons begin for which a test may be left out in CI: real collections are licensed, and not everywhere;
a check of scikit-learn's wants arrays of other libraries, which no ranker takes; and noxfile.py names the
packages that an environment of its is without."""


def skips_of(config):
    """Why tests of this run were skipped, and how many for each reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = [] if reporter is None else reporter.stats.get("skipped", [])
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)


def unexpected_skips(config):
    """Reasons that CI does not accept: it installs what the tests need."""
    return [reason for reason in skips_of(config) if not reason.startswith(EXPECTED_SKIPS)]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no examples in docstrings: looking for them would go through every module a second time."""
    found = yield
    return [one for one in found if type(one).__name__ != "DoctestModule"]


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session):
    is_worker = hasattr(session.config, "workerinput")
    if (
        os.environ.get("CI") == "true"
        and not is_worker
        and session.exitstatus == 0
        and unexpected_skips(session.config)
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    found = skips_of(config)
    if not found:
        return
    unexpected = unexpected_skips(config)
    terminalreporter.section("left out")
    for reason, n in found.items():
        mark = "  <- unexpected: install it, or explain it in tests/conftest.py" if reason in unexpected else ""
        terminalreporter.write_line(f"{n} x {reason}{mark}")


@pytest.fixture(scope="module")
def browser():
    """Chromium, where it is installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are tested with playwright")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("there is no chromium to test pages in; install it with: apt install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
