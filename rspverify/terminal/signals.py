"""SIGTERM, which ends a command as Ctrl-C does: what is known by then is shown."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType


class Termination:
    """Whether SIGTERM has come. It becomes one interrupt, even while the solver is at work.

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
