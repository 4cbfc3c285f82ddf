"""`serve`: A page: edit a table, see it break."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from rspverify.options import Parameters, argument, option
from rspverify.source import InputError, Problem
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output


@dataclass(frozen=True)
class ServeParameters(Parameters):
    """What the page opens, where it is, for whom, and what an answer may cost."""

    host: str = option("127.0.0.1", "The address to listen at. Default: this machine alone.")
    port: int = option(8470, "The port; 0 for a free one.", least=0, most=65_535)
    public: bool = option(
        False,
        "For strangers: smaller limits, turns by address, a cache that goes with the "
        "server, any host name.",
    )
    workers: int | None = option(
        None, "Processes that answer. Default: as many as cores.", least=1, most=64
    )
    seconds: float | None = option(
        None, "Seconds for one verdict; beyond them UNKNOWN.", name="--timeout", least=0.1
    )
    long_seconds: float | None = option(
        None, "Seconds for a corpus, mutate, compare or hunt.", least=0.1
    )
    memory: int | None = option(
        None, "Memory of one process, in MiB of addresses.", metavar="MIB", least=512
    )
    proxy: str = option(
        "",
        "Addresses of proxies before it: those of clients are then taken from what these "
        "say in X-Forwarded-For.",
        metavar="ADDRESS,…",
    )
    open_page: bool = option(False, "Open the page in the browser of this machine.", name="--open")
    scheme: str = argument(
        "The scheme that the page opens. Default: an example.",
        metavar="SCHEME",
        completes="scheme",
        default="",
    )


def serve(asked: ServeParameters, output: Output) -> int:
    """Open a page: a scheme on the left, a test on the right, and the verdict as one types.

    Nothing is contacted but this server, and no file of it can be named. Needs the extra `web`.
    """
    try:
        from rspverify.server.app import run
    except ModuleNotFoundError as error:
        message = f"serve must have {error.name} installed, and it is not"
        raise InputError([Problem(None, message, "pip install 'rspverify[web]'")]) from None
    run(asked, lambda line: print(line, file=sys.stderr))
    return 0


COMMAND = Command(serve, ServeParameters)
