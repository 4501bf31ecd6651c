"""``ordino studio`` opens pages in the browser that show what an experiment says and why documents stand as they do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ordino.cli.output import print_table, say


def studio(
    things: Annotated[
        list[str] | None, typer.Argument(metavar="[STORE | MODEL | DATA ...]", help="What to look at.")
    ] = None,
    judge: Annotated[Path | None, typer.Option(help="File of TREC judgments that the page Judge appends to.")] = None,
    results: Annotated[
        Path | None, typer.Option(help="Folder of `ordino reproduce --out`, for the page Papers.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; this machine alone by default.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    check: Annotated[bool, typer.Option("--check", help="Say what would be shown, and stop.")] = False,
) -> None:
    """Look at rankings in the browser: boards, two rankers query by query, one query, and why.

    Only this machine has access, by the token in the address. Only grades are written, to the file of --judge.

    Example: ordino studio bench.sqlite --check

    Example: ordino studio model.ordino test.txt --no-browser --check
    """
    from functools import partial

    from ordino.errors import ParameterError
    from ordino.studio.app import make_app, new_token
    from ordino.studio.sources import find_sources
    from ordino.web.address import check_address, open_port, url_of
    from ordino.web.running import check_extra, run

    check_extra("studio", "ordino studio", "jinja2")
    if not things and results is None:
        raise typer.BadParameter("name a store, models or data, such as bench.sqlite")
    if results is not None and not results.is_dir():
        raise ParameterError(f"--results {results}: there is no such folder")
    if judge is not None and not judge.absolute().parent.is_dir():
        raise ParameterError(f"--judge {judge}: there is no folder {judge.parent}; make it first, or name another")
    sources = find_sources(things or [], judged=judge, results=results)
    if check:
        kinds = {"store": [sources.store] if sources.store else [], "model": sources.models, "data": sources.data}
        print_table(["kind", "file"], [(kind, str(path)) for kind, paths in kinds.items() for path in paths])
        return
    token = new_token()
    address = check_address(host, port, token)
    with open_port(address) as listening:
        url = f"{url_of(listening)}/?token={token}"
        typer.echo(url)
        say("Ctrl-C ends the studio")
        if browser:
            import webbrowser

            webbrowser.open(url)
        run(partial(make_app, sources, token=token, hosts=address.hosts, warm=True), listening)
