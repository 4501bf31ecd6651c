"""Commands as one types them, run in this process."""

import pytest

from ordino.cli import main


def ordino(*words):
    """Run a command in this process; the exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0
