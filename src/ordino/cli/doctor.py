"""``ordino doctor``: what would hurt before training."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer


def doctor(
    files: Annotated[list[str], typer.Argument(help="Data files that belong together, such as train.txt test.txt.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find what would hurt in training or comparison, each with its fix; exit code 1 if there is an error among it.

    Example: ordino doctor train.txt test.txt
    """
    from ordino.cli.output import print_json, print_table
    from ordino.data.doctor import examine
    from ordino.data.files import read_data

    findings = examine({file: read_data(file) for file in files})
    if json:
        print_json([asdict(finding) for finding in findings])
    elif findings:
        rows = [(finding.severity, finding.where, finding.what, finding.fix) for finding in findings]
        print_table(["severity", "where", "what", "fix"], rows)
    else:
        typer.echo("nothing that would hurt was found")
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)
