"""One connection, guarded: bounded in what it may send, how long it may take, and what it costs the others.

uvicorn waits for ever for a head, a body, or a client that reads its answer; refuses what it cannot read in plain text;
and closes at once, so that a client that is still sending never hears why.
"""

import asyncio
import json
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from bertedu.extras import needs_extra
from bertedu.production.bounds import PIECES_OF_A_TURN, BoundedConnection
from bertedu.production.crowd import BODY, HEAD, IDLE, LEAVING, LINE, READER, SECONDS, Crowd
from bertedu.production.protocol import Refusal

with needs_extra("production"):
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_UNREAD = 65_536  # bytes that wait to be parsed; beyond them no more are read
MOST_DROPPED = 262_144  # bytes that are read on to let a client hear why it gets no answer
UNSENT_BYTES = 4_096  # of answers; beyond them a client has to read before it is answered again
CROWDED = Refusal(503, "too many requests at once: try again in a second.")
CUT_OFF = Refusal(400, "the request was cut off before its end: send all of it.")
SLOW = Refusal(408, f"the request was not there after {SECONDS[HEAD]:g} seconds: send it at once, in one piece.")


class LingeringTransport:
    """A transport whose `close` first says that no more comes, and drops what the client is still sending.

    A socket that is closed while something is unread tells its client so with a reset, which makes it lose the answer.
    """

    def __init__(self, transport: asyncio.Transport):
        self.transport, self.leaving = transport, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Send, unless it is over."""
        if data and not self.leaving:
            self.transport.write(data)

    def is_closing(self) -> bool:
        """Whether it is over."""
        return self.leaving or self.transport.is_closing()

    def close(self) -> None:
        """Send what is left, then that no more comes."""
        if self.is_closing():
            return
        self.leaving = True
        with suppress(OSError, RuntimeError):  # the client is gone
            self.transport.resume_reading()
            self.transport.write_eof()


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol, within the bounds of `bounds` and one of a `crowd`."""

    conn: BoundedConnection

    def __init__(self, crowd: Crowd, **given: Any):
        super().__init__(**given)
        self.crowd = crowd
        self.conn = BoundedConnection()
        self.since = time.monotonic()
        self.pipelined = self.ended = False
        self.dropped = 0

    @property
    def host(self) -> str:
        """The address of the client."""
        return self.client[0] if self.client else ""

    @property
    def at_work(self) -> bool:
        """Whether a request has begun and has no answer yet."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_long(self) -> bool:
        """Whether its request has taken more pieces than are parsed in a turn."""
        return self.conn.pieces >= PIECES_OF_A_TURN

    @property
    def waits_for(self) -> str:
        """What it needs from its client; "" while the service is at work for it."""
        if self.transport.get_write_buffer_size():
            return READER
        if self.transport.is_closing():
            return LEAVING
        if self.conn.their_state is h11.SEND_BODY:
            return BODY
        if self.at_work:
            return ""
        if self.pipelined:
            return LINE
        return IDLE if self.cycle is not None and not self.conn.has_more else HEAD

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or say that there are too many."""
        transport.set_write_buffer_limits(UNSENT_BYTES)
        super().connection_made(LingeringTransport(transport))  # type: ignore[arg-type]
        if not self.crowd.enter(self):
            self.crowd.refused(CROWDED.status)
            transport.write(in_bytes(CROWDED))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.crowd.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came, or drop it where the end has begun."""
        if not self.transport.is_closing():
            super().data_received(data)
            return
        self.dropped += len(data)
        if self.dropped > MOST_DROPPED:
            self.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends no more. What it has asked is answered before the connection is closed."""
        self.ended = True
        self.end_what_cannot_go_on()
        return not self.transport.is_closing()

    def end_what_cannot_go_on(self) -> None:
        """Close the connection of a client that sends no more, once nothing of what it sent is left to be answered."""
        if not self.ended or self.pipelined or self.crowd.is_unparsed(self) or self.transport.is_closing():
            return
        if self.conn.their_state is h11.SEND_BODY or (not self.at_work and self.conn.has_more):
            self.refuse(CUT_OFF)
        elif not self.at_work:
            self.transport.close()

    def handle_events(self) -> None:
        """Parse what came when it is this connection's turn, a pipeline's when it is that in the line."""
        if self.pipelined:
            self.flow.pause_reading()
            self.crowd.wait_in_line(self)
        elif self.conn.has_more:
            if len(self.conn.unread) > MOST_UNREAD:
                self.flow.pause_reading()
            self.crowd.take_turn(self)

    def parse(self) -> None:
        """Parse what came, as much as one turn may. Begins a request, or gives it more of its body."""
        if self.transport.is_closing():
            return
        before, much = self.cycle, len(self.conn.unread) > MOST_UNREAD
        self.conn.left = PIECES_OF_A_TURN
        super().handle_events()
        if much and len(self.conn.unread) <= MOST_UNREAD:
            self.flow.resume_reading()
        if self.conn.left <= 0 and not self.transport.is_closing():
            self.crowd.take_turn(self)
        if self.cycle is not before:
            self.since = time.monotonic()
        self.end_what_cannot_go_on()

    def go_on(self) -> None:
        """Begin the next request of a pipeline, once the answers before it are read."""
        if self.transport.is_closing() or self.flow.write_paused:
            return
        self.pipelined = False
        self.flow.resume_reading()
        self.parse()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        self.since = time.monotonic()
        self.pipelined = self.conn.has_more
        super().on_response_complete()
        self.end_what_cannot_go_on()

    def pause_writing(self) -> None:
        """The client does not read."""
        self.since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        if self.pipelined:
            self.crowd.wait_in_line(self)

    def late(self) -> None:
        """End a connection that has taken too long: with a word, where its client may hear it."""
        phase = self.waits_for
        if phase in (READER, LEAVING):
            self.abort()
        elif phase == BODY or (phase == HEAD and self.conn.has_more):
            self.refuse(SLOW)
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Say why a request cannot be read. uvicorn calls this for whatever its parser raises."""
        self.refuse(self.conn.refusal)

    def refuse(self, refusal: Refusal) -> None:
        """Say in JSON why there is no answer, unless one has begun, and end the connection."""
        if not self.transport.is_closing() and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(in_bytes(refusal))
        if not self.at_work:
            self.crowd.refused(refusal.status)
        else:  # the application counts it, as one whose client has left
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.since = time.monotonic()
        self.transport.close()

    def abort(self) -> None:
        """End the connection without a word."""
        self.transport.abort()

    def shutdown(self) -> None:
        """The service stops: end what is idle."""
        if self.at_work:
            self.cycle.keep_alive = False
        else:
            self.transport.close()


def in_bytes(refusal: Refusal) -> bytes:
    """A refusal as the whole answer to a request."""
    body = json.dumps({"error": str(refusal)}).encode()
    phrase = HTTPStatus(refusal.status).phrase
    again = "Retry-After: 1\r\n" if refusal.status == 503 else ""
    head = f"HTTP/1.1 {refusal.status} {phrase}\r\nContent-Type: application/json\r\n{again}Connection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
