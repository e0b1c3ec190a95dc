"""A service started and stopped: a socket, uvicorn around the application, and an end that loses no answer.

SIGTERM or Ctrl-C begins the end: what has begun is finished, whatever comes now is told to go elsewhere (503), and when
nothing is under way any more the process exits. A second signal does not wait.
"""

import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.files import quoted
from bertedu.production.app import create_app
from bertedu.production.crowd import Crowd, most_connections
from bertedu.production.engine import Engine
from bertedu.production.exported import is_exported
from bertedu.production.guarding import GuardedProtocol
from bertedu.production.monitor import Reference
from bertedu.production.service import Service, Settings

with needs_extra("production"):
    import uvicorn

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
GRACE_SECONDS = 30.0
PARENT = "BERTEDU_SERVE_PARENT"  # the process with which a service ends; `serving` sets it
BACKLOG = 1_024
SYSTEM_BUFFERS = {socket.SO_SNDBUF: 32_768, socket.SO_RCVBUF: 65_536}  # bytes of what is not read by either side yet
KEEP_ALIVE_SECONDS = 3_600  # `crowd` ends what is idle, and sooner
Say = Callable[[str], None]


class Stopping(uvicorn.Server):
    """uvicorn's server, which on a signal first finishes what has begun."""

    def __init__(self, config: uvicorn.Config, service: Service):
        super().__init__(config)
        self.service, self.since = service, 0.0
        parent = os.environ.get(PARENT, "")
        self.parent = int(parent) if parent.isdecimal() else 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal begins the end, a second one does not wait."""
        if self.service.stopping:
            self.should_exit = self.force_exit = True
        self.service.stopping, self.since = True, time.monotonic()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to exit."""
        done = await super().on_tick(counter)
        if self.parent and os.getppid() != self.parent:  # a notebook's kernel was killed: nobody else will stop this
            self.handle_exit(signal.SIGTERM, None)
            self.parent = 0
        waited = self.service.stopping and time.monotonic() - self.since > GRACE_SECONDS
        return done or waited or (self.service.stopping and not self.service.active)


@contextmanager
def exported_folder(folder: Path, say: Say) -> Iterator[Path]:
    """A folder that `bertedu export` wrote, as it is; of any other model an export that lives as long as the block."""
    if is_exported(folder):
        yield folder
        return
    from bertedu.production.onnx_export import export

    with tempfile.TemporaryDirectory(prefix="bertedu-serve-") as temporary:
        say(f"{folder} is not exported yet: exporting it for this time (bertedu export {quoted(folder)} keeps it)")
        export(folder, Path(temporary) / folder.resolve().name)
        yield Path(temporary) / folder.resolve().name


def open_service(folder: Path, settings: Settings, threads: int, say: Say) -> Service:
    """The service of a folder. Raises UserError for a folder that holds no model that can be served."""
    with exported_folder(folder, say) as found:
        return Service(Engine(found, threads), settings, Reference.load(found))


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises UserError for an address that is taken, forbidden or not of this machine."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        for name, size in SYSTEM_BUFFERS.items():
            listening.setsockopt(socket.SOL_SOCKET, name, size)  # its connections have them, too
    except (OSError, UnicodeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(
            f"cannot listen on {host}, port {port} ({why}): choose another --port (0 for a free one) or --host."
        ) from error
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def url_of(listening: socket.socket) -> str:
    """The address to ask."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def config_of(service: Service) -> uvicorn.Config:
    """How uvicorn runs a service."""
    return uvicorn.Config(
        create_app(service),
        http=partial(GuardedProtocol, Crowd(service.counts, most_connections())),  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2,
    )


def run(service: Service, listening: socket.socket) -> bool:
    """Serve until a signal comes, then end as said above. Returns whether all that had begun was finished."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its lines name connections, and quote failures
    try:
        with nothing_to_search():
            Stopping(config_of(service), service).run([listening])
        return service.active == 0
    finally:
        service.close()


@contextmanager
def nothing_to_search() -> Iterator[None]:
    """Keep what lives as long as the process out of garbage collection.

    A full collection visits every object of every module that was imported: a fifth of a second, in which nobody is
    answered. It was a sixth of the throughput and most of p99.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def log_to_stderr() -> None:
    """Write the service's lines, one JSON object each, to standard error; of other loggers the level and the name."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter('{"time": "%(asctime)s", "line": %(message)s}'))
    ours = logging.getLogger("bertedu.service")
    ours.handlers, ours.propagate = [handler], False
    ours.setLevel(logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
