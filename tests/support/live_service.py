"""A service over real connections, in a thread of this process."""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bertedu.production.engine import Engine
from bertedu.production.running import Stopping, config_of, listen
from bertedu.production.service import Service, Settings

HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n", re.DOTALL)


@contextmanager
def live(folder: Path, loop: str = "asyncio", **settings) -> Iterator[tuple[int, Service]]:
    """A service of an exported folder: its port and itself."""
    service = Service(Engine(folder), Settings(**settings))
    config = config_of(service)
    config.loop = loop
    with listen("127.0.0.1", 0) as listening:
        server = Stopping(config, service)
        thread = threading.Thread(target=lambda: server.run([listening]), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listening.getsockname()[1], service
        finally:
            server.should_exit = server.force_exit = True
            thread.join(timeout=30)
            service.close()
    asyncio.set_event_loop(None)


def exchange(port: int, *sent: bytes, half: bool = False, seconds: float = 20.0) -> bytes:
    """Send the pieces, one after the other; what comes back until the service closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        for piece in sent:
            connection.sendall(piece)
            time.sleep(0.02 * (len(sent) > 1))
        if half:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        try:
            while piece := connection.recv(65_536):
                found += piece
        except ConnectionResetError:
            pass
        return found


def answers_in(found: bytes) -> list[tuple[int, bytes, dict]]:
    """The answers in what came back: status, headers, JSON."""
    answers = []
    while head := HEAD.match(found):
        size = int(re.search(rb"content-length: (\d+)", head[2], re.IGNORECASE)[1])
        body, found = found[head.end() : head.end() + size], found[head.end() + size :]
        answers.append((int(head[1]), head[2].lower(), json.loads(body)))
    assert not found, found[:200]
    return answers
