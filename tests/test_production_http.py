"""What the service does with connections that are malformed, slow, silent or half open: over real sockets."""

import importlib.util
import json
import random
import socket
import time

import h11
import pytest
from support.hostile.siege import CHUNKED, GET, HOST, TEXT, post
from support.live_service import answers_in, exchange, live

from bertedu.production import crowd, guarding
from bertedu.production.app import in_origin_form
from bertedu.production.bounds import PIECE, PIECES_OF_A_TURN, BoundedConnection
from bertedu.production.crowd import BODY, HEAD, IDLE, LEAVING, READER
from bertedu.production.protocol import Limits

LOOPS = ["asyncio", *(["uvloop"] if importlib.util.find_spec("uvloop") else [])]
LAST = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture(scope="module", params=LOOPS)
def service(request, classifier):
    with live(classifier / "exported", request.param) as (port, service):
        yield port, service


@pytest.fixture
def port(service):
    return service[0]


MALFORMED = [  # bytes, status, words
    (b"GET /a b HTTP/1.1\r\n\r\n", 400, "illegal request line"),
    (b"GET / HTTP/1.1\r\n\r\n", 400, "missing mandatory host"),
    (b"GET / HTTP/1.1\r\n" + HOST * 2 + b"\r\n", 400, "multiple host"),
    (b"GET / HTTP/1.1\r\nX : a\r\n\r\n", 400, "illegal header line"),
    (b"GET / HTTP/1.1\r\nX: \0\r\n\r\n", 400, "illegal header line"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "HTTPS"),
    (b"\0\0\0\0\r\n\r\n", 400, "illegal request line"),
    (b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n", 400, "illegal request line"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400, "bad content-length"),
    (b"POST /answer HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400, "conflicting"),
    (CHUNKED[:-2] + b"Content-Length: 3\r\n\r\n", 400, "beside transfer-encoding"),
    (CHUNKED + b"zz\r\n", 400, "illegal chunk header"),
    (CHUNKED + b"1\r\n \r\n" * 5000, 413, "small pieces"),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "8,192 bytes"),
    (b"GET /" + b"a" * 90_000, 414, "8,192 bytes"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 101 + b"\r\n", 431, "100 headers"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 90_000, 431, "16,384 bytes"),
    (CHUNKED + b"0\r\n" + b"X: a\r\n" * 9000 + b"\r\n", 431, "100 headers"),
    (CHUNKED.replace(b"chunked", b"gzip"), 501, "chunked"),
    (b"GET / HTTP/9.9\r\n" + HOST + b"\r\n", 505, "HTTP/1.1"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/1.1"),
]


@pytest.mark.parametrize("sent, status, words", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_not_http_is_refused_in_the_services_own_json(service, sent, status, words):
    port, about = service
    before = about.counts.statuses[status]
    *earlier, (found, headers, said) = answers_in(exchange(port, sent))
    assert found == status and set(said) == {"error"} and words.lower() in said["error"].lower(), said
    assert b"application/json" in headers and b"connection: close" in headers
    assert said["error"].endswith(".") and ": " in said["error"] and "bytearray" not in said["error"]
    assert len(earlier) <= 1, "an answer to what came before the malformed part"
    assert about.counts.statuses[status] in (before, before + 1)  # a request that the application had begun is its own


def test_the_answer_is_heard_by_a_client_that_is_still_sending(port):
    for sent in (b"nonsense\r\n\r\n", post(b" " * 300_000), b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 200):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(sent)
            for _ in range(5):  # a closed socket would answer this with a reset, and the answer would be lost
                time.sleep(0.02)
                try:
                    connection.sendall(b"a" * 1000)
                except (ConnectionResetError, BrokenPipeError):
                    pytest.fail("the connection was reset before the answer was read")
            assert connection.recv(12).startswith(b"HTTP/1.1 4")


def test_a_pipeline_is_answered_in_order_also_where_its_client_then_sends_no_more(port):
    for half in (False, True):
        sent = GET + post(TEXT) + GET + post(b"{") + (GET if half else LAST)
        found = answers_in(exchange(port, sent, half=half))
        assert [status for status, _, _ in found] == [200, 200, 200, 400, 200], half
        assert "answers" in found[1][2] and found[4][2]["status"] == "ok"


def test_a_request_that_is_cut_off_is_told_so(port):
    for sent in (b"GET /health HTT", post(TEXT)[:-3], CHUNKED + b"5\r\nab", GET + b"GET /"):
        *earlier, (status, _, said) = answers_in(exchange(port, sent, half=True))
        assert status == 400 and "cut off" in said["error"] and [one[0] for one in earlier] == [200] * sent.count(GET)
    assert exchange(port, half=True) == b"", "who says nothing is told nothing"


def test_who_takes_too_long_is_told_so_and_closed(port, monkeypatch):
    monkeypatch.setattr(crowd, "SWEEP_SECONDS", 0.05)
    for phase in (HEAD, IDLE, BODY, READER, LEAVING):
        monkeypatch.setitem(crowd.SECONDS, phase, 0.3)
    for sent in (b"GET /health HTTP/1.1\r\n", post(TEXT)[:-3], post(TEXT).replace(b"/answer", b"/no")[:-3]):
        found = answers_in(exchange(port, sent))
        assert found[-1][0] in (404, 408), found
    assert answers_in(exchange(port, GET))[0][0] == 200  # closed after a while without another request
    assert exchange(port) == b""


def test_a_client_that_does_not_read_is_answered_a_few_times_and_ended(service, monkeypatch):
    port, about = service
    monkeypatch.setattr(crowd, "SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(crowd, "PIPELINE_SECONDS", 0.0)
    monkeypatch.setitem(crowd.SECONDS, READER, 0.5)
    before = about.counts.statuses[200]
    with socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.settimeout(20)
        greedy.connect(("127.0.0.1", port))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while True:
                greedy.sendall(GET * 50)
    assert about.counts.statuses[200] - before < 1000
    assert answers_in(exchange(port, LAST))[0][0] == 200


def test_the_idlest_make_room_for_the_newcomer(classifier, monkeypatch):
    monkeypatch.setattr(crowd, "MOST_CONNECTIONS", 32)
    with live(classifier / "exported") as (port, _):
        held = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
        for _ in range(5):
            assert answers_in(exchange(port, LAST))[0][0] == 200
        assert ended(held[0]) and not ended(held[-1])
        for one in held:
            one.close()


def ended(connection: socket.socket) -> bool:
    """Whether the service has ended a connection on which nothing was said."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_what_is_left_over_of_a_pipeline_waits_without_a_spinning_loop(service):
    """While a client does not read, the loop has nothing to do."""
    port, about = service
    with socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.connect(("127.0.0.1", port))
        greedy.setblocking(False)
        try:
            while True:
                greedy.send(GET * 50)
        except BlockingIOError:
            pass
        counts = []
        for _ in range(2):
            counts.append(about.counts.statuses[200])
            time.sleep(0.4)
        assert counts[1] - counts[0] <= 0.4 / crowd.PIPELINE_SECONDS + 2


def fragments(rng: random.Random) -> bytes:
    """Bytes that are nearly HTTP: requests cut, joined, and damaged."""
    parts = [
        GET,
        LAST,
        post(TEXT),
        post(b"{"),
        CHUNKED,
        b"5\r\nabcde\r\n",
        b"0\r\n\r\n",
        b"\r\n",
        rng.randbytes(20),
        HOST,
    ]
    found = bytearray(b"".join(rng.choices(parts, k=rng.randint(1, 6))))
    for _ in range(rng.choice((0, 0, 1, 5))):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found[: rng.choice((len(found), rng.randint(1, len(found))))])


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_fragments_and_half_open_connections_leave_the_service_whole(service, seed, caplog):
    port, about = service
    rng = random.Random(seed)
    open_ones = []
    for _ in range(40):
        sent = fragments(rng)
        cuts = sorted(rng.sample(range(len(sent) + 1), k=min(len(sent), rng.randint(0, 3))))
        pieces = [sent[start:end] for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
        connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:
                break
        if rng.random() < 0.5:
            try:
                connection.shutdown(socket.SHUT_WR)
                found = b""
                while piece := connection.recv(65_536):
                    found += piece
                for status, _, said in answers_in(found):
                    assert status in (200, 400, 403, 404, 405, 408, 413, 414, 421, 422, 431, 501, 503, 505)
                    assert status == 200 or (set(said) == {"error"} and "Traceback" not in said["error"])
            except (ConnectionResetError, OSError):
                pass
        open_ones.append(connection)
        assert answers_in(exchange(port, LAST))[0][2]["status"] == "ok"
    answer = answers_in(exchange(port, post(TEXT).replace(HOST, HOST + b"Connection: close\r\n")))
    assert answer[0][0] == 200 and answer[0][2]["answers"]
    for one in open_ones:
        one.close()
    assert about.counts.statuses[500] == 0
    end = time.monotonic() + 10
    while about.active and time.monotonic() < end:
        time.sleep(0.05)
    assert about.active == 0, "a request was never brought to an end"


@pytest.mark.parametrize(
    "more, status",
    [
        (b"", 200),
        (b"Origin: http://127.0.0.1\r\n", 200),
        (b"Origin: http://127.0.0.1:9\r\n", 403),
        (b"Origin: https://evil.example\r\n", 403),
        (b"Origin: null\r\n", 403),
        (b"Origin: http://127.0.0.1.evil.example\r\n", 403),
        (b"Origin: http://evil.example\r\nOrigin: http://127.0.0.1\r\n", 403),
        (b"Sec-Fetch-Site: same-origin\r\nOrigin: null\r\n", 200),
        (b"Sec-Fetch-Site: none\r\n", 200),
        (b"Sec-Fetch-Site: same-site\r\n", 403),
        (b"Sec-Fetch-Site: cross-site\r\nOrigin: http://127.0.0.1\r\n", 403),
    ],
)
def test_a_page_of_another_site_may_not_ask(port, more, status):
    form = post(b"text=the+cat").replace(b"/answer", b"/")
    for request in (post(TEXT), form):
        sent = request.replace(HOST, HOST + b"Connection: close\r\n" + more)
        found = exchange(port, sent)
        assert found.startswith(b"HTTP/1.1 %d " % status), found[:200]
        assert status == 200 or json.loads(found.partition(b"\r\n\r\n")[2])["error"].startswith(
            "a page of another site"
        )
    assert answers_in(exchange(port, LAST.replace(HOST, HOST + more)))[0][0] == 200, "a link may be followed"


def test_the_room_is_what_the_system_leaves(monkeypatch):
    resource = pytest.importorskip("resource")
    for soft, most in ((256, 192), (20_000, 512), (resource.RLIM_INFINITY, 512), (10, 8)):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, soft=soft: (soft, soft))
        assert crowd.most_connections() == most


def test_a_newcomer_is_told_to_come_again_where_every_connection_is_owed_an_answer(classifier, monkeypatch):
    monkeypatch.setattr(crowd, "MOST_CONNECTIONS", 8)
    monkeypatch.setattr(guarding.GuardedProtocol, "waits_for", "")
    with live(classifier / "exported") as (port, _):
        held = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(8)]
        status, headers, said = answers_in(exchange(port, LAST))[0]
        assert status == 503 and b"retry-after" in headers and "too many" in said["error"]
        for one in held:
            one.close()


def test_a_question_whether_something_is_there_is_answered_without_a_body(port):
    for address in ("/", "/health", "/metrics"):
        asked = exchange(port, LAST.replace(b"GET /health", b"HEAD " + address.encode()))
        assert asked.startswith(b"HTTP/1.1 200 ") and asked.endswith(b"\r\n\r\n") and b"content-length: " in asked


@pytest.mark.parametrize(
    "address, methods", [("/", b"get, head, post"), ("/answer", b"post"), ("/health", b"get, head")]
)
def test_another_method_is_refused_with_those_that_there_are(address, methods, port):
    asked = LAST.replace(b"GET /health", b"PUT " + address.encode())
    ((status, head, _),) = answers_in(exchange(port, asked))
    assert status == 405 and b"allow: " + methods in head


def test_a_request_may_name_the_whole_address_and_its_host_counts(port):
    whole = (
        post(TEXT)
        .replace(b"/answer", b"http://127.0.0.1:80/answer")
        .replace(b"Content", b"Connection: close\r\nContent")
    )
    assert answers_in(exchange(port, whole))[0][0] == 200
    scope = {"path": "http://evil.example/answer", "headers": [(b"host", b"127.0.0.1"), (b"x", b"y")]}
    in_origin_form(scope)
    assert scope == {"path": "/answer", "headers": [(b"host", b"evil.example"), (b"x", b"y")]}


def test_empty_lines_before_a_request_are_passed_over(port):
    assert answers_in(exchange(port, b"\r\n\n" + LAST))[0][0] == 200


def test_a_body_with_a_byte_order_mark_is_read_and_an_empty_one_called_so(port):
    for body, status in ((b"\xef\xbb\xbf" + TEXT, 200), (b"", 400), (b" \r\n", 400)):
        sent = post(body).replace(b"Content", b"Connection: close\r\nContent")
        ((found, _, said),) = answers_in(exchange(port, sent))
        assert found == status and (status == 200 or said["error"].startswith("the body is empty: send"))


@pytest.mark.parametrize("pieces", [1, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_takes_several_turns_is_read_to_its_end(pieces, chunked, port):
    size = PIECE if not chunked else 1000
    body = TEXT + b" " * (pieces * size - len(TEXT))
    if chunked:
        sent = b"".join(b"%x\r\n%s\r\n" % (size, body[at : at + size]) for at in range(0, len(body), size))
        sent = CHUNKED[:-2] + b"Connection: close\r\n\r\n" + sent + b"0\r\n\r\n"
    else:
        sent = post(body).replace(b"Content", b"Connection: close\r\nContent")
    ((status, _, _),) = answers_in(exchange(port, sent))
    assert status == (200 if len(body) <= Limits().body_bytes else 413)


def test_a_body_in_tiny_pieces_is_parsed_a_few_at_a_time():
    """From hundreds of connections at once, all pieces of each would hold up for seconds whoever comes after them."""
    connection = BoundedConnection()
    connection.receive_data(CHUNKED + b"1\r\n \r\n" * 100)
    events = []
    while (event := connection.next_event()) is not h11.NEED_DATA:
        events.append(type(event))
    assert events == [h11.Request, *[h11.Data] * PIECES_OF_A_TURN] and connection.has_more


def test_a_body_in_tiny_pieces_to_no_address_is_refused_for_one_of_both(port):
    """The pieces are parsed a few a turn, so the answer that there is nothing may come before the last of them."""
    sent = CHUNKED.replace(b"/answer", b"/no") + b"1\r\n \r\n" * 5000
    (status, _, said), *_ = answers_in(exchange(port, sent))
    assert status in (404, 413) and set(said) == {"error"}


def test_empty_lines_before_a_request_are_not_the_end_of_the_connection():
    connection = BoundedConnection()
    for _ in range(2):
        connection.receive_data(b"\r\n\r\n")
        assert connection.next_event() is h11.NEED_DATA and connection.their_state is h11.IDLE
    connection.receive_data(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
    assert isinstance(connection.next_event(), h11.Request)
