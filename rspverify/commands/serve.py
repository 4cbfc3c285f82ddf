"""`serve`: a page on which a scheme is edited, and breaks as one watches."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.records import replace


@command("A page: edit a table, see it break.")
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen at. Default: this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port; 0 for a free one.")
    ] = 8470,
    public: Annotated[
        bool,
        typer.Option(
            "--public",
            help="For strangers: smaller limits, turns by address, a cache that goes with the "
            "server, any host name.",
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Processes that answer. Default: as many as cores."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--timeout", min=0.1, help="Seconds for one verdict; beyond them UNKNOWN."),
    ] = None,
    long_seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds for a corpus, mutate, compare or hunt."),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=512, metavar="MIB", help="Memory of one process, in MiB of addresses."),
    ] = None,
    proxy: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS,…",
            help="Addresses of proxies before it: those of clients are then taken from what these "
            "say in X-Forwarded-For.",
        ),
    ] = "",
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser of this machine.")
    ] = False,
) -> None:
    """Open a page: a scheme on the left, a test on the right, and the verdict as one types.

    Nothing is contacted but this server, and no file of it can be named. Needs the extra `web`.
    """
    from rspverify.source import InputError, Problem

    try:
        from rspverify.server.run import Place, run
    except ModuleNotFoundError as error:
        message = f"serve must have {error.name} installed, and it is not"
        raise InputError([Problem(None, message, "pip install 'rspverify[web]'")]) from None
    from rspverify.server.allowance import PUBLIC, Allowance

    usual = PUBLIC if public else Allowance.here()
    allowance = replace(
        usual,
        workers=workers or usual.workers,
        seconds=seconds or usual.seconds,
        long_seconds=long_seconds or usual.long_seconds,
        memory=memory * 2**20 if memory else usual.memory,
    )
    place = Place(host, port, public=public, proxy=proxy, open_page=open_page)
    run(allowance, place, lambda line: print(line, file=sys.stderr))
