"""All connections of a service: how many there may be, who makes room, and who has waited for long enough.

A connection costs room while its client is slow or says nothing, so whoever comes last is never kept out by those: when
there are too many, the client with the most connections loses the idlest of them. Only where the service itself owes
every single one an answer, the newcomer is told to come again.

Requests that a client sends without waiting for the answer to its last one (a pipeline) are answered, one after the
other, and a few of them at a time for all clients together: nobody fills the service with answers that nobody reads.
"""

import asyncio
import json
import logging
import time
from collections import Counter
from typing import Protocol

from bertedu.production.counts import Counts

MOST_CONNECTIONS = 512
SHARE_OF_ROOM = 16  # when there are too many, one in so many has to go
SWEEP_SECONDS = 0.5
PIPELINE_SECONDS = 0.02  # between two requests that were sent without waiting
TURN_SECONDS = 0.005  # of parsing, before others are accepted, read and answered
HEAD, IDLE, BODY, READER, LINE, LEAVING = "head", "idle", "body", "reader", "line", "leaving"
SECONDS = {HEAD: 10.0, IDLE: 30.0, BODY: 15.0, READER: 15.0, LINE: 60.0, LEAVING: 2.0}
log = logging.getLogger("bertedu.service")


class Member(Protocol):
    """A connection. waits_for: what it needs from its client, or "" while the service is at work for it; since: when
    that began, by the monotonic clock; is_long: whether its request has taken more than a turn of parsing.
    """

    since: float

    @property
    def is_long(self) -> bool: ...
    @property
    def waits_for(self) -> str: ...
    @property
    def host(self) -> str: ...
    def abort(self) -> None: ...
    def late(self) -> None: ...
    def go_on(self) -> None: ...
    def parse(self) -> None: ...


class Crowd:
    """The connections of a service, in one event loop."""

    def __init__(self, counts: Counts, most: int = MOST_CONNECTIONS):
        self.counts, self.most = counts, most
        self.members: set[Member] = set()
        self.line: dict[Member, None] = {}  # in order, as the next
        self.unparsed: dict[Member, None] = {}
        self.long: dict[Member, None] = {}  # as unparsed, of requests that are long
        self.sweeping = self.serving = self.parsing = False

    def enter(self, one: Member) -> bool:
        """Take a connection, and make room for it; whether there is any."""
        if len(self.members) >= self.most and not self.make_room():
            return False
        self.members.add(one)
        if not self.sweeping:
            self.sweeping = True
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self.sweep)
        return True

    def leave(self, one: Member) -> None:
        """Forget a connection."""
        self.members.discard(one)
        self.line.pop(one, None)
        self.unparsed.pop(one, None)
        self.long.pop(one, None)

    def make_room(self) -> bool:
        """End the idlest connections of the client that has the most; whether there were any."""
        idle = [one for one in self.members if one.waits_for]
        if not idle:
            return False
        (greediest, _), *_ = Counter(one.host for one in idle).most_common(1)
        theirs = sorted((one for one in idle if one.host == greediest), key=lambda one: one.since)
        for one in theirs[: max(1, self.most // SHARE_OF_ROOM)]:
            self.leave(one)
            one.abort()
        return True

    def sweep(self) -> None:
        """End what has taken too long, and look again later."""
        now = time.monotonic()
        for one in list(self.members):
            if (phase := one.waits_for) and now - one.since > SECONDS[phase]:
                one.late()
        self.sweeping = bool(self.members)
        if self.sweeping:
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self.sweep)

    def take_turn(self, one: Member) -> None:
        """Let a connection parse what it has received, after those that came before it."""
        (self.long if one.is_long else self.unparsed)[one] = None
        if not self.parsing:
            self.parsing = True
            asyncio.get_running_loop().call_soon(self.parse)

    def parse(self) -> None:
        """Let one connection with a long request parse, and others for a short while.

        The rest waits until the loop comes round again. That has to be soon: each time, it accepts one new connection.
        """
        end = time.monotonic() + TURN_SECONDS
        self.parse_next(self.long)
        while self.unparsed and time.monotonic() < end:
            self.parse_next(self.unparsed)
        self.parsing = bool(self.unparsed or self.long)
        if self.parsing:
            asyncio.get_running_loop().call_soon(self.parse)

    def parse_next(self, waiting: dict[Member, None]) -> None:
        """Let the first of them parse, if there is one."""
        if waiting:
            one = next(iter(waiting))
            del waiting[one]
            one.parse()

    def is_unparsed(self, one: Member) -> bool:
        """Whether something that a connection has received waits to be parsed."""
        return one in self.unparsed or one in self.long

    def wait_in_line(self, one: Member) -> None:
        """Let a connection go on with its pipeline when it is its turn."""
        self.line[one] = None
        if not self.serving:
            self.serving = True
            asyncio.get_running_loop().call_later(PIPELINE_SECONDS, self.serve)

    def serve(self) -> None:
        """Let the first in the line go on."""
        if self.line:
            one = next(iter(self.line))
            del self.line[one]
            one.go_on()
        self.serving = bool(self.line)
        if self.serving:
            asyncio.get_running_loop().call_later(PIPELINE_SECONDS, self.serve)

    def refused(self, status: int) -> None:
        """Count and log a request that never reached the application."""
        self.counts.request(status, 0.0, False)
        log.info("%s", json.dumps({"address": "other", "status": status}))


def most_connections() -> int:
    """How many connections the system leaves room for: each is an open file."""
    try:
        import resource
    except ImportError:  # Windows: no such limit
        return MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, soft - 64))
