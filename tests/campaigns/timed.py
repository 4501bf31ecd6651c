"""A plugin of pytest, ``-p campaigns.timed``: it writes the seconds of each test into the file that TIMED names."""

import json
import os
from collections import Counter
from pathlib import Path

seconds = Counter()


def pytest_runtest_logreport(report):
    seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["TIMED"]).write_text(json.dumps(seconds), encoding="utf-8")
