"""A load generator: how many requests a second, and how long do they take?

Two ways to ask answer two questions. A closed loop (`clients` ask, wait, ask again) finds the most that a service can
do. An open loop (`per_second` requests, at random moments) finds what people experience: they do not wait for each
other. There the clock starts when a request was due, not when a client had time to send it; otherwise a service
that stands still for a second would show one slow request instead of a second's worth ("coordinated omission").
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlsplit

import numpy as np

from bertedu.errors import UserError

TIMEOUT = 60.0
NO_ANSWER = 0  # the status of a request whose connection broke
KEEP_ALIVE = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Measured:
    """What a load came to. p50_ms, p99_ms: the time within which half, and 99 in 100, of the answers came."""

    requests: int
    seconds: float
    statuses: dict[int, int]
    milliseconds: list[float] = field(repr=False)

    @property
    def per_second(self) -> float:
        """Answers (status 200) a second."""
        return self.statuses.get(200, 0) / self.seconds

    @property
    def p50_ms(self) -> float:
        """The median."""
        return self.quantile_ms(0.5)

    @property
    def p99_ms(self) -> float:
        """One in a hundred takes longer."""
        return self.quantile_ms(0.99)

    def quantile_ms(self, share: float) -> float:
        """The time within which this share of the answers came."""
        return float(np.quantile(self.milliseconds, share)) if self.milliseconds else float("nan")

    def __str__(self) -> str:
        others = "".join(
            f", {number} × {status or 'no answer'}" for status, number in self.statuses.items() if status != 200
        )
        return f"{self.per_second:,.0f} answers/s, p50 {self.p50_ms:.1f} ms, p99 {self.p99_ms:.1f} ms{others}"


def load(
    url: str,
    texts: Sequence[str],
    requests: int = 1000,
    clients: int = 16,
    per_second: float | None = None,
    seed: int = 0,
) -> Measured:
    """Ask a service for each text in turn, `requests` times in all, over `clients` connections.

    Raises UserError where nothing answers at the address.
    """
    if not texts or requests < 1 or clients < 1 or (per_second is not None and per_second <= 0):
        raise UserError(f"{requests} requests of {clients} clients with {len(texts)} texts: give at least 1 of each.")
    address = urlsplit(url)
    try:
        connect(address.netloc).connect()
    except OSError as error:
        raise UserError(
            f"nothing answers at {url} ({error.strerror or error}): start `bertedu serve` first."
        ) from error
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    due = moments(requests, per_second, seed)
    results: list[tuple[int, float]] = []
    numbers = count()
    begun = time.perf_counter()

    def client() -> None:
        connection = connect(address.netloc)
        while (number := next(numbers)) < requests:
            start = begun + due[number] if due else time.perf_counter()
            time.sleep(max(0.0, start - time.perf_counter()))
            status = ask(connection, bodies[number % len(bodies)])
            results.append((status, time.perf_counter() - start))
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(min(clients, requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    milliseconds = [1000 * taken for status, taken in results if status == 200]
    return Measured(len(results), seconds, dict(Counter(status for status, _ in results)), milliseconds)


def connect(netloc: str) -> http.client.HTTPConnection:
    """A connection that stays open from one request to the next."""
    return http.client.HTTPConnection(netloc, timeout=TIMEOUT)


def ask(connection: http.client.HTTPConnection, body: bytes) -> int:
    """Send one request and read its answer; returns its status, NO_ANSWER where the connection broke."""
    try:
        connection.request("POST", "/answer", body, KEEP_ALIVE)
        response = connection.getresponse()
        response.read()
        return response.status
    except (OSError, http.client.HTTPException):
        connection.close()  # the next request opens it anew
        return NO_ANSWER


def moments(requests: int, per_second: float | None, seed: int) -> list[float]:
    """When each request of an open loop is due, in seconds (a Poisson process); empty for a closed loop."""
    return list(arrivals(requests, per_second, random.Random(seed))) if per_second is not None else []


def arrivals(requests: int, per_second: float, rng: random.Random) -> Iterator[float]:
    """Times with exponential gaps between them."""
    now = 0.0
    for _ in range(requests):
        now += rng.expovariate(per_second)
        yield now
