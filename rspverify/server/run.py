"""The server's process: where it listens, where its answers are kept, and how it ends."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import uvicorn

from rspverify.commands.serve import ServeParameters
from rspverify.corpus.inputs import meant_by
from rspverify.judge.store import default_folder
from rspverify.records import replace
from rspverify.server.app import LOOPBACK, application
from rspverify.server.worker import PUBLIC, Allowance
from rspverify.source import InputError, Problem, Source, name_of, read_source

_ENDING = 2
"""Seconds that answers have when the server ends."""


def run(place: ServeParameters, say: Callable[[str], None]) -> None:
    """Serve until an interrupt. Raises InputError where it cannot, or there is no such scheme."""
    schemes = meant_by(schemes=[place.scheme] if place.scheme else ()).schemes
    texts = [Source(Path(name_of(each)).name, read_source(each).text) for each in schemes]
    usual = PUBLIC if place.public else Allowance.here()
    allowance = replace(
        usual,
        workers=place.workers or usual.workers,
        seconds=place.seconds or usual.seconds,
        long_seconds=place.long_seconds or usual.long_seconds,
        memory=place.memory * 2**20 if place.memory else usual.memory,
    )
    with listening(place) as bound, cache_of(public=place.public) as cache:
        host, port = bound.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{port}/"
        hosts, ready = hosts_of(place), partial(_ready, url, place, say)
        app = application(allowance, cache, texts, public=place.public, hosts=hosts, ready=ready)
        config = uvicorn.Config(
            app,
            log_level="warning",
            proxy_headers=bool(place.proxy),
            forwarded_allow_ips=place.proxy,
            server_header=False,
            timeout_graceful_shutdown=_ENDING,
            timeout_keep_alive=30,
            limit_concurrency=2_000,
        )
        with suppress(KeyboardInterrupt):  # it is how a server is ended
            _Server(config).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that ends in order however often it is told to: SIGTERM comes as an interrupt, too
    (rspverify/terminal/signals.py)."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


def _ready(url: str, place: ServeParameters, say: Callable[[str], None]) -> None:
    say(f"rspverify is at {url} (interrupt ends it)")
    if not (place.public or _is_loopback(place.host)):
        say("warning: it listens beyond this machine; --public has limits for strangers")
    if place.open_page:
        import webbrowser

        webbrowser.open(url)


@contextmanager
def listening(place: ServeParameters) -> Iterator[socket.socket]:
    """A socket that listens there. Raises InputError where that cannot be."""
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        bound = socket.create_server((place.host, place.port), family=family, backlog=256)
    except OSError as error:
        at = f"{place.host}:{place.port}"
        message = f"{at}: must be an address to listen at, and is not: {error.strerror or error}"
        raise InputError([Problem(None, message, "--port 0 takes a free port")]) from None
    with bound:
        yield bound


@contextmanager
def cache_of(*, public: bool) -> Iterator[Path]:
    """The user's cache; that of a public instance goes with it."""
    if not public:
        yield default_folder().absolute()  # workers have folders of their own
        return
    folder = Path(tempfile.mkdtemp(prefix="rspverify-cache-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hosts_of(place: ServeParameters) -> tuple[str, ...]:
    """The names by which it may be called: on one's own machine no other page's server's."""
    if place.public or not _is_loopback(place.host):
        return ("*",)
    return LOOPBACK


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
