"""The command line: all commands in one app, and what an interrupt does to it."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify import __version__
from rspverify.smt import work
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


class Interrupts:
    """Ctrl-C and SIGTERM end a command, even while the solver is at work: what is known is shown.

    Python handles a signal only once a call of the solver's library is over. So a thread that is
    told of signals at once has the solver give up until they are handled.

    terminated: whether SIGTERM has come.
    """

    def __init__(self) -> None:
        self.terminated = False
        reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=(reading,), daemon=True).start()
        work.leave_signals_to_this_process()
        for number in _ENDING:
            # A shell has what it starts in the background ignore Ctrl-C.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._raise)
        sys.unraisablehook = self._raise_again

    def _watch(self, reading: int) -> None:
        """The pipe has the numbers of signals as they come, and _HANDLED after each handled one."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        due = False
        while True:
            if select.select([reading], [], [], _PATIENCE if due else None)[0]:
                told = os.read(reading, 1)[0]
                due = told in _ENDING or (due and told != _HANDLED)
            else:
                work.give_up()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        os.write(self._writing, bytes([_HANDLED]))
        self.terminated |= number == signal.SIGTERM
        raise KeyboardInterrupt

    def _raise_again(self, met: UnraisableHookArgs) -> None:
        """An interrupt may hit a destructor of the solver's library: it is raised again outside.

        Not at once, as it would then be raised in here, and be lost with a traceback.
        """
        if issubclass(met.exc_type, KeyboardInterrupt):
            number = signal.SIGTERM if self.terminated else signal.SIGINT
            timer = threading.Timer(_PATIENCE, os.kill, [os.getpid(), number])
            timer.daemon = True
            timer.start()


_ENDING = (signal.SIGINT, signal.SIGTERM)
_HANDLED = 0
_PATIENCE = 0.02
"""Seconds in which Python handles a signal where it can, and after which a destructor is over."""


def main() -> None:
    """What the command line asks for; with the exit code that tells what came of it."""
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal may not have our characters
            stream.reconfigure(errors="replace")
    interrupts = Interrupts()
    try:
        app()
    except SystemExit as end:
        raise SystemExit(at_the_end(end.code, terminated=interrupts.terminated)) from None
    except OSError as error:  # of --help, which is no command
        raise SystemExit(output_lost(error)) from None
