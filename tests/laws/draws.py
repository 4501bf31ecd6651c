"""What every function with a seed draws at seed 0, as a record: a seed that was given years ago gives the same today.

``python tests/laws/draws.py`` writes draws.json anew; a draw that changes on purpose needs a line in the changelog.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

RECORD = Path(__file__).with_name("draws.json")


def told(value: Any) -> Any:
    """What was drawn, without the digits that another processor may round otherwise."""
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def digest(value: Any) -> str:
    """A few letters that stand for what was drawn."""
    return hashlib.sha256(json.dumps(told(value)).encode()).hexdigest()[:12]


def main() -> None:
    """Record all draws."""
    from laws.test_seeds import RECORDED, SEEDED

    found = {name: digest(SEEDED[name](0)) for name in RECORDED}
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
