"""The addresses of the service, in FastAPI: POST /answer, GET /health, GET /metrics, and a page at /.

Whatever happens, a client reads one sentence in JSON and no traceback. The log has a line for each request with sizes,
digests and times, and never a text, a header or an address that a client made up.
"""

import json
import logging
import secrets
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from bertedu.extras import needs_extra
from bertedu.production.page import POLICY, page
from bertedu.production.protocol import Asked, Refusal, asked_in, parse_request, read_body
from bertedu.production.service import Service

with needs_extra("production"):
    from fastapi import FastAPI, HTTPException, Request
    from fastapi.responses import HTMLResponse, JSONResponse, Response

ADDRESSES = {"/": "GET, HEAD, POST", "/answer": "POST", "/health": "GET, HEAD", "/metrics": "GET, HEAD"}
WRONG_HOST = "this service is asked as 127.0.0.1 or localhost: use that name, or start it with another --host."
OTHER_PAGE = "a page of another site may not ask this service: ask it from its own page, or from a program."
READ = ["GET", "HEAD"]
LEFT = 499  # in the log and the counts: the client left before its answer
SITE, ORIGIN = b"sec-fetch-site", b"origin"  # headers that browsers alone write, and no page can change
FRAMES = 6  # of a failure, in the log
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with none, the form of its own page would come from nowhere
    (b"cache-control", b"no-store"),
    (b"content-security-policy", POLICY.encode()),
]
log = logging.getLogger("bertedu.service")
Scope = MutableMapping[str, Any]  # this and the following: the interface between a server and an application, ASGI
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class Gone(Exception):
    """The client left before its request was whole."""


def create_app(service: Service) -> FastAPI:
    """The application that uvicorn runs."""
    app = FastAPI(title="bertedu", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_middleware(Guard, service=service)

    async def answer(request: Request) -> Response:
        note = request.scope["note"]
        body = await read_body(request.headers, pieces_of(request.receive), service.limits)
        note["bytes"] = len(body)
        answers = await service.answer(parse_request(body, service.limits), note)
        return Response(b'{"answers": [' + b", ".join(answers) + b"]}", media_type="application/json")

    app.add_route("/answer", answer, methods=["POST"])

    @app.api_route("/health", methods=READ)
    async def health() -> Response:
        await service.examine()
        said = service.health()
        return JSONResponse(said, 200 if said["status"] == "ok" else 503)

    @app.api_route("/metrics", methods=READ)
    async def metrics() -> Response:
        return JSONResponse(service.metrics())

    @app.api_route("/", methods=READ)
    async def empty_page() -> Response:
        return HTMLResponse(page(service.health()))

    @app.post("/")
    async def filled_page(request: Request) -> Response:
        return await answer_form(service, request)

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        return sentence(error.status, str(error), error.headers)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def not_found(request: Request, error: HTTPException) -> Response:
        return no_such_address(error.status_code, request.scope["path"])

    return app


async def pieces_of(receive: Receive) -> AsyncIterator[bytes]:
    """The body of a request as it comes. Raises Gone where the client leaves before its end."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def answer_form(service: Service, request: Request) -> Response:
    """The page with an answer to what its form sent, or with the sentence that says why there is none."""
    text = pair = ""
    status, said = 200, None
    try:
        body = await read_body(request.headers, pieces_of(request.receive), service.limits)
        try:
            fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=4, errors="strict"))
        except ValueError:
            raise Refusal(400, "this is no form of this page: reload it.") from None
        text, pair = fields.get("text", "").replace("\r\n", "\n"), fields.get("pair", "")
        value = {"text": text, **({"pair": pair} if pair.strip() else {})}
        (asked,) = asked_in(value, service.limits)
        said = await answer_one(service, asked, request.scope["note"])
    except Refusal as error:
        status, said = error.status, str(error)
    return HTMLResponse(page(service.health(), text, pair, said), status)


async def answer_one(service: Service, asked: Asked, note: dict[str, Any]) -> Any:
    """The answer to one text, as a value."""
    (written,) = await service.answer([asked], note)
    return json.loads(written)


def sentence(status: int, text: str, headers: dict[str, str] | None = None, **more: str) -> JSONResponse:
    """What every client reads who gets no answer."""
    return JSONResponse({"error": text, **more}, status, headers)


def no_such_address(status: int, path: str) -> JSONResponse:
    """The answer to a request for another address (404), or with another method (405)."""
    known = "POST /answer, GET /health, GET /metrics or GET /"
    said = "there is nothing at this address" if status == 404 else "this address takes another method"
    return sentence(status, f"{said}: use {known}.", {"Allow": ADDRESSES[path]} if status == 405 else None)


class Guard:
    """Around everything: counts and logs each request, and catches whatever nobody caught."""

    def __init__(self, app: ASGIApp, service: Service):
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        in_origin_form(scope)
        begun, status = time.perf_counter(), 0
        note: dict[str, Any] = {}
        scope["note"] = note

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        self.service.active += 1
        try:
            refusal = self.refusal(scope)
            await (refusal or self.app)(scope, receive, watched)
        except Gone:
            status = LEFT
        except Exception as error:
            reference = failed(error)
            if not status:
                said = f"the service failed: tell those who run it the reference {reference}."
                await sentence(500, said, {"Connection": "close"}, reference=reference)(scope, receive, watched)
            status = 500
        finally:
            self.service.active -= 1
            self.noted(scope, status, time.perf_counter() - begun, note)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """What is said, before anything is read, to a request for another host, to one of another page, or to one that
        comes while stopping.

        A page on the internet can make its own name point to 127.0.0.1 and then read what a service on the reader's
        machine says (DNS rebinding); the name that it was asked by gives it away. And it can send a form to any
        address; the browser says where such a form comes from.
        """
        hosts = self.service.settings.hosts
        if hosts is not None and host_in(scope) not in hosts:
            return sentence(421, WRONG_HOST)
        if scope["method"] == "POST" and is_of_another_page(scope):
            return sentence(403, OTHER_PAGE)
        if self.service.stopping and scope["path"] != "/health":
            return sentence(
                503,
                "the service is stopping: ask another, or try again later.",
                {"Retry-After": "5", "Connection": "close"},
            )
        return None

    def noted(self, scope: Scope, status: int, seconds: float, note: dict[str, Any]) -> None:
        """Count a request and write its line."""
        address = scope["path"] if scope["path"] in ADDRESSES else "other"
        self.service.counts.request(status, seconds, address == "/answer")
        line = {"address": address, "status": status, "ms": round(1000 * seconds, 2), **note}
        log.info("%s", json.dumps(line))


def in_origin_form(scope: Scope) -> None:
    """A request that names the whole address (http://host/path), as to a proxy, as one with its path and that host."""
    if scope["path"].startswith("http://"):
        host, slash, path = scope["path"].removeprefix("http://").partition("/")
        scope["path"] = slash + path or "/"
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [(b"host", host.encode("latin-1", "replace")), *others]


def is_of_another_page(scope: Scope) -> bool:
    """Whether a browser says that a page from elsewhere asks. A program says nothing, and a person has typed."""
    said = {name: [value for one, value in scope["headers"] if one == name] for name in (SITE, ORIGIN, b"host")}
    if said[SITE]:
        return any(value not in (b"same-origin", b"none") for value in said[SITE])
    return any(value.partition(b"://")[2].lower() not in map(bytes.lower, said[b"host"]) for value in said[ORIGIN])


def host_in(scope: Scope) -> str:
    """The name of the host that a request asks for, without its port."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"127.0.0.1").decode("latin-1").lower()
    return host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]


def failed(error: BaseException) -> str:
    """Log a failure under a new reference: its kind and where it was raised. Its message may quote a text."""
    reference = secrets.token_hex(4)
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    log.error("%s", json.dumps({"failure": reference, "kind": type(error).__name__, "at": places}))
    return reference
