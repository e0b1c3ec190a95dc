"""Measuring a model that answers: many texts at once, milliseconds, padding, a queue on paper, one request.

Shapes: N requests.
"""

import http.client
import json
import time
from collections.abc import Sequence, Sized
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from bertedu.errors import UserError
from bertedu.production.engine import Engine
from bertedu.production.questions import Question


def in_batches(items: Sequence, size: int = 32) -> list[Sequence]:
    """The items in their order, so many at a time."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def answers(engine: Engine, texts: Sequence[str]) -> list[dict[str, Any]]:
    """What an engine says about each text, in their order."""
    batches = in_batches([engine.ask(text) for text in texts])
    return [answer.value for batch in batches for answer in engine.answer(batch)]


def padding_share(batches: Sequence[Sequence[Sized]]) -> float:
    """The share of positions that are padding, where each batch is padded to its longest text."""
    padded = sum(len(batch) * max(map(len, batch)) for batch in batches)
    return 1 - sum(len(one) for batch in batches for one in batch) / padded


def milliseconds(engine: Engine, batches: Sequence[Sequence[Question]], times: int = 3) -> float:
    """The time for each text, the best of some tries: what disturbs a measurement only makes it longer."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        for batch in batches:
            engine.answer(batch)
        taken.append(time.perf_counter() - start)
    return 1000 * min(taken) / sum(map(len, batches))


def waiting_times(per_second: float, seconds: float, requests: int = 1_000_000, seed: int = 0) -> np.ndarray:
    """How long each request waits in the queue before one server, [N] in seconds. Arrivals are random, and so are
    service times, with a mean of `seconds`: the queue M/M/1.

    Lindley 1952: a wait is the one before it, plus that service, minus the gap, and never below 0.
    """
    if per_second * seconds >= 1:
        raise UserError(f"{per_second:g} requests a second of {seconds:g} s each: the queue grows without end.")
    rng = np.random.default_rng(seed)
    gaps, service = rng.exponential(1 / per_second, requests), rng.exponential(seconds, requests)
    grown = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    return grown - np.minimum.accumulate(grown)


def request(url: str, path: str = "/answer", body: bytes | str | None = None) -> tuple[int, Any]:
    """Ask a service once: the status and the JSON that came. With a body by POST, else by GET."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        method = "GET" if body is None else "POST"
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()
