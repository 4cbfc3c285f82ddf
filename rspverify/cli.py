"""The command line: all commands in one app, and what an interrupt does to it."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify import __version__
from rspverify.terminal.ending import at_the_end, output_lost
from rspverify.terminal.usage import Commands

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

app = typer.Typer(
    name="rspverify",
    cls=Commands,
    help="Decides whether a compilation scheme from OpenCL with remote-scope promotion is sound.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Rich takes half of the time of --help to load.
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rspverify {__version__}, z3 {version('z3-solver')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version, and that of the solver.",
        ),
    ] = False,
) -> None:
    pass


class Termination:
    """Whether SIGTERM has come, which ends a command as Ctrl-C does: what is known is shown.

    It becomes one interrupt, even while the solver is at work.

    Python runs what handles a signal only once a call of the solver's library is over. But that
    library itself ends a call at SIGINT: so a thread that is told of SIGTERM at once sends SIGINT.
    """

    def __init__(self) -> None:
        self.came = False
        self._background = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=self._pass_on, args=(reading,), daemon=True).start()
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTERM, lambda *_: None)  # one that does nothing is told of, too

    def _pass_on(self, reading: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        while told := os.read(reading, 1):
            if told[0] == signal.SIGTERM:
                self.came = True
                os.kill(os.getpid(), signal.SIGINT)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """A shell has what runs in the background ignore Ctrl-C, but not SIGTERM."""
        if self.came or not self._background:
            raise KeyboardInterrupt


_AFTERWARDS = 0.02
"""Seconds after which a destructor that an interrupt has hit is over."""


def main() -> None:
    """What the command line asks for; with the exit code that tells what came of it."""
    sys.unraisablehook = _silently
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal may not have our characters
            stream.reconfigure(errors="replace")
    termination = Termination()
    try:
        app()
    except SystemExit as end:
        raise SystemExit(at_the_end(end.code, terminated=termination.came)) from None
    except OSError as error:  # of --help, which is no command
        raise SystemExit(output_lost(error)) from None


def _silently(met: UnraisableHookArgs) -> None:
    """An interrupt may hit a destructor of the solver's library: it is raised again outside.

    Not at once, as it would then be raised in here, and be lost with a traceback.
    """
    if issubclass(met.exc_type, KeyboardInterrupt):
        timer = threading.Timer(_AFTERWARDS, _thread.interrupt_main)
        timer.daemon = True
        timer.start()
