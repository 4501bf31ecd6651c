"""``ordino doctor``: problems in data files, and how to fix them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ordino.cli.options import Json


def doctor(
    files: Annotated[list[str], typer.Argument(help="Data files that belong together, such as train.txt test.txt.")],
    json: Json = False,
) -> None:
    """Find problems that would hurt training or comparison, each with its fix; exit code 1 if any error is found.

    Example: ordino doctor train.txt test.txt
    """
    from ordino.cli.output import print_found
    from ordino.data.doctor import examine, format_findings
    from ordino.data.files import read_data

    findings = examine({file: read_data(file) for file in files})
    if findings or json:
        rows = [(finding.severity, finding.where, finding.what, finding.fix) for finding in findings]
        print_found(json, [asdict(finding) for finding in findings], ["severity", "where", "what", "fix"], rows)
    else:
        typer.echo(format_findings(findings))
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)
