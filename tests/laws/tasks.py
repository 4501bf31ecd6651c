"""Work for processes of their own, which load no more than this."""

import time


def later_first(number: int) -> int:
    """The first tasks take longest."""
    time.sleep(0.3 if number < 2 else 0.0)
    return number * number
