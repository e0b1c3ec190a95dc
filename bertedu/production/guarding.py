"""Connections: how many at once, and how long one may take to say what it wants.

uvicorn bounds neither: a thousand connections that never send a whole request line would keep everybody else out.
"""

import asyncio

from bertedu.extras import needs_extra

with needs_extra("production"):
    from uvicorn.protocols.http.h11_impl import H11Protocol, h11

MOST_CONNECTIONS = 512
HEAD_SECONDS = 10.0  # from the first byte, or the last answer, to the end of the next request's headers
BODY = b'{"error": "too many connections: try again in a second."}'
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
)


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol with these two limits."""

    waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or say that there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(BUSY)
            transport.close()
            return
        self.watch()

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        super().data_received(data)
        self.watch()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self.watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.stop_waiting()
        super().connection_lost(exc)

    def watch(self) -> None:
        """Set the clock where a request's head is awaited, and stop it where one has come."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self.stop_waiting()
        elif self.waits is None:
            self.waits = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def stop_waiting(self) -> None:
        """Stop the clock."""
        if self.waits is not None:
            self.waits.cancel()
            self.waits = None
