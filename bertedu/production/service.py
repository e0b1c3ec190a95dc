"""The service, without any HTTP: limits, cache, batches, counts and the drift monitor."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

import psutil

from bertedu.errors import UserError
from bertedu.production.answers import Answer
from bertedu.production.batching import Batcher, Batching
from bertedu.production.cache import Cache, Digests
from bertedu.production.counts import Counts
from bertedu.production.engine import Engine
from bertedu.production.monitor import Monitor, Reference
from bertedu.production.protocol import Asked, Limits, Refusal

SHOWN_DIGESTS = 3
DOUBT_SECONDS = 2.0  # that a text may wait before it is doubted that any is answered
PROBE_SECONDS = 1.0


@dataclass(frozen=True)
class Settings:
    """How a service is run. hosts: the names by which it may be asked (None: any), see `app.Guard`."""

    limits: Limits = field(default_factory=Limits)
    batching: Batching = field(default_factory=Batching)
    cached: int = 4_096  # answers; 0: none
    hosts: frozenset[str] | None = None


class Service:
    """An engine and what stands around it. Used from one event loop; `close` ends its thread."""

    def __init__(self, engine: Engine, settings: Settings = Settings(), reference: Reference | None = None):
        self.engine, self.settings, self.limits = engine, settings, settings.limits
        self.digests, self.cache, self.counts = Digests(), Cache(settings.cached), Counts()
        self.monitor = Monitor(engine.tokenizer.unk_token_id, reference)
        self.batcher = Batcher(self.prepare, engine.answer, settings.batching, self.counts.batch)
        self.stopping = self.failing = False  # failing: the last text that the model should have answered has no answer
        self.probing: asyncio.Task[None] | None = None
        self.active = 0  # requests that have begun and have no answer yet
        self.begun = time.monotonic()

    def prepare(self, asked: Asked) -> Any:
        """A text as a question, in the thread of the batches: a long one does not hold up the others' bodies."""
        return self.engine.ask(asked.text, asked.pair)

    async def answer(self, several: list[Asked], note: dict[str, Any]) -> list[bytes]:
        """The answers as JSON, in the order of the texts. note gets what may be logged: sizes and digests.

        Raises Refusal for a text that the model cannot answer (422), and where the queue is full or slow (503).
        """
        digests = [self.digests.of(asked) for asked in several]
        note |= {"texts": len(several), "characters": sum(map(len, several)), "digests": digests[:SHOWN_DIGESTS]}
        found = {digest: answer for digest in digests if (answer := self.cache.get(digest)) is not None}
        note["cached"] = sum(digest in found for digest in digests)
        missing = {digest: at for at, digest in enumerate(digests) if digest not in found}  # equal texts: one of them
        if missing:
            answers = await self.compute([several[at] for at in missing.values()])
            for (digest, at), outcome in zip(missing.items(), answers, strict=True):
                found[digest] = self.accept(digest, outcome, f"texts[{at}]: " if len(several) > 1 else "")
        self.counts.texts += len(several)
        self.counts.from_cache += note["cached"]
        return [found[digest] for digest in digests]

    async def compute(self, several: list[Asked]) -> list[Answer | BaseException]:
        """Answers, or what went wrong, from the batches. Raises Refusal (503) where that takes too long."""
        return await self.within(self.limits.answer_seconds, several)

    async def within(self, seconds: float, several: list[Asked]) -> list[Answer | BaseException]:
        """The same, within so many seconds."""
        futures = self.batcher.submit(several)
        _, late = await asyncio.wait(futures, timeout=seconds)
        for future in late:
            future.cancel()
        if late:
            self.failing = True
            said = f"there was no answer within {seconds:g} seconds"
            raise Refusal(503, f"{said}: try again later, or send fewer texts at once.")
        outcomes = [future.exception() or future.result() for future in futures]
        if worked := [not isinstance(one, BaseException) for one in outcomes if not isinstance(one, UserError)]:
            self.failing = not worked[-1]
        return outcomes

    async def examine(self) -> None:
        """Where it is in doubt whether texts are answered, find out: ask one. What `health` says then is true."""
        if not self.failing and self.batcher.longest_wait() < DOUBT_SECONDS:
            return
        if self.probing is None or self.probing.done():  # one for all who ask at the same time
            self.probing = asyncio.create_task(self.probe())
        await asyncio.shield(self.probing)

    async def probe(self) -> None:
        """Ask a text that any model of this use can answer."""
        try:
            await self.within(PROBE_SECONDS, [Asked(*self.engine.example())])
        except Refusal:
            self.failing = True

    def accept(self, digest: str, outcome: Answer | BaseException, place: str) -> bytes:
        """An answer written out and kept; a text that cannot be answered is refused (422), a failure raised."""
        if isinstance(outcome, Refusal):
            raise outcome
        if isinstance(outcome, UserError):
            raise Refusal(422, f"{place}{outcome}")
        if isinstance(outcome, BaseException):
            raise outcome
        self.monitor.add(outcome.pieces, outcome.confidence)
        written = json.dumps(outcome.value, ensure_ascii=False, allow_nan=False).encode()
        self.cache.put(digest, written)
        return written

    def health(self) -> dict[str, Any]:
        """Whether it answers, and what: model, use, labels, limits."""
        about = self.engine.about
        alive = self.batcher.thread.is_alive()
        return {
            "status": "stopping" if self.stopping else "ok" if alive and not self.failing else "failed",
            "model": about.source,
            "digest": about.digest[:16],
            "use": about.use,
            "labels": list(about.labels),
            "int8": about.int8,
            "most_tokens": about.max_tokens,
            "most_characters": self.limits.characters,
            "most_texts": self.limits.texts,
        }

    def metrics(self) -> dict[str, Any]:
        """Counts, times, requests under way (this one too), queue, cache, memory and drift."""
        return {
            "seconds": round(time.monotonic() - self.begun, 1),
            **self.counts.report(),
            "active": self.active,
            "queue": {"waiting": self.batcher.waiting, "most": self.settings.batching.most_waiting},
            "cache": {"answers": len(self.cache), "most": self.cache.most},
            "memory_mb": round(psutil.Process().memory_info().rss / 1e6, 1),
            "drift": self.monitor.report(),
        }

    def close(self) -> None:
        """Answer what is queued and end."""
        self.stopping = True
        self.batcher.close()
