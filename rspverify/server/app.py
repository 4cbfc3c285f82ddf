"""The server: a page, its files, and one address for questions."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

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
from rspverify.server.catalogue import Catalogue
from rspverify.server.lane import Busy, Lane, Turns
from rspverify.server.question import Kind, Refused, read_question
from rspverify.server.worker import Allowance, Worker, started
from rspverify.source import Source

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
            return PlainTextResponse(str(refused), refused.status)
        except Busy as busy:
            return PlainTextResponse(str(busy), 503, {"Retry-After": "1"})
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
            Middleware(GZipMiddleware, minimum_size=2_000),
        ],
        lifespan=server.running,
    )
