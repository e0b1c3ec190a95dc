"""Hidden tests of the lab `leak`: an accuracy that only the test knows."""

import random

from bertedu.interview.bugs.program import Program

Row = tuple[str, int]
SEEDS = range(5)


def tickets(count: int, copies: bool = False) -> list[Row]:
    """Random texts with random labels; with copies every other one is there again in other letters and spaces."""
    chance = random.Random(11)
    rows = []
    for number in range(count):
        words = chance.sample(range(300), 12)
        text, left = " ".join(f"word{word}" for word in words), chance.randrange(2)
        rows.append((text, left))
        if copies and number % 2:
            rows += [(f" {text.title()}", left), (text.upper().replace(" ", "  ") + "\n", left)]
    return rows


def ticket(row: Row) -> str:
    """What a text says, without case and spaces."""
    return " ".join(row[0].lower().split())


def copies(program: Program) -> str | None:
    """Tickets on both sides."""
    for seed in SEEDS:
        training, test = (set(map(ticket, side)) for side in program.call("split", tickets(60, copies=True), seed))
        if both := training & test:
            return f"{len(both)} of the {len(test)} different tickets of a test were seen in training."
    return None


def choosing(program: Program) -> str | None:
    """Another label of one ticket of the test must change whether that ticket is right, and nothing else."""
    rows = tickets(100)
    for seed in SEEDS[:3]:
        test = program.call("split", rows, seed)[1]
        was = program.call("experiment", rows, seed)
        for changed in test:
            other = [(text, 1 - left if text == changed[0] else left) for text, left in rows]
            if {row[0] for row in program.call("split", other, seed)[1]} != {row[0] for row in test}:
                continue  # a split by labels cannot be compared
            now = program.call("experiment", other, seed)
            if abs(abs(now - was) - 1 / len(test)) > 1e-9:
                one = f"I changed the label of one of the {len(test)} tickets of a test"
                return f"{one}, and {abs(now - was) * len(test):.0f} predictions more or fewer are right, not one."
    return None


def sound(program: Program) -> str | None:
    """No ticket lost, a fifth for the test, seeds that repeat and differ, and what can be learned is learned."""
    rows = tickets(60, copies=True)
    training, test = program.call("split", rows, 0)
    if set(map(ticket, [*training, *test])) != set(map(ticket, rows)):
        return "the split loses tickets."
    share = len(set(map(ticket, test))) / 60
    if not 0.08 < share < 0.4:
        return f"the test has {share:.0%} of the tickets now."
    if program.call("split", rows, 0)[1] != test or all(
        program.call("split", rows, seed)[1] == test for seed in (1, 2)
    ):
        return "a seed gives another split on each call, or all seeds give the same."
    easy = [(text + (" refund thanks" if left else " hello regards"), left) for text, left in tickets(200)]
    found = sum(program.call("experiment", easy, seed) for seed in SEEDS) / len(SEEDS)
    return None if found > 0.9 else f"where a word gives the label away, the accuracy is {found:.2f} only."
