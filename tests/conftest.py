"""What all tests share."""

import os
import shutil

import pytest
from hypothesis import settings

# the workers of pytest-xdist take all cores already; threads of theirs would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("ordino", deadline=None)  # times depend on the machine's load
settings.load_profile("ordino")


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
