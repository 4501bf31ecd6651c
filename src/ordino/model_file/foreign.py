"""Models of other tools, which are told by how their files start: they are imported first."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ordino.errors import ModelFileError

STARTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "ranklib": re.compile(
            r"##\s*((Lambda)?MART|RankNet|LambdaRank|ListNet|RankBoost|AdaRank|Coordinate Ascent|Linear Regression"
            r"|Random Forests)\s*$",
            re.MULTILINE,
        ),
        "lightgbm": re.compile(r"tree\s+version="),
        "xgboost": re.compile(r'\{\s*"learner"\s*:|\[\s*\{\s*"nodeid"\s*:'),
    }
)
"""By the name of a tool, how the text of a model of it starts."""


def refuse_foreign(path: str | Path) -> None:
    """Refuse a file that holds a model of another tool, with the command that reads it."""
    file = Path(path)
    if not file.is_file():
        return
    with file.open("rb") as opened:
        start = opened.read(100).decode(errors="replace")
    for tool, pattern in STARTS.items():
        if pattern.match(start):
            out = f"{file.stem}.ordino"
            raise ModelFileError(
                f"{path}: this is a model of {tool}; import it first: ordino import {path} --from {tool} --out {out}"
            )
