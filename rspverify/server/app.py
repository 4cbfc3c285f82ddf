"""The server: a page, its files, one address for questions; where it listens, and how it ends."""

from __future__ import annotations

import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rspverify import __version__
from rspverify.commands.serve import ServeParameters
from rspverify.corpus.inputs import meant_by
from rspverify.judge.store import default_folder
from rspverify.records import replace
from rspverify.server.catalogue import Catalogue
from rspverify.server.lane import Lane, Turns
from rspverify.server.question import Kind, Refused, read_question
from rspverify.server.worker import PUBLIC, Allowance, Worker, started
from rspverify.source import InputError, Problem, Source, name_of, read_source

HERE = Path(__file__).parent
REPORT = HERE.parent / "render" / "html"
"""Where the parts of reports are, which the page shows too."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_SHORT = (Kind.VERDICT, Kind.ANSWER, Kind.PROVE)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "Content-Security-Policy": POLICY.format(nonce=""),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server:
    """What the requests share: two kinds of workers.

    public: whether strangers use it. cache: a folder for the judge's answers. opened: schemes of
    one's own. ready: called once there are workers.
    """

    def __init__(
        self,
        allowance: Allowance,
        cache: Path,
        opened: Sequence[Source],
        *,
        public: bool,
        ready: Callable[[], None],
    ) -> None:
        self._allowance, self._public, self._ready = allowance, public, ready
        self._catalogue = Catalogue.read(opened)

        def lane(number: int, seconds: float, *, long: bool) -> Lane:
            turns: Turns[Worker] = Turns(allowance.waiting, allowance.of_one)
            start = partial(started, allowance, cache, long=long)
            return Lane(start, number, turns, seconds, allowance.answer)

        self._quick = lane(allowance.workers, allowance.seconds, long=False)
        self._long = lane(allowance.long_workers, allowance.long_seconds, long=True)
        self._pages = Environment(
            loader=FileSystemLoader(HERE / "html"), autoescape=True, undefined=StrictUndefined
        )

    @asynccontextmanager
    async def running(self, _: object = None) -> AsyncIterator[None]:
        """Workers, while there are requests."""
        try:
            await self._quick.open()
            await self._long.open()
            self._ready()
            yield
        finally:
            await self._quick.close()
            await self._long.close()

    async def page(self, _: Request) -> Response:
        """The page, with a number that only its own styles know."""
        nonce = secrets.token_urlsafe(16)
        text = self._pages.get_template("page.html").render(
            nonce=nonce, version=__version__, public=self._public, catalogue=self._catalogue
        )
        policy = POLICY.format(nonce=f" 'nonce-{nonce}'")
        headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
        return HTMLResponse(text, headers=headers)

    async def catalogue(self, _: Request) -> Response:
        """Everything that there is to choose from, and the words of the languages."""
        return Response(self._catalogue.json, media_type="application/json")

    async def file(self, request: Request) -> Response:
        """The text of a scheme, a test, a model or a machine that ships, by its name there."""
        text = self._catalogue.files.get(request.path_params["name"])
        if text is None:
            return PlainTextResponse("no such file ships", 404)
        return PlainTextResponse(text)

    async def ask(self, request: Request) -> Response:
        """A question, as JSON; its answer as events, each sent as soon as it is there."""
        try:
            if request.headers.get("content-type", "").partition(";")[0] != "application/json":
                raise Refused(415, "a question must be JSON")
            data = await _body(request, self._allowance.question)
            asked = read_question(data)
            self._catalogue.require(asked)
            lane = self._quick if asked.kind in _SHORT else self._long
            ticket = lane.turns.enter(self._client(request), short=asked.kind is Kind.VERDICT)
        except Refused as refused:
            later = {"Retry-After": "1"} if refused.status == 503 else None
            return PlainTextResponse(str(refused), refused.status, later)
        headers = {"X-Accel-Buffering": "no"}
        coming = lane.answer(ticket, data)
        return StreamingResponse(coming, media_type="text/event-stream", headers=headers)

    def _client(self, request: Request) -> str:
        """Who is to have a turn: an address, and on one's own machine each page for itself."""
        address = request.client.host if request.client else ""
        page = "" if self._public else request.headers.get("x-page", "")[:40]
        return f"{address} {page}"


class Headers:
    """Adds them to all that an application sends, where it has not said otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sent)


async def _body(request: Request, most: int) -> bytes:
    """What a request brings, up to so many bytes. Raises Refused."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > most:
            raise Refused(413, f"a question must have at most {most:,} bytes")
    return bytes(found)


def application(
    allowance: Allowance,
    cache: Path,
    opened: Sequence[Source] = (),
    *,
    public: bool = False,
    hosts: Sequence[str] = LOOPBACK,
    ready: Callable[[], None] = lambda: None,
) -> Starlette:
    """The application. opened: schemes of one's own, the first of which the page opens. hosts: the
    names by which it may be called; `*` for any."""
    server = Server(allowance, cache, opened, public=public, ready=ready)
    return Starlette(
        routes=[
            Route("/", server.page),
            Route("/catalogue.json", server.catalogue),
            Route("/files/{name:path}", server.file),
            Route("/ask", server.ask, methods=["POST"]),
            Mount("/built", StaticFiles(directory=HERE / "built")),
            Mount("/report", StaticFiles(directory=REPORT)),
        ],
        middleware=[
            Middleware(Headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
            # Level 9 takes 10 times as long.
            Middleware(GZipMiddleware, minimum_size=2_000, compresslevel=6),
        ],
        lifespan=server.running,
    )


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
    (rspverify/cli.py)."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


def _ready(url: str, place: ServeParameters, say: Callable[[str], None]) -> None:
    say(f"rspverify is at {url} (interrupt ends it)")
    if not (place.public or _is_loopback(place.host)):
        say("warning: it listens beyond this machine; --public has limits for strangers")
    if place.open_page:
        import webbrowser

        webbrowser.open(url)


def listening(place: ServeParameters) -> socket.socket:
    """A socket that listens there. Raises InputError where that cannot be."""
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        return socket.create_server((place.host, place.port), family=family, backlog=256)
    except OSError as error:
        at = f"{place.host}:{place.port}"
        message = f"{at}: must be an address to listen at, and is not: {error.strerror or error}"
        raise InputError([Problem(None, message, "--port 0 takes a free port")]) from None


@contextmanager
def cache_of(*, public: bool) -> Iterator[Path]:
    """The user's cache; that of a public instance goes with it."""
    if not public:
        yield default_folder().absolute()  # workers have folders of their own
        return
    with tempfile.TemporaryDirectory(
        prefix="rspverify-cache-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


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
