"""Dynamic batching: what many clients ask at once is computed together.

A model needs hardly longer for eight short texts than for one. So a text waits for others, a few milliseconds at most;
while a batch is computed the next one gathers by itself. Texts of like length go into one batch, since the shorter are
padded to the longest. The queue is bounded: what does not fit is refused at once, which costs nothing, instead of being
answered when nobody waits for it any more.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bertedu.errors import UserError
from bertedu.production.protocol import Asked, Refusal

MOST_SECONDS = 60.0
Outcome = Any  # an answer, or the exception that stands for it


@dataclass(frozen=True)
class Batching:
    """How batches are made. most_tokens counts padding: so many rows times the longest. tokens_of_a_batch: running the
    graph once more costs about as much as computing so many tokens (measured: 1 ms, and 0.1 ms a token, for the
    checkpoint of the course).
    """

    most_rows: int = 32
    most_tokens: int = 4_096
    tokens_of_a_batch: int = 12
    wait: float = 0.002  # seconds that a text waits for others
    most_waiting: int = 512  # texts that are not answered yet

    def __post_init__(self) -> None:
        if not 0 <= self.wait <= MOST_SECONDS:  # neither is "not a number"
            raise UserError(f"a text cannot wait {self.wait:g} seconds for others: give 0 to {MOST_SECONDS:g}.")
        for name in ("most_rows", "most_tokens", "most_waiting"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}: give a whole number of at least 1.")


@dataclass(slots=True)
class Job:
    """One text on its way."""

    asked: Asked
    future: asyncio.Future
    since: float


class Batcher:
    """A queue, and one thread that empties it. prepare: a text to a question (it has a length) or an error; answer: a
    batch of questions to as many answers; seen: told of each batch (rows, tokens without padding, with padding).

    Futures belong to the event loop that runs where `submit` is called.
    """

    def __init__(
        self,
        prepare: Callable[[Asked], Any],
        answer: Callable[[list[Any]], Sequence[Any]],
        batching: Batching,
        seen: Callable[[int, int, int], None] = lambda rows, tokens, padded: None,
    ):
        self.prepare, self.answer, self.batching, self.seen = prepare, answer, batching, seen
        self.condition = threading.Condition()
        self.queue: list[Job] = []
        self.waiting = 0  # queued and in work
        self.closed = False
        self.thread = threading.Thread(target=self._work, name="batches", daemon=True)
        self.thread.start()

    def submit(self, several: Sequence[Asked]) -> list[asyncio.Future]:
        """Queue the texts of one request, all or none; a future for each. Raises Refusal (503) where there is no room.

        Cancel a future of which nobody waits for the answer: its text is then not computed.
        """
        loop, now = asyncio.get_running_loop(), time.monotonic()
        jobs = [Job(asked, loop.create_future(), now) for asked in several]
        with self.condition:
            if self.closed:
                raise Refusal(503, "the service is stopping: ask another, or try again later.")
            if self.waiting + len(jobs) > self.batching.most_waiting:
                raise Refusal(503, f"{self.waiting:,} texts are waiting already: try again in a second.")
            self.queue += jobs
            self.waiting += len(jobs)
            self.condition.notify()
        return [job.future for job in jobs]

    def longest_wait(self) -> float:
        """For how many seconds the oldest text waits that is not in work."""
        with self.condition:
            return time.monotonic() - self.queue[0].since if self.queue else 0.0

    def close(self) -> None:
        """Answer what is queued and end the thread."""
        with self.condition:
            self.closed = True
            self.condition.notify()
        self.thread.join()

    def _work(self) -> None:
        while jobs := self._take():
            ready = []
            for job in jobs:
                if job.future.cancelled():
                    self._deliver([(job, None)])
                    continue
                try:
                    ready.append((job, self.prepare(job.asked)))
                except Exception as error:  # too long, no mask: the client's; anything else is told as a failure
                    self._deliver([(job, error)])
            for batch in cut(ready, self.batching):
                self._compute(batch)

    def _take(self) -> list[Job]:
        """All that is queued, once there is enough of it or its first has waited; nothing when closed and empty."""
        with self.condition:
            while not self.queue and not self.closed:
                self.condition.wait()
            if self.queue:
                until = self.queue[0].since + self.batching.wait
                while len(self.queue) < self.batching.most_rows and not self.closed:
                    left = until - time.monotonic()
                    if left <= 0:
                        break
                    self.condition.wait(left)
            jobs, self.queue = self.queue, []
            return jobs

    def _compute(self, batch: list[tuple[Job, Any]]) -> None:
        jobs, questions = [job for job, _ in batch], [question for _, question in batch]
        longest = max(map(len, questions))
        self.seen(len(batch), sum(map(len, questions)), longest * len(batch))
        outcomes: Sequence[Outcome]
        try:
            outcomes = self.answer(questions)
        except Exception as error:  # whatever it is, the thread goes on and the clients are told
            outcomes = [error] * len(batch)
        self._deliver(list(zip(jobs, outcomes, strict=True)))

    def _deliver(self, outcomes: list[tuple[Job, Outcome]]) -> None:
        """Hand answers back to the event loop, all of a batch in one go."""
        with self.condition:
            self.waiting -= len(outcomes)
        loop = outcomes[0][0].future.get_loop()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, outcomes)


def settle(outcomes: list[tuple[Job, Outcome]]) -> None:
    """Set what the futures were waiting for."""
    for job, outcome in outcomes:
        if job.future.done():
            continue
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)


def cut(ready: list[tuple[Job, Any]], batching: Batching) -> list[list[tuple[Job, Any]]]:
    """Batches of like lengths, the shortest first, within the limits of rows and of tokens with padding.

    A longer text joins a batch if that pads the others by fewer tokens than a batch of its own costs.
    """
    batches: list[list[tuple[Job, Any]]] = []
    longest = 0
    for job, question in sorted(ready, key=lambda pair: len(pair[1])):
        rows, padding = 0, 0
        if batches:
            rows = len(batches[-1])
            padding = rows * (len(question) - longest)
        full = rows == batching.most_rows or (rows + 1) * len(question) > batching.most_tokens
        if not batches or full or padding > batching.tokens_of_a_batch:
            batches.append([])
        batches[-1].append((job, question))
        longest = len(question)
    return batches
