"""Dynamic batching: nothing is lost, mixed up or answered late, and lengths that differ do not share a batch."""

import asyncio
import threading
import time

import pytest

from bertedu.production.batching import Batcher, Batching, Job, cut
from bertedu.production.protocol import Asked, Refusal


def prepare(asked: Asked) -> str:
    if asked.text == "bad":
        raise ValueError("bad")
    return asked.text


def run(scenario, answer=lambda batch: [text.upper() for text in batch], **options):
    """Run a scenario with a batcher; returns what it returns and the batches that were computed."""
    batches: list[list[str]] = []

    def noted(batch):
        batches.append(list(batch))
        return answer(batch)

    async def whole():
        batcher = Batcher(prepare, noted, Batching(**{"wait": 0.0, **options}))
        try:
            return await asyncio.wait_for(scenario(batcher), timeout=20)
        finally:
            batcher.close()

    return asyncio.run(whole()), batches


async def outcomes(batcher: Batcher, texts: list[str]) -> list:
    return await asyncio.gather(*batcher.submit([Asked(text) for text in texts]), return_exceptions=True)


def held():
    """A gate, what says that a batch has come to it, and an answer that waits there."""
    gate, running = threading.Event(), threading.Event()

    def slow(batch):
        running.set()
        gate.wait(10)
        return batch

    return gate, running, slow


async def begun(running: threading.Event) -> None:
    while not running.is_set():
        await asyncio.sleep(0.001)


def test_an_answer_goes_to_its_own_text():
    texts = ["a" * (1 + 37 * number % 50) for number in range(200)]
    found, batches = run(lambda batcher: outcomes(batcher, texts), most_rows=8)
    assert found == [text.upper() for text in texts]
    assert sorted(text for batch in batches for text in batch) == sorted(texts) and max(map(len, batches)) <= 8


def test_texts_that_come_together_are_computed_together():
    async def later(batcher, seconds):
        await asyncio.sleep(seconds)
        return await outcomes(batcher, ["abc"])

    async def scenario(batcher):
        return await asyncio.gather(*(later(batcher, number / 100) for number in range(20)))

    _, batches = run(scenario, wait=10.0, most_rows=20)
    assert [len(batch) for batch in batches] == [20]


def test_a_lonely_text_waits_only_a_little():
    async def scenario(batcher):
        begun = time.monotonic()
        await outcomes(batcher, ["abc"])
        return time.monotonic() - begun

    seconds, _ = run(scenario, wait=0.05, most_rows=20)
    assert 0.045 < seconds < 10


def batches_of(lengths: list[int], **options) -> list[list[int]]:
    ready = [(Job(Asked("a" * length), None, 0.0), "a" * length) for length in lengths]
    return [[len(question) for _, question in batch] for batch in cut(ready, Batching(**options))]


def test_short_texts_are_not_padded_to_a_long_one():
    assert batches_of([3, 90, 4, 3, 100, 4], tokens_of_a_batch=12) == [[3, 3, 4, 4], [90, 100]]
    assert batches_of([3, 5, 7], tokens_of_a_batch=12) == [[3, 5, 7]]
    assert batches_of([3, 3, 3, 3, 8], tokens_of_a_batch=12) == [[3] * 4, [8]]  # 4 times 5
    assert batches_of([3, 16], tokens_of_a_batch=12) == [[3], [16]]  # 13 tokens of padding cost more than a batch


def test_a_batch_keeps_to_the_memory_planned_for_it():
    assert batches_of([10] * 7, most_rows=3) == [[10] * 3, [10] * 3, [10]]
    assert batches_of([10] * 7, most_tokens=45) == [[10] * 4, [10] * 3]
    assert batches_of([100], most_tokens=45) == [[100]]  # one alone is always let through


def test_one_bad_text_leaves_its_neighbours_alone():
    found, _ = run(lambda batcher: outcomes(batcher, ["a", "bad", "b"]))
    assert found[::2] == ["A", "B"] and isinstance(found[1], ValueError)


def test_a_failing_batch_does_not_end_the_thread():
    def fails_once(batch):
        if "boom" in batch:
            raise RuntimeError("boom")
        return [text.upper() for text in batch]

    async def scenario(batcher):
        first = await outcomes(batcher, ["boom"])
        return [*first, *await outcomes(batcher, ["a"]), batcher.waiting]

    found, _ = run(scenario, fails_once)
    assert isinstance(found[0], RuntimeError) and found[1:] == ["A", 0]


def test_the_queue_is_bounded_and_shrinks():
    gate, _, slow = held()

    async def scenario(batcher):
        first = batcher.submit([Asked("a")] * 4)
        with pytest.raises(Refusal, match="4 texts are waiting") as refused:
            batcher.submit([Asked("b")] * 2)  # all or none
        gate.set()
        await asyncio.gather(*first)
        await outcomes(batcher, ["c"] * 5)
        return refused.value

    refusal, _ = run(scenario, slow, most_waiting=5)
    assert refusal.status == 503 and "Retry-After" in refusal.headers


def test_a_text_whose_answer_nobody_waits_for_is_not_computed():
    gate, running, slow = held()

    async def scenario(batcher):
        first = batcher.submit([Asked("a")])
        await begun(running)
        left = batcher.submit([Asked("left")])
        left[0].cancel()
        last = batcher.submit([Asked("b")])
        gate.set()
        await asyncio.gather(*first, *last)
        return batcher.waiting

    waiting, batches = run(scenario, slow)
    assert batches == [["a"], ["b"]] and waiting == 0


def test_a_closing_queue_finishes_what_it_has():
    gate, running, slow = held()

    async def scenario(batcher):
        futures = batcher.submit([Asked("a")])
        await begun(running)
        futures += batcher.submit([Asked("b")])
        closing = threading.Thread(target=batcher.close)
        closing.start()
        while not batcher.closed:
            await asyncio.sleep(0.001)
        with pytest.raises(Refusal, match="stopping"):
            batcher.submit([Asked("c")])
        gate.set()
        found = await asyncio.gather(*futures)
        await asyncio.to_thread(closing.join)
        return found

    assert run(scenario, slow)[0] == ["a", "b"]
