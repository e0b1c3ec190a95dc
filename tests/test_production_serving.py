"""`bertedu serve` as a process: started, loaded, attacked, stopped."""

import gc
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import httpx
import pytest
from support.hostile.requests import SECRET, attack

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.production import running
from bertedu.production.load import Measured, load, moments
from bertedu.production.running import is_loopback, listen
from bertedu.production.serving import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(classifier):
    with serving(classifier / "exported") as served:
        yield served


def port_of(served) -> int:
    return int(served.url.rpartition(":")[2])


def test_a_load_counts_real_answers_alone(served):
    measured = load(served.url, ["the cat", "a dog"], 60, clients=4)
    assert measured.statuses == {200: 60} and len(measured.milliseconds) == 60 and measured.per_second > 0
    mixed = load(served.url, ["the cat", "the " * 50], 20, clients=2, per_second=500.0)
    assert mixed.statuses == {200: 10, 422: 10} and len(mixed.milliseconds) == 10
    assert mixed.per_second < 20 / mixed.seconds and "10 × 422" in str(mixed)
    with pytest.raises(UserError, match="nothing answers"):
        load("http://127.0.0.1:9", ["a"], 1)


def test_requests_of_an_open_loop_do_not_wait_for_each_other():
    due = moments(20_000, 100.0, 0)
    assert due == sorted(due) and abs(due[-1] / 200 - 1) < 0.03  # 20,000 at 100 a second
    assert moments(10, None, 0) == []


def test_a_service_that_stood_still_shows_many_slow_requests():
    class Still(threading.Thread):
        """Answers one connection, and begins only after a second."""

        def run(self) -> None:
            time.sleep(1.0)
            connection, _ = listening.accept()
            probe = connection  # the first connection is that of the check whether anybody is there
            connection, _ = listening.accept()
            while connection.recv(65_536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            probe.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Still(daemon=True).start()
        measured = load(f"http://127.0.0.1:{listening.getsockname()[1]}", ["a"], 100, clients=1, per_second=100.0)
    assert measured.statuses == {200: 100} and measured.p50_ms > 300  # by the clients' clocks: all but one were quick


def test_refusals_are_not_timed_as_answers():
    """Every second request is refused at once, the others take a tenth of a second."""

    class Refusing(threading.Thread):
        """Answers one connection after the other, and refuses in turns."""

        def run(self) -> None:
            listening.accept()  # that of the check whether anybody is there
            connection, _ = listening.accept()
            for number in range(20):
                connection.recv(65_536)
                time.sleep(0.1 * (number % 2))
                status = b"200 OK" if number % 2 else b"503 Service Unavailable"
                connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Refusing(daemon=True).start()
        measured = load(f"http://127.0.0.1:{listening.getsockname()[1]}", ["a"], 20, clients=1)
    assert measured.statuses == {503: 10, 200: 10} and len(measured.milliseconds) == 10
    assert measured.quantile_ms(0.0) > 90, "a refusal was timed as an answer"


def test_every_measure_has_its_scale():
    measured = Measured(4, 2.0, {200: 3, 503: 1}, [10.0, 20.0, 30.0])
    assert (measured.per_second, measured.p50_ms) == (1.5, 20.0) and measured.p99_ms == pytest.approx(29.8)


def test_an_attack_does_not_bring_the_service_down(served):
    before = httpx.get(f"{served.url}/metrics").json()
    found: list[str] = []

    def attacker(first: int) -> None:
        found.extend(attack(number, port_of(served)) for number in range(first, 300, 6))

    threads = [threading.Thread(target=attacker, args=[first]) for first in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [said for said in found if said] == [] and len(found) == 300
    after = httpx.get(f"{served.url}/metrics").json()
    assert after["memory_mb"] - before["memory_mb"] < 100 and after["queue"]["waiting"] == 0
    assert "500" not in after["by_status"] and served.process.poll() is None
    log = served.log.read_text(encoding="utf-8", errors="replace")
    assert SECRET not in log.lower() and "failure" not in log
    assert all(line.startswith("{") for line in log.splitlines()), "somebody else writes to the log"


def test_a_connection_that_says_nothing_is_closed(served):
    address = ("127.0.0.1", port_of(served))
    with socket.create_connection(address, timeout=60) as silent, socket.create_connection(address, timeout=60) as slow:
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        assert silent.makefile("rb").read() == b""
        assert slow.makefile("rb").read().startswith(b"HTTP/1.1 408 ")


def begun(served) -> http.client.HTTPConnection:
    """A request that has begun: its headers and half of its body are there."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(served), timeout=30)
    body = b'{"text": "the cat"}'
    connection.putrequest("POST", "/answer")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:5])
    while httpx.get(f"{served.url}/metrics").json()["active"] < 2:  # it, and the one that asks
        time.sleep(0.05)
    return connection


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_finishes_what_has_begun(classifier, sent):
    with serving(classifier / "exported") as served:
        one = begun(served)
        served.process.send_signal(sent)
        while httpx.get(f"{served.url}/health").json()["status"] == "ok":
            time.sleep(0.05)
        refused = httpx.post(f"{served.url}/answer", json={"text": "a dog"})
        assert refused.status_code == 503 and "retry-after" in refused.headers
        one.send(b'{"text": "the cat"}'[5:])
        answer = one.getresponse()
        assert answer.status == 200 and json.loads(answer.read())["answers"]
        assert served.process.wait(timeout=30) == 0
        said, _ = served.process.communicate()
        assert "all that had begun was finished" in said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_kill_leaves_nothing_that_the_next_start_stumbles_over(classifier, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(classifier / "saved") as served:  # a fine-tuned folder: it is exported on the way
        assert httpx.post(f"{served.url}/answer", json={"text": "the cat"}).status_code == 200
        assert not list(tmp_path.glob("bertedu-serve-*")), "the export is read and then in the way"
        port = port_of(served)
        served.process.kill()
        served.process.wait()
    with serving(classifier / "exported", "--port", str(port)) as served:
        assert port_of(served) == port and httpx.get(f"{served.url}/health").json()["status"] == "ok"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no track of parents")
def test_a_service_ends_with_the_notebook_that_started_it(classifier):
    program = "import sys, time; from bertedu.production.serving import serving\n"
    program += "with serving(sys.argv[1]) as served: print(served.url, flush=True); time.sleep(300)"
    notebook = subprocess.Popen(
        [sys.executable, "-c", program, str(classifier / "exported")], stdout=subprocess.PIPE, text=True
    )
    url = notebook.stdout.readline().strip()
    assert httpx.get(f"{url}/health").status_code == 200
    notebook.kill()
    notebook.communicate()
    for _ in range(300):
        try:
            httpx.get(f"{url}/health")
        except httpx.TransportError:
            return
        time.sleep(0.1)
    pytest.fail("it still answers")


def test_a_folder_that_cannot_be_served_is_refused_in_words(tmp_path, capsys):
    with pytest.raises(UserError, match=r"did not start: .*nothing.* does not exist"), serving(tmp_path / "nothing"):
        pass
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main.run(["serve", str(tmp_path), "--port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err
    for host in ("203.0.113.1", "a" * 70, "\x00"):
        with pytest.raises(UserError, match="cannot listen"):
            listen(host, 0)


def test_another_host_is_said_aloud(classifier):
    command = [
        sys.executable,
        "-m",
        "bertedu",
        "serve",
        str(classifier / "exported"),
        "--port",
        "0",
        "--host",
        "0.0.0.0",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    first, second = process.stdout.readline(), process.stdout.readline()
    process.terminate()
    process.communicate()
    assert first.startswith("! 0.0.0.0 is not this machine alone") and "http://0.0.0.0:" in second
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost", "0.0.0.0", "::", "a.b")] == [
        *[True] * 4, *[False] * 3
    ]  # fmt: skip


def test_collections_of_garbage_pass_over_what_was_imported_while_clients_wait(monkeypatch):
    kept = []

    class Server:
        def __init__(self, config, service):
            pass

        def run(self, sockets):
            kept.append(gc.get_freeze_count())

    monkeypatch.setattr(running, "Stopping", Server)
    monkeypatch.setattr(running, "config_of", lambda service: None)
    with listen("127.0.0.1", 0) as listening:
        assert running.run(SimpleNamespace(active=0, close=lambda: None), listening)
    assert kept[0] > 50_000  # torch and FastAPI alone are more
    assert gc.get_freeze_count() == 0
