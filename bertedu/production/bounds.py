"""What a client may make the parser of HTTP do, and what is said to one whose request cannot be read.

h11 bounds the bytes of a head that is not complete, and nothing else: a head of 9,000 lines takes it 9 ms, and a body
in chunks of one byte 4 ms for each thousand. From five hundred connections at once, that is seconds for all others.
"""

import re

from bertedu.extras import needs_extra
from bertedu.production.protocol import Refusal

with needs_extra("production"):
    import h11

MOST_HEAD = 16_384  # bytes of a request's first line and headers
MOST_ADDRESS = 8_192  # of them, bytes of the first line
MOST_LINES = 100
MOST_PIECES, BYTES_OF_A_PIECE = 128, 128  # a body may come in so many pieces, and one more for each so many bytes
MOST_BODY = 4_194_304  # bytes that are read and dropped where nobody wants the body: more than any limit of `protocol`
PIECE = 16_384  # bytes that are parsed at a time
PIECES_OF_A_TURN = 8  # of a body, before others are parsed: a third of a millisecond
TLS = b"\x16\x03"  # how a client begins that was told https
VERSIONS = (b"1.0", b"1.1")
BLANK_LINE = re.compile(rb"\n\r?\n")
SENTENCES = {
    400: "this is no request of HTTP/1.1 ({why}): ask with curl or a library for HTTP.",
    413: "the body comes in too many small pieces, or has no end: send it in one piece, with its Content-Length.",
    414: f"the address has more than {MOST_ADDRESS:,} bytes: send the text in the body, by POST /answer.",
    431: f"the request has more than {MOST_LINES} headers, or {MOST_HEAD:,} bytes of them: send fewer.",
    501: "of Transfer-Encoding only chunked is read: send the body as it is.",
    505: "this service speaks HTTP/1.1: ask it in that version.",
}


class Unreadable(h11.RemoteProtocolError):
    """A request that is legal, perhaps, and not read here."""

    def __init__(self, status: int, why: str = ""):
        super().__init__(why or str(status), error_status_hint=status)


class BoundedConnection(h11.Connection):
    """h11's parser of one connection, within these bounds. refusal: what is wrong, once `next_event` has raised;
    left: how many pieces of a body may still be parsed in this turn.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MOST_HEAD)
        self.unread = bytearray()
        self.pieces = self.size = 0
        self.left = PIECES_OF_A_TURN
        self.refusal = Refusal(400, SENTENCES[400].format(why="it cannot be read"))

    def receive_data(self, data: bytes) -> None:
        """Take what came; it is parsed piece by piece."""
        self.unread += data

    @property
    def has_more(self) -> bool:
        """Whether something came that is not parsed yet."""
        return bool(self.unread or self.trailing_data[0])

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """As h11's; at the end of a turn as if no more had come.

        Raises RemoteProtocolError for what cannot be read, and leaves the reason in `refusal`.
        """
        if self.left <= 0:
            return h11.NEED_DATA
        try:
            event = self.parsed()
            while event is h11.NEED_DATA and self.unread:
                if self.their_state is h11.IDLE and not self.trailing_data[0]:
                    self.unread = self.unread.lstrip(b"\r\n")  # RFC 9112, section 2.2
                    if not self.unread:
                        break  # to h11, no bytes at all are the end of the connection
                super().receive_data(bytes(self.unread[:PIECE]))
                del self.unread[:PIECE]
                event = self.parsed()
            self.check(event)
        except h11.RemoteProtocolError as error:
            self.refusal = refusal_of(error, self.trailing_data[0])
            raise
        return event

    def parsed(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event of what h11 has; a head is looked at before it is parsed."""
        if self.their_state is h11.IDLE and (head := self.trailing_data[0]):
            whole = BLANK_LINE.search(head)
            end = whole.start() if whole else len(head)
            if (head.find(b"\n", 0, end) < 0 and end > MOST_ADDRESS) or head.find(b"\n") > MOST_ADDRESS:
                raise Unreadable(414)
            if end > MOST_HEAD or head.count(b"\n", 0, end) > MOST_LINES:
                raise Unreadable(431)
        return super().next_event()

    def check(self, event: object) -> None:
        """Raise Unreadable for another version, a body with two lengths, and one in very many pieces."""
        if isinstance(event, h11.Request):
            self.pieces = self.size = 0
            if event.http_version not in VERSIONS:
                raise Unreadable(505)
            names = [name for name, _ in event.headers]
            if b"content-length" in names and b"transfer-encoding" in names:
                raise Unreadable(400, "Content-Length beside Transfer-Encoding")
        elif isinstance(event, h11.Data):
            self.pieces, self.size, self.left = self.pieces + 1, self.size + len(event.data), self.left - 1
            if self.size > MOST_BODY or self.pieces > MOST_PIECES + self.size // BYTES_OF_A_PIECE:
                raise Unreadable(413)


def refusal_of(error: h11.RemoteProtocolError, rest: bytes) -> Refusal:
    """What is said about a request that could not be read; nothing of the request is repeated."""
    status = error.error_status_hint if error.error_status_hint in SENTENCES else 400
    why = str(error).partition(": ")[0].lower()
    if status == 400 and rest.startswith(TLS):
        why = "it is HTTPS, and this service speaks HTTP alone"
    return Refusal(status, SENTENCES[status].format(why=why))
