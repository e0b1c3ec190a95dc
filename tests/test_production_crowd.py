"""Turns of parsing: whoever asks for little does not stand behind those whose requests never end."""

import asyncio
import time
from itertools import pairwise

import pytest

pytest.importorskip("h11")
from bertedu.production.counts import Counts
from bertedu.production.crowd import Crowd

WORK_SECONDS = 0.001  # of a turn


class Member:
    """A connection with so many turns to take; notes each in a list."""

    def __init__(self, crowd: Crowd, name: str, turns: int, is_long: bool, taken: list[str]):
        self.crowd, self.name, self.turns, self.is_long, self.taken = crowd, name, turns, is_long, taken

    def parse(self) -> None:
        time.sleep(WORK_SECONDS)
        self.turns -= 1
        self.taken.append(self.name)
        if self.turns:
            self.crowd.take_turn(self)


def turns_taken(asked: list[tuple[str, int, bool]]) -> list[str]:
    """Who parses after whom, and "round" where the loop comes round in between."""
    taken: list[str] = []

    async def run() -> None:
        crowd = Crowd(Counts())
        members = [Member(crowd, name, turns, is_long, taken) for name, turns, is_long in asked]
        for member in members:
            crowd.take_turn(member)
        while any(member.turns for member in members):
            await asyncio.sleep(0)
            taken.append("round")

    asyncio.run(run())
    return taken


def test_a_short_request_does_not_wait_for_long_ones_that_came_before():
    taken = turns_taken([*((f"long {number}", 3, True) for number in range(50)), ("short", 1, False)])
    assert taken.index("short") < 15, "a busy machine loses a round or two; fifty long ones would be a hundred entries"


def test_between_two_turns_of_long_requests_the_loop_accepts_and_reads():
    taken = turns_taken([(f"long {number}", 3, True) for number in range(5)])
    assert all("round" in pair for pair in pairwise(taken))
    assert len(taken) - taken.count("round") == 15


def test_long_requests_go_on_while_short_ones_keep_coming():
    taken = turns_taken([("short", 300, False), ("long", 3, True)])
    assert taken.index("long") < taken.index("short") + 10 and taken.count("long") == 3
    assert max(at for at, name in enumerate(taken) if name == "long") < 60
