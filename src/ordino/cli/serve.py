"""``ordino serve``: rank over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from ordino.cli import options
from ordino.cli.output import say


def serve(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL...", help="Model files, as FILE or NAME=FILE; reloaded when they change."),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free one.")] = 8080,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, such as 0.0.0.0; by default this machine only.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="ORDINO_TOKEN", help="Secret that requests must carry; --host needs one.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="Number of processes; one for each processor by default.")
    ] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Most documents in one request.")] = 10_000,
    max_megabytes: Annotated[int, typer.Option(min=1, max=2000, help="Largest body of a request.")] = 32,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may take to arrive, and to be answered.")
    ] = 10.0,
    queue: Annotated[int, typer.Option(min=1, help="Requests that a process accepts at the same time.")] = 256,
    check: Annotated[bool, typer.Option("--check", help="Load the models, say what they are, and stop.")] = False,
) -> None:
    """Serve models over HTTP: rank documents, or reorder responses of Solr, Elasticsearch and OpenSearch.

    The address that is printed shows a page on which to try it; docs/serving.md explains the routes.

    Example: ordino serve model.ordino --port 8080 --check

    Example: ordino serve web=model.ordino linear.ordino --processes 2 --check
    """
    from ordino.processors import allowed_processors
    from ordino.serve.settings import Limits, named_models
    from ordino.serve.start import serve as start
    from ordino.web.address import check_address

    start(
        named_models(models),
        check_address(host, port, token),
        limits=Limits(bytes=max_megabytes << 20, rows=max_rows, seconds=timeout, queue=queue),
        processes=processes or allowed_processors(),
        quiet=options.shared_options().quiet,
        say=say,
        only_check=check,
    )
